package lineage

import (
	"fmt"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// Index is what the other runs of a lineage say to one run. It is not changed
// once built, and may be used concurrently.
type Index struct {
	scope   effect.Scope // its namespace is the asking call's
	finds   map[string][]Find
	answers map[answerID]contract.CallModelResult
	calls   int // how many finds there are in all

	bytes     int64
	doubt     error // why the lookup is incomplete, nil if it is not
	permanent bool  // the doubt will not pass; other runs cannot change
}

type answerID struct {
	step   int
	digest string
}

// NewIndex indexes what all runs but the asking one have recorded.
func NewIndex(l *Lineage, asking string) *Index {
	x := &Index{
		scope:     effect.Scope{WorkflowID: l.WorkflowID, FirstRunID: l.FirstRunID},
		finds:     map[string][]Find{},
		answers:   map[answerID]contract.CallModelResult{},
		doubt:     l.Err,
		permanent: l.Err == nil,
	}
	if x.doubt == nil && len(l.Missing) > 0 {
		x.doubt = fmt.Errorf("run %s is gone", l.Missing[0])
	}
	for _, r := range l.Runs {
		if r.RunID != asking {
			x.add(r)
		}
	}
	return x
}

func (x *Index) add(r *Run) {
	x.bytes += r.Fold.Bytes
	if r.Fold.Closed.IsZero() && r.Links.ContinuedAs == "" {
		// Then it is this run that is over, and its worker has not heard yet.
		x.doubt, x.permanent = fmt.Errorf("run %s is open beside this one", r.RunID), false
	}
	finds, err := r.finds()
	if err != nil {
		x.doubt, x.permanent = fmt.Errorf("run %s: %w", r.RunID, err), false
	}
	for key, list := range finds {
		x.finds[key] = append(x.finds[key], list...)
		x.calls += len(list)
	}
	for _, s := range r.Fold.Steps {
		if s.Answer == nil || s.Answer.PromptDigest == "" || s.Model.State != fold.StateCompleted {
			continue
		}
		answer := *s.Answer
		if answer.FromRun == "" {
			answer.FromRun = r.RunID
		}
		id := answerID{s.Input.Step, answer.PromptDigest}
		if _, ok := x.answers[id]; !ok { // runs come in order: the first one stands
			x.answers[id] = answer
		}
	}
}

// Doubt is why something may be missing here, nil if nothing is.
func (x *Index) Doubt() error { return x.doubt }

// Passing says that a later lookup may end the doubt.
func (x *Index) Passing() bool { return x.doubt != nil && !x.permanent }

// Answer is the recorded answer of a model call of that identity. FromRun says
// which run recorded it.
func (x *Index) Answer(step int, promptDigest string) (contract.CallModelResult, bool) {
	answer, ok := x.answers[answerID{step, promptDigest}]
	return answer, ok
}

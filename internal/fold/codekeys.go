package fold

import (
	"maps"
	"slices"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
)

// codeKeys finds the keys of calls that code made and no activity recorded: one
// that a person denied, that nobody decided on, that shared an execution, or
// was not repeated. The formula is the workflow's.
type codeKeys struct {
	people    *listener
	scope     effect.Scope // empty when the history does not tell it
	session   string
	continued bool // identical calls of an earlier run count, and are not here
	ledger    effect.Ledger
	ended     map[string]Effect // the last call of each key
}

// maxOccurrences bounds the search for the key that a person decided on.
const maxOccurrences = 1_000

func (r *Run) newCodeKeys(people *listener) *codeKeys {
	k := &codeKeys{people: people, continued: r.ContinuedFrom != "", ended: map[string]Effect{}}
	for _, p := range r.codePlans {
		if s := p.out.Scope; s != nil {
			k.scope = effect.Scope{Namespace: s.Namespace, WorkflowID: s.WorkflowID, FirstRunID: r.FirstRunID}
			break
		}
	}
	for i := range r.codePlans {
		if act := r.activities[contract.CallActivityID(0, r.firstOrdinal()+i, 0)]; act != nil {
			if in, err := r.ToolInput(act); err == nil {
				k.session = in.Session
				break
			}
		}
	}
	k.adopt(r.before)
	return k
}

// adopt goes on from where the run before ended.
func (k *codeKeys) adopt(before *Run) {
	if before == nil {
		return
	}
	if before.codeEnd == nil {
		before.codeEffects(before.listen())
	}
	end := before.codeEnd
	if end == nil { // it made no calls
		return
	}
	k.continued = end.continued
	k.ledger, k.ended = effect.NewLedger(end.ledger.Slots()), maps.Clone(end.ended)
	k.people.denied = slices.Concat(end.people.denied, k.people.denied)
	k.people.decisions = slices.Concat(end.people.decisions, k.people.decisions)
	k.people.verdicts = slices.Concat(end.people.verdicts, k.people.verdicts)
}

// identify gives a call the key that no activity recorded. done is told what
// became of it.
func (k *codeKeys) identify(e *Effect, run *contract.RunPlan) (done func(Effect)) {
	keep := func(e Effect) {
		if e.Key != "" {
			k.ended[e.Key] = e
		}
	}
	switch {
	case run == nil || k.scope.WorkflowID == "":
		return keep
	case run.Override != "":
		if e.Key == "" {
			e.Key = effect.OverrideKey(k.scope.Widened(run.KeyScope, k.session), e.Tool, run.Override)
		}
		return keep
	}
	if key := k.deniedBefore(*e, run); key != "" {
		e.Key = key
		return func(Effect) {}
	}
	occurrence, was := k.ledger.Take(e.Tool, e.Args)
	if e.Key == "" {
		e.Key = k.keyAt(*e, run, occurrence)
	}
	return func(e Effect) {
		state := effect.SlotRunning
		if e.Outcome != OutcomeOpen {
			state = effect.StateAfter(was, e.Class, e.Outcome, e.How)
		}
		k.ledger.Settle(e.Tool, e.Args, occurrence, state)
		keep(e)
	}
}

// keyAt is the key of an occurrence. In a run that continues another the
// count is not known; there, a decision tells it.
func (k *codeKeys) keyAt(e Effect, run *contract.RunPlan, occurrence int) string {
	if !k.continued {
		return effect.Key(k.scope, e.Tool, e.Args, occurrence)
	}
	for i := occurrence; run.Approval != nil && i < maxOccurrences; i++ {
		key := effect.Key(k.scope, e.Tool, e.Args, i)
		_, used := k.ended[key]
		if !used && slices.ContainsFunc(k.people.decisions, func(d decision) bool { return d.Key == key }) {
			return key
		}
	}
	return ""
}

// deniedBefore is the key of an identical call that a person denied: the
// answer holds for this one too.
func (k *codeKeys) deniedBefore(e Effect, run *contract.RunPlan) string {
	if e.Activity != "" || run.Approval == nil {
		return ""
	}
	for i := range k.ledger.Taken(e.Tool, e.Args) {
		key := effect.Key(k.scope, e.Tool, e.Args, i)
		if slices.ContainsFunc(k.people.denied, func(d decision) bool { return d.Key == key }) {
			return key
		}
	}
	return ""
}

// share gives a call that nothing was scheduled for the outcome of the earlier
// call of its key: of an override key, or one that may not be repeated.
func (k *codeKeys) share(e *Effect, run *contract.RunPlan) {
	if e.Activity != "" || e.Outcome != contract.OutcomeNotStarted {
		return
	}
	before, ok := k.ended[e.Key]
	switch {
	case !ok && k.continued && run.Approval == nil:
		e.Outcome = contract.OutcomeUnknown
		e.Text = "answered by an identical call of an earlier run, whose history is not here"
	case !ok:
	case before.Outcome == contract.OutcomeDone && run.Override != "":
		e.Outcome, e.How, e.Text = before.Outcome, before.How, before.Text
	case before.Outcome != OutcomeOpen && effect.StateOf(before.Outcome, before.How) == effect.SlotUnknown && run.Class == contract.ClassAtMostOnce:
		e.Outcome, e.Text = contract.OutcomeUnknown, contract.TextNotRepeated(e.Tool)
	}
}

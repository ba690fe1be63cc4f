package workflows

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// people is what a workflow asks of people and what they have said. Its
// update handlers only record; the calls that wait act.
type people struct {
	pending  []*waiting
	decided  []contract.Decided      // as they came
	resolved []contract.ResolveReply // as they came
	held     []contract.HeldDecision
	heldSays []contract.HeldVerdict
	running  []string // keys of calls under way

	// closed is why nothing is accepted any more, empty while calls may come.
	closed func() string

	// reset says that a reset made this run. Then answers are applied again that
	// were let in once: they come before their question, or long after it.
	reset bool
}

// waiting is one question that stands.
type waiting struct {
	contract.Pending
	settled   bool
	spent     bool // an execution has begun by its approval
	expired   bool
	decision  contract.Decided
	resolved  contract.ResolveRequest
	stopTimer workflow.CancelFunc
}

// maxRemembered bounds the decisions kept for late repeats of an update.
const maxRemembered = 2_000

// ask puts a question. An answer that came before the question (a reset
// applies accepted updates again, early) is taken at once.
func (p *people) ask(ctx workflow.Context, q contract.Pending, timeout time.Duration, changed func(workflow.Context)) *waiting {
	q.Digest = p.questionDigest(q)
	w := &waiting{Pending: q, stopTimer: func() {}}
	w.Asked = workflow.Now(ctx)
	if timeout > 0 {
		expires := w.Asked.Add(timeout)
		w.Expires = &expires
	}
	p.pending = append(p.pending, w)
	if p.takeHeld(w); w.settled {
		return w
	}
	if timeout > 0 {
		timerCtx, stop := workflow.WithCancel(ctx)
		w.stopTimer = stop
		workflow.Go(timerCtx, func(ctx workflow.Context) {
			timer := workflow.NewTimerWithOptions(ctx, timeout, workflow.TimerOptions{Summary: w.what() + " expires"})
			if timer.Get(ctx, nil) == nil && !w.settled {
				p.expire(ctx, w)
				changed(ctx)
			}
		})
	}
	return w
}

// questionDigest tells a question from earlier ones about the same call, which
// was asked about before and has the same key still: the answer to one is not
// the answer to the next.
func (p *people) questionDigest(q contract.Pending) string {
	earlier := 0
	for _, d := range p.decided {
		if d.Key == q.Key && (d.Digest == q.Digest || strings.HasPrefix(d.Digest, q.Digest+".")) {
			earlier++
		}
	}
	if earlier == 0 {
		return q.Digest
	}
	return q.Digest + "." + strconv.Itoa(earlier+1)
}

func (w *waiting) what() string {
	if w.Kind == contract.PendingUnknown {
		return "the question what became of " + w.Tool
	}
	return "the approval of " + w.Tool
}

// await blocks until the question is settled or the work is canceled. Nothing
// is scheduled meanwhile.
func (p *people) await(ctx workflow.Context, w *waiting, changed func(workflow.Context)) error {
	if w.settled {
		return nil
	}
	err := workflow.Await(ctx, func() bool { return w.settled })
	if err != nil {
		p.remove(w)
		changed(ctx)
	}
	return err
}

// overdue refuses an answer that comes after the question's expiry: the timer
// may be due and not have been told yet, when no worker was up. An answer that
// a reset applies again was let in in its time.
func (p *people) overdue(ctx workflow.Context, w *waiting) error {
	if w.Expires == nil || p.reset || workflow.Now(ctx).Before(*w.Expires) {
		return nil
	}
	return fmt.Errorf("%s expired at %s", w.what(), w.Expires.UTC().Format(timeFormat))
}

// timeFormat is how a refusal tells a time.
const timeFormat = "2006-01-02T15:04:05Z"

func (p *people) expire(ctx workflow.Context, w *waiting) {
	w.settled, w.expired = true, true
	w.decision = contract.Decided{Key: w.Key, Digest: w.Digest, Expired: true, At: workflow.Now(ctx)}
	if w.Kind == contract.PendingApproval {
		p.remember(w.decision)
	}
	p.remove(w)
}

func (p *people) remember(d contract.Decided) {
	p.decided = append(p.decided, d)
	if len(p.decided) > maxRemembered {
		p.decided = p.decided[len(p.decided)-maxRemembered:]
	}
}

func (p *people) remove(w *waiting) {
	w.stopTimer()
	for i, other := range p.pending {
		if other == w {
			p.pending = append(p.pending[:i:i], p.pending[i+1:]...)
			return
		}
	}
}

func (p *people) waitingFor(key string, kind contract.PendingKind) *waiting {
	for _, w := range p.pending {
		if w.Key == key && w.Kind == kind {
			return w
		}
	}
	return nil
}

// denied finds a person's no to the call of that key.
func (p *people) denied(key string) (contract.Decided, bool) {
	for _, d := range p.decided {
		if d.Key == key && !d.Approve && !d.Expired {
			return d, true
		}
	}
	return contract.Decided{}, false
}

// spend marks an approval as used.
func (p *people) spend(w *waiting) {
	w.spent = true
	for i := range p.decided {
		if d := &p.decided[i]; d.Key == w.Key && d.Digest == w.Digest && d.Approve {
			d.Used = true
		}
	}
}

// list is the questions that stand, as a query shows them.
func (p *people) list() []contract.Pending {
	var list []contract.Pending
	for _, w := range p.pending {
		list = append(list, w.Pending)
	}
	return list
}

package workflows

import (
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// register lets people answer, from the first task on: after a reset their
// accepted answers come before anything is asked.
func (p *people) register(ctx workflow.Context, changed func(workflow.Context)) error {
	err := workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateDecide,
		func(ctx workflow.Context, r contract.DecideRequest) (contract.DecideReply, error) {
			reply := p.decide(ctx, r)
			changed(ctx)
			return reply, nil
		},
		workflow.UpdateHandlerOptions{Validator: p.checkDecision, Description: "Approves or denies one waiting call, by its key and digest."})
	if err != nil {
		return err
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateResolve,
		func(ctx workflow.Context, r contract.ResolveRequest) (contract.ResolveReply, error) {
			reply := p.resolve(ctx, r)
			changed(ctx)
			return reply, nil
		},
		workflow.UpdateHandlerOptions{Validator: p.checkResolution, Description: "Says what became of a call whose outcome is unknown."})
}

// checkDecision refuses a decision that cannot stand, with the reason. What it
// refuses leaves no trace in history.
func (p *people) checkDecision(ctx workflow.Context, r contract.DecideRequest) error {
	switch {
	case r.Key == "" || r.Digest == "":
		return errors.New("key and digest are both required: they say which call, as it was shown, is meant")
	case r.By == "":
		return errors.New("by is required: who decides")
	}
	if why := p.closed(); why != "" {
		if d, ok := p.decisionOn(r.Key, r.Digest); ok {
			return repeats(d, r)
		}
		return errors.New(why)
	}
	if w := p.waitingFor(r.Key, contract.PendingApproval); w != nil {
		if err := p.overdue(ctx, w); err != nil {
			return err
		}
		return w.admits(r)
	}
	if d, ok := p.decisionOn(r.Key, r.Digest); ok {
		return repeats(d, r)
	}
	for _, h := range p.held {
		if h.Request.Key == r.Key && h.Request.Digest == r.Digest {
			if h.Request.Approve == r.Approve && h.Request.By == r.By {
				return nil
			}
			return fmt.Errorf("a decision by %s is held for this call already", h.Request.By)
		}
	}
	if len(p.held)+len(p.heldSays) >= contract.MaxHeldDecisions {
		return fmt.Errorf("no call of that key waits, and %d decisions for calls to come are held already", contract.MaxHeldDecisions)
	}
	return nil
}

func (w *waiting) admits(r contract.DecideRequest) error {
	if w.Digest != r.Digest {
		return fmt.Errorf("the digest does not match: the call that waits under this key has %s; look at it again", w.Digest)
	}
	if len(w.Approvers) > 0 && !slices.Contains(w.Approvers, r.By) {
		return fmt.Errorf("%s is not among the approvers of this call: %v", r.By, w.Approvers)
	}
	return nil
}

func (p *people) decisionOn(key, digest string) (contract.Decided, bool) {
	for _, d := range slices.Backward(p.decided) {
		if d.Key == key && d.Digest == digest {
			return d, true
		}
	}
	return contract.Decided{}, false
}

// repeats accepts the same decision by the same person again, and no other.
func repeats(d contract.Decided, r contract.DecideRequest) error {
	at := d.At.UTC().Format(timeFormat)
	switch {
	case d.Expired:
		return fmt.Errorf("the approval expired at %s", at)
	case d.Approve == r.Approve && d.By == r.By:
		return nil
	case d.Approve:
		return fmt.Errorf("already approved by %s at %s: the first decision stands", d.By, at)
	default:
		return fmt.Errorf("already denied by %s at %s: the first decision stands", d.By, at)
	}
}

// decide records a decision that was let in. It never fails: a reset applies
// it again.
func (p *people) decide(ctx workflow.Context, r contract.DecideRequest) contract.DecideReply {
	if w := p.waitingFor(r.Key, contract.PendingApproval); w != nil && w.admits(r) == nil {
		return contract.DecideReply{Decision: p.settleDecision(w, r, workflow.Now(ctx))}
	}
	if d, ok := p.decisionOn(r.Key, r.Digest); ok {
		return contract.DecideReply{Decision: d}
	}
	for _, h := range p.held {
		if h.Request.Key == r.Key && h.Request.Digest == r.Digest {
			return contract.DecideReply{Decision: decisionOf(h.Request, h.At), Held: true}
		}
	}
	h := contract.HeldDecision{Request: r, At: workflow.Now(ctx)}
	p.held = append(p.held, h)
	return contract.DecideReply{Decision: decisionOf(r, h.At), Held: true}
}

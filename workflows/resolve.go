package workflows

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

func decisionOf(r contract.DecideRequest, at time.Time) contract.Decided {
	return contract.Decided{Key: r.Key, Digest: r.Digest, Approve: r.Approve, By: r.By, Comment: r.Comment, At: at}
}

func (p *people) settleDecision(w *waiting, r contract.DecideRequest, at time.Time) contract.Decided {
	w.settled, w.decision = true, decisionOf(r, at)
	p.remember(w.decision)
	p.remove(w)
	return w.decision
}

func (p *people) settleResolution(w *waiting, r contract.ResolveRequest, at time.Time) contract.ResolveReply {
	w.settled, w.resolved = true, r
	reply := replyOf(r, at)
	p.resolved = append(p.resolved, reply)
	p.remove(w)
	return reply
}

// takeHeld applies an answer that came before its question.
func (p *people) takeHeld(w *waiting) {
	if w.Kind == contract.PendingUnknown {
		if i := p.heldVerdict(w.Key); i >= 0 {
			h := p.heldSays[i]
			p.heldSays = append(p.heldSays[:i:i], p.heldSays[i+1:]...)
			p.settleResolution(w, h.Request, h.At)
		}
		return
	}
	for i, h := range p.held {
		if h.Request.Key != w.Key || h.Request.Digest != w.Digest {
			continue
		}
		p.held = append(p.held[:i:i], p.held[i+1:]...)
		if w.admits(h.Request) == nil {
			p.settleDecision(w, h.Request, h.At)
		}
		return
	}
}

// checkResolution refuses a word that cannot stand, with the reason.
func (p *people) checkResolution(ctx workflow.Context, r contract.ResolveRequest) error {
	switch r.Verdict {
	case contract.VerdictHappened, contract.VerdictDidNotHappen, contract.VerdictCannotTell:
	default:
		return fmt.Errorf("verdict %q: want %s, %s or %s", r.Verdict,
			contract.VerdictHappened, contract.VerdictDidNotHappen, contract.VerdictCannotTell)
	}
	switch {
	case r.Key == "":
		return errors.New("key is required: which call is meant")
	case r.By == "":
		return errors.New("by is required: who says so")
	}
	if w := p.waitingFor(r.Key, contract.PendingUnknown); w != nil && p.closed() == "" {
		return p.overdue(ctx, w)
	}
	return p.checkAhead(r)
}

// checkAhead refuses a verdict on a call that is not known to be unknown. One
// that a reset applies again comes before its question, and is held.
func (p *people) checkAhead(r contract.ResolveRequest) error {
	if said, ok := p.standing(r.Key); ok {
		if said.Verdict == r.Verdict && said.By == r.By {
			return nil
		}
		return fmt.Errorf("already said to be %s by %s: the first word stands", said.Verdict, said.By)
	}
	switch why := p.closed(); {
	case why != "":
		return errors.New(why)
	case !p.reset && slices.Contains(p.running, r.Key):
		return errors.New("the call runs: what becomes of it is not known yet; look at it again when it has ended")
	case !p.reset:
		return errors.New("no call of that key has an unknown outcome that waits for a verdict")
	case len(p.held)+len(p.heldSays) >= contract.MaxHeldDecisions:
		return fmt.Errorf("no call of that key is unknown, and %d answers for calls to come are held already", contract.MaxHeldDecisions)
	default:
		return nil
	}
}

// standing is the verdict of that key that stands, given or held.
func (p *people) standing(key string) (contract.ResolveReply, bool) {
	if i := p.heldVerdict(key); i >= 0 {
		h := p.heldSays[i]
		return replyOf(h.Request, h.At), true
	}
	return p.resolutionOf(key)
}

func (p *people) heldVerdict(key string) int {
	return slices.IndexFunc(p.heldSays, func(h contract.HeldVerdict) bool { return h.Request.Key == key })
}

func replyOf(r contract.ResolveRequest, at time.Time) contract.ResolveReply {
	return contract.ResolveReply{Key: r.Key, Verdict: r.Verdict, By: r.By, At: at}
}

func (p *people) resolutionOf(key string) (contract.ResolveReply, bool) {
	for i := len(p.resolved) - 1; i >= 0; i-- {
		if p.resolved[i].Key == key {
			return p.resolved[i], true
		}
	}
	return contract.ResolveReply{}, false
}

// resolve records what a person says became of a call. It never fails.
func (p *people) resolve(ctx workflow.Context, r contract.ResolveRequest) contract.ResolveReply {
	now := workflow.Now(ctx)
	if w := p.waitingFor(r.Key, contract.PendingUnknown); w != nil {
		return p.settleResolution(w, r, now)
	}
	if said, ok := p.standing(r.Key); ok {
		return said
	}
	p.heldSays = append(p.heldSays, contract.HeldVerdict{Request: r, At: now})
	return replyOf(r, now)
}

package workflows

import (
	"errors"
	"fmt"
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
	reply := contract.ResolveReply{Key: r.Key, Verdict: r.Verdict, By: r.By, At: at}
	p.resolved = append(p.resolved, reply)
	p.remove(w)
	return reply
}

// takeHeld applies an answer that came before its question.
func (p *people) takeHeld(ctx workflow.Context, w *waiting) {
	if w.Kind == contract.PendingUnknown {
		for i, r := range p.heldSays {
			if r.Key == w.Key {
				p.heldSays = append(p.heldSays[:i:i], p.heldSays[i+1:]...)
				p.settleResolution(w, r, workflow.Now(ctx))
				return
			}
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
	case p.closed != "":
		return errors.New(p.closed)
	}
	if w := p.waitingFor(r.Key, contract.PendingUnknown); w != nil {
		return p.overdue(ctx, w)
	}
	if said, ok := p.resolutionOf(r.Key); ok {
		if said.Verdict == r.Verdict && said.By == r.By {
			return nil
		}
		return fmt.Errorf("already settled as %s by %s: the first word stands", said.Verdict, said.By)
	}
	if len(p.held)+len(p.heldSays) >= contract.MaxHeldDecisions {
		return fmt.Errorf("no call of that key is unknown, and %d answers for calls to come are held already", contract.MaxHeldDecisions)
	}
	return nil
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
	if said, ok := p.resolutionOf(r.Key); ok {
		return said
	}
	held := false
	for _, h := range p.heldSays {
		held = held || h.Key == r.Key
	}
	if !held {
		p.heldSays = append(p.heldSays, r)
	}
	return contract.ResolveReply{Key: r.Key, Verdict: r.Verdict, By: r.By, At: now}
}

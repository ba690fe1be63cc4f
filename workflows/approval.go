package workflows

import (
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// askAll asks for every gated call of a step at once, before the first of
// them has to wait behind another.
func (c *caller) askAll(ctx workflow.Context, calls []*toolCall) {
	asked := false
	for _, call := range calls {
		if call.settled || call.plan.Run.Approval == nil {
			continue
		}
		if c.identify(call); call.settled {
			continue
		}
		if w := c.people.waitingFor(call.key, contract.PendingApproval); w != nil {
			call.asked = w // one override key is one execution and one question
			continue
		}
		call.asked = c.people.ask(ctx, call.question(contract.PendingApproval), call.askFor(), c.changed)
		asked = true
	}
	if asked {
		c.changed(ctx)
	}
}

// approved waits until a gated call may run. Otherwise the entry says why it
// does not; nothing has been scheduled then.
func (c *caller) approved(ctx workflow.Context, call *toolCall) (contract.Entry, bool) {
	if call.settled || call.plan.Run.Approval == nil {
		return call.entry, true
	}
	if err := c.people.await(ctx, call.asked, c.changed); err != nil {
		return c.notStarted(call), false
	}
	d := call.asked.decision
	entry := contract.Entry{Key: call.key}
	switch {
	case d.Expired:
		entry.Outcome, entry.Text = contract.OutcomeExpired, contract.TextExpired(call.tool, contract.Duration(call.askFor()))
	case !d.Approve:
		entry.Outcome, entry.Text = contract.OutcomeDenied, contract.TextDenied(call.tool, d.By, d.Comment)
	default:
		return c.use(ctx, call)
	}
	c.settle(call, entry)
	return entry, false
}

// use spends an approval: it is one execution. Between the question and the
// answer an identical call may have run.
func (c *caller) use(ctx workflow.Context, call *toolCall) (contract.Entry, bool) {
	run := call.plan.Run
	if run.Override != "" {
		if entry, ok := c.shares(call); ok {
			call.settle(entry)
			return entry, true
		}
	} else if run.Class != contract.ClassSafeToRetry && c.ledger.Unknown(call.tool, call.plan.Args, call.occurrence) {
		entry := refusedEntry(call)
		entry.Outcome = contract.OutcomeNotExecuted
		entry.Text = contract.TextNotExecuted(call.tool, "the outcome of an identical call is unknown")
		c.settle(call, entry)
		return entry, false
	}
	if call.asked.spent {
		// The call that shared the question has run by it, and left nothing to
		// share. One approval is one execution.
		return c.askOnce(ctx, call)
	}
	c.people.spend(call.asked)
	return contract.Entry{}, true
}

// askOnce asks a new question about a call and waits for its answer.
func (c *caller) askOnce(ctx workflow.Context, call *toolCall) (contract.Entry, bool) {
	if w := c.people.waitingFor(call.key, contract.PendingApproval); w != nil {
		call.asked = w
	} else {
		call.asked = c.people.ask(ctx, call.question(contract.PendingApproval), call.askFor(), c.changed)
		c.changed(ctx)
	}
	return c.approved(ctx, call)
}

// question is what a person is shown: exactly what will run.
func (call *toolCall) question(kind contract.PendingKind) contract.Pending {
	run := call.plan.Run
	p := contract.Pending{
		Kind: kind, Key: call.key, Digest: call.digest, Ordinal: call.ordinal,
		Tool: call.tool, Args: call.plan.Args, Class: run.Class, Effects: run.Effects,
	}
	if a := run.Approval; a != nil {
		p.Reason, p.Approvers, p.Rule = a.Reason, a.Approvers, a.Rule
		if a.Message != "" {
			p.Reason = a.Message
		}
	}
	if call.anew {
		p.Reason = strings.TrimSuffix("its tool has changed since it was asked about: "+p.Reason, ": ")
	}
	if kind == contract.PendingUnknown {
		p.Reason = "its outcome is unknown: " + contract.BoundText(call.reason, maxReasonRunes)
	}
	return p
}

const maxReasonRunes = 500

// askFor is how long a question stands; zero is for ever.
func (call *toolCall) askFor() time.Duration {
	if a := call.plan.Run.Approval; a != nil {
		return a.Timeout.Std()
	}
	return call.plan.Run.AskTimeout.Std()
}

func deniedBeforeEntry(call *toolCall, d contract.Decided) contract.Entry {
	return contract.Entry{Outcome: contract.OutcomeDenied, Text: contract.TextDeniedBefore(call.tool, d.By), Key: call.key}
}

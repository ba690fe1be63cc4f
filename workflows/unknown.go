package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/stub"
)

// Who settled that a call did not happen: [contract.ToolInput.Cleared].
const (
	clearedByReconcile = "reconcile"
	clearedByHuman     = "human"
)

// lookInto finds out what became of a call whose outcome is unknown: the tool
// reads the outside world, then a person is asked, each where the definition
// says so. goOn asks for another start under the same key.
func (c *caller) lookInto(ctx workflow.Context, call *toolCall, unknown contract.Entry, n int) (_ contract.Entry, goOn bool) {
	if ctx.Err() != nil {
		return unknown, false
	}
	run := call.plan.Run
	if run.Reconcile {
		switch entry, verdict := c.reconcile(ctx, call, n); verdict {
		case contract.VerdictHappened:
			return entry, false
		case contract.VerdictDidNotHappen:
			if call.cleared == clearedByReconcile { // it has run once more already
				return withHow(call.notHappened("a check of the outside world"), contract.HowReconciled), false
			}
			call.cleared = clearedByReconcile
			return unknown, true
		}
	}
	if run.OnUnknown == contract.OnUnknownAskHuman {
		return c.askWhatHappened(ctx, call, unknown), false
	}
	return unknown, false
}

// reconcile runs the tool's own check. An activity that fails cannot tell.
func (c *caller) reconcile(ctx workflow.Context, call *toolCall, n int) (contract.Entry, contract.Verdict) {
	id := contract.ReconcileActivityID(call.step, call.ordinal, n)
	ctx = workflow.WithActivityOptions(ctx, reconcileOptions(id, "what became of "+call.summary(), *call.plan.Run))
	end := c.start(ctx, call)
	future := stub.Reconcile(call.tool).Start(ctx, contract.ReconcileInput{
		Args: call.plan.Args, Key: call.key, Ordinal: call.ordinal,
		Agent: c.agent, Session: c.session, Timeout: call.plan.Run.Timeout,
	})
	var receipt contract.ReconcileReceipt
	err := future.Get(ctx, &receipt)
	end()
	if err != nil {
		return contract.Entry{}, contract.VerdictCannotTell
	}
	c.note(id, receipt.Digest)
	if receipt.Verdict == contract.VerdictHappened && c.keepValues {
		call.value = &contract.ToolResult{}
		if err := future.Get(ctx, call.value); err != nil { // text and json have the names of a result's
			call.value = nil
		}
	}
	return contract.Entry{Ref: id, Outcome: contract.OutcomeDone, How: contract.HowReconciled, Key: call.key}, receipt.Verdict
}

// askWhatHappened parks the call until a person says what became of it, or the
// question expires.
func (c *caller) askWhatHappened(ctx workflow.Context, call *toolCall, unknown contract.Entry) contract.Entry {
	w := c.people.ask(ctx, call.question(contract.PendingUnknown), call.askFor(), c.changed)
	if since(ctx, changeToldUnknowns) {
		c.changed(ctx)
	}
	if c.people.await(ctx, w, c.changed) != nil || w.expired {
		return unknown
	}
	switch w.resolved.Verdict {
	case contract.VerdictHappened:
		text := contract.TextResolved(call.tool, w.resolved.By, w.resolved.Value)
		return contract.Entry{Outcome: contract.OutcomeDone, Text: text, How: contract.HowResolved, Key: call.key}
	case contract.VerdictDidNotHappen:
		return withHow(call.notHappened(w.resolved.By), contract.HowResolved)
	default:
		return withHow(unknown, contract.HowResolved)
	}
}

func (call *toolCall) notHappened(who string) contract.Entry {
	return contract.Entry{Outcome: contract.OutcomeNotExecuted, Text: contract.TextDidNotHappen(call.tool, who), Key: call.key}
}

func withHow(e contract.Entry, how string) contract.Entry {
	e.How = how
	return e
}

package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// complete ends the turn with the model's last words.
func (t *turn) complete(answer contract.CallModelResult) {
	t.result.Status = contract.StatusCompleted
	if t.ending != "" {
		t.result.Status, t.result.Reason = t.ending, t.wrapUp
	}
	t.result.Text = contract.BoundText(answer.Content, contract.MaxResultText/4)
}

// endWithError ends the turn because its model call did.
func (t *turn) endWithError(ctx workflow.Context, err error) {
	switch {
	case t.clock.out:
		t.result.Status = contract.StatusTimedOut
		t.result.Reason = "max_wall_clock " + t.limits.MaxWallClock.String()
	case ctx.Err() != nil:
		t.result.Status = contract.StatusCanceled
	case t.interrupted != nil:
		t.result.Status, t.result.Reason = contract.StatusInterrupted, t.interruptReason()
	default:
		t.result.Status = contract.StatusFailed
		t.result.Reason = failureReason(err)
		t.unsaid = failureType(err) == contract.ErrSecretInInput
	}
}

// checkLimits decides, after a step's calls, whether the next model call is
// to be the last one.
func (t *turn) checkLimits(ctx workflow.Context) {
	switch {
	case ctx.Err() != nil || t.clock.out || t.interrupted != nil:
		return // the next model call ends the turn
	case t.loop.stuck:
		t.lastCall(t.loop.why())
	case t.limits.TokenBudget > 0 && t.result.Usage.Total() >= t.limits.TokenBudget:
		t.lastCall("token_budget")
	case t.step >= t.limits.MaxSteps:
		t.lastCall("max_steps")
	}
}

func (t *turn) lastCall(why string) {
	t.wrapUp, t.ending = why, contract.StatusLimitReached
}

// noCallsToCome is why nobody can decide on anything any more: what was
// answered now would be for nothing.
func (t *turn) noCallsToCome(work workflow.Context) string {
	switch {
	case t.ended():
		return "the turn is ending: " + string(t.result.Status)
	case work.Err() != nil:
		return "the turn is ending: it was told to"
	case t.wrapUp != "":
		return "the turn is ending: only its last answer is to come (" + t.wrapUp + ")"
	default:
		return ""
	}
}

// close gives the workflow its result.
func (t *turn) close(ctx workflow.Context) (contract.TurnResult, error) {
	t.result.Steps = t.step
	t.result.Tail = t.entries
	t.result.Runs, t.result.RunID = t.runs, t.calls.runID
	t.clock.halt()
	t.packForSession(ctx)
	t.tell(ctx)
	t.announce(ctx)
	// An update that came with the last task is answered before the run ends.
	wait, _ := workflow.NewDisconnectedContext(ctx)
	if err := workflow.Await(wait, func() bool { return workflow.AllHandlersFinished(wait) }); err != nil {
		return t.result, err
	}
	switch t.result.Status {
	case contract.StatusCanceled:
		return t.result, temporal.NewCanceledError(t.result)
	case contract.StatusFailed:
		return t.result, temporal.NewApplicationErrorWithOptions(t.result.Reason, contract.ErrTurnFailed,
			temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{t.result}})
	default:
		return t.result, nil
	}
}

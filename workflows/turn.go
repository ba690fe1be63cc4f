package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// RunTurn is the workflow [contract.WorkflowTurn]: it runs one turn of an
// agent to its end. The model is called, its tool calls are run, and so on
// until it answers without calls, a limit is reached or someone cancels. A
// long turn goes on in a new run, with everything that later decisions need.
//
// A turn that completes, reaches a limit or its wall clock returns a result.
// A turn that fails is a failed execution whose error, of type
// [contract.ErrTurnFailed], carries the result as its detail; a canceled one
// carries it in the canceled error.
func RunTurn(ctx workflow.Context, in contract.TurnInput) (contract.TurnResult, error) {
	t, err := newTurn(ctx, in)
	if err != nil {
		return contract.TurnResult{}, err
	}
	work, err := t.open(ctx)
	if err != nil {
		return contract.TurnResult{}, err
	}
	for !t.ended() {
		answer, err := t.callModel(work)
		t.watchClock(ctx)
		switch {
		case err != nil:
			t.endWithError(ctx, err)
		case len(answer.Calls) == 0:
			t.complete(answer)
		default:
			t.runCalls(work, answer.Calls)
			t.checkLimits(ctx)
			if next := t.continueAsNew(work); next != nil {
				return contract.TurnResult{}, next
			}
		}
	}
	return t.close(ctx)
}

package people

import (
	"context"
	"testing"

	sdkactivity "go.temporal.io/sdk/activity"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/workflows"
)

// R06, R40: who cuts in while the transcript is packed for the next run ends
// the turn, also when the packing completes in spite of its cancellation: the
// next run would not know.
func TestInterrupt_WhileATurnContinues(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, NoWorker: true, Script: echoScript()})
	own := sdkworker.New(b.Temporal, b.Queue, sdkworker.Options{DisableRegistrationAliasing: true})
	workflows.Register(own)
	own.RegisterActivityWithOptions(func(context.Context, contract.CallModelInput) (contract.CallModelResult, error) {
		return contract.CallModelResult{Calls: []contract.PlannedCall{{WireID: "w", Name: "nope", Problem: &contract.Problem{Text: "unknown"}}}}, nil
	}, sdkactivity.RegisterOptions{Name: contract.ActivityCallModel})
	own.RegisterActivityWithOptions(func(ctx context.Context, _ contract.CarryInput) (contract.CarryResult, error) {
		id := sdkactivity.GetInfo(ctx).WorkflowExecution.ID
		if err := b.Turns.Interrupt(context.WithoutCancel(ctx), id, contract.InterruptRequest{By: "ann"}); err != nil {
			t.Error(err)
		}
		return contract.CarryResult{Transcript: contract.Packed{Gzip: []byte("packed")}}, nil
	}, sdkactivity.RegisterOptions{Name: contract.ActivityCarry})
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	id := "turn-" + b.Queue
	handle, err := b.Temporal.ExecuteWorkflow(t.Context(), startOptions(id, b.Queue), contract.WorkflowTurn, contract.TurnInput{
		Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}, StepsPerRun: 1,
		Limits: &contract.Limits{MaxSteps: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got contract.TurnResult
	if err := handle.Get(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Status != contract.StatusInterrupted || got.Runs != 1 || len(got.Tail) != 1 {
		t.Errorf("%+v", got)
	}
	history, err := agenttest.History(t.Context(), b.Temporal, id, handle.GetRunID())
	if err != nil {
		t.Fatal(err)
	}
	agenttest.Replay(t, history)
}

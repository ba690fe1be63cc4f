package people

import (
	"context"
	"fmt"
	"testing"

	sdkactivity "go.temporal.io/sdk/activity"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
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

// R50: two messages may both interrupt the turn that runs; it is told once and
// the session goes on.
func TestSession_InterruptedTwice(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, NoWorker: true, Tools: []*tooldefs.Tool{payTool(&ledger{})}, Script: agenttest.Script{
			Turns: []agenttest.ScriptTurn{{When: "pay", Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(1)}}, {Text: "paid"}}}},
			Steps: []agenttest.Step{{Text: "fine"}},
		},
	})
	stop := b.StartWorker()
	session := "session-" + b.Queue
	busy := send(t, b, turnkeel.Message{Session: session, Text: "pay"})
	pendings(t, b, busy.TurnID, 1)
	stop() // both messages come in one task of the session
	type sent struct {
		reply contract.SendReply
		err   error
	}
	replies := make(chan sent, 2)
	for i := range 2 {
		go func() {
			reply, err := b.Turns.Send(t.Context(), turnkeel.Message{
				Session: session, Agent: agenttest.AgentName, Text: fmt.Sprint("stop ", i), WhileBusy: contract.BusyInterrupt,
			})
			replies <- sent{reply, err}
		}()
	}
	b.StartWorker()
	for range 2 {
		got := <-replies
		if got.err != nil {
			t.Fatal(got.err)
		}
		if out := ended(t, b, got.reply.TurnID); out.Result.Text != "fine" {
			t.Errorf("%+v", out.Result)
		}
	}
	replaySession(t, b, session)
}

// R40, R50: an interruption that comes while the turn is being started reaches
// it.
func TestSession_InterruptedAtItsStart(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{payTool(&ledger{})}, Script: agenttest.Script{
		Turns: []agenttest.ScriptTurn{{When: "pay", Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(1)}}, {Text: "paid"}}}},
		Steps: []agenttest.Step{{Text: "fine"}},
	}})
	session := "session-" + b.Queue
	for range 5 {
		busy := send(t, b, turnkeel.Message{Session: session, Text: "pay"})
		next := send(t, b, turnkeel.Message{Session: session, Text: "never mind", WhileBusy: contract.BusyInterrupt})
		if out := ended(t, b, busy.TurnID); out.Result.Status != contract.StatusInterrupted {
			t.Errorf("%+v", out.Result)
		}
		ended(t, b, next.TurnID)
	}
	replaySession(t, b, session)
}

// R30, R53: what a turn did counts in its session however it ends.
func TestSession_CountsFailedTurns(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{payTool(&ledger{}, free)}, Script: agenttest.Script{
		Steps: []agenttest.Step{
			{Calls: []agenttest.ScriptCall{pay(1)}},
			{Failures: []agenttest.StepFailure{{Status: 400}, {Status: 400}, {Status: 400}}},
		},
	}})
	session := "session-" + b.Queue
	turn := send(t, b, turnkeel.Message{Session: session, Text: "pay"})
	if out := ended(t, b, turn.TurnID); out.Err == nil {
		t.Fatalf("the turn did not fail: %+v", out.Result)
	}
	for {
		var reply contract.SessionReply
		value, err := b.Temporal.QueryWorkflow(t.Context(), session, "", contract.QueryStatus)
		if err == nil {
			err = value.Get(&reply)
		}
		if err != nil {
			t.Fatal(err)
		}
		if reply.Running == nil {
			if reply.Effects.Done != 1 {
				t.Errorf("%+v", reply)
			}
			return
		}
	}
}

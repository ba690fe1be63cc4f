package workflows_test

import (
	"context"
	"strings"
	"testing"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/turnkeel/turnkeel/contract"
)

// ask sends an update from within an activity and gives its answer.
func (b *bench) ask(id, name string, request any) error {
	answer := make(chan error, 1)
	b.env.UpdateWorkflow(name, id, &testsuite.TestUpdateCallback{
		OnAccept: func() {}, OnReject: func(err error) { answer <- err }, OnComplete: func(_ any, err error) { answer <- err },
	}, request)
	return <-answer
}

// refused checks that a decision and a verdict for calls to come are refused.
func (b *bench) refused(when string) {
	for name, request := range map[string]any{
		contract.UpdateDecide:  contract.DecideRequest{Key: "k", Digest: "d", Approve: true, By: "ann"},
		contract.UpdateResolve: contract.ResolveRequest{Key: "k", Verdict: contract.VerdictHappened, By: "ann"},
	} {
		if err := b.ask(when+name, name, request); err == nil || !strings.Contains(err.Error(), "the turn is ending") {
			b.t.Errorf("%s, %s was answered with %v", when, name, err)
		}
	}
}

// C04, R22: who decides when no call can come any more is told so: while an
// interrupted turn lets a call finish, while the model writes its last answer,
// and while what was said is packed for the session.
func TestPeople_TurnIsEnding(t *testing.T) {
	t.Parallel()
	uninterruptible := func(r *contract.RunPlan) { r.Uninterruptible = true }
	var b *bench
	b = newBench(t, []contract.CallModelResult{asks(plan("slow", `{}`, uninterruptible)), says("never")}, map[string]toolFunc{
		"slow": func(ctx context.Context, in contract.ToolInput) (contract.ToolResult, error) {
			if err := b.ask("first", contract.UpdateInterrupt, contract.InterruptRequest{By: "ann"}); err != nil {
				t.Error(err)
			}
			if err := b.ask("second", contract.UpdateInterrupt, contract.InterruptRequest{By: "eve"}); err != nil {
				t.Errorf("R40: a second interruption: %v", err)
			}
			b.refused("after the interruption")
			return echo(ctx, in)
		},
	})
	packed := 0
	b.env.RegisterActivityWithOptions(func(context.Context, contract.CarryInput) (contract.CarryResult, error) {
		packed++
		b.refused("while packing")
		return contract.CarryResult{Transcript: contract.Packed{Gzip: []byte("packed")}}, nil
	}, sdkactivity.RegisterOptions{Name: contract.ActivityCarry})
	b.env.ExecuteWorkflow(contract.WorkflowTurn, contract.TurnInput{
		Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}, BaseOf: &contract.BaseRef{WorkflowID: "s"},
	})
	var got contract.TurnResult
	if err := b.env.GetWorkflowResult(&got); err != nil {
		t.Fatal(err)
	}
	if got.Status != contract.StatusInterrupted || !strings.Contains(got.Reason, "by ann") || got.Tail[0].Outcome != contract.OutcomeDone || packed != 1 {
		t.Errorf("%+v, packed %d times", got, packed)
	}

	b = newBench(t, []contract.CallModelResult{asks(plan("quick", `{}`))}, map[string]toolFunc{"quick": echo})
	b.env.RegisterActivityWithOptions(func(_ context.Context, in contract.CallModelInput) (contract.CallModelResult, error) {
		if in.WrapUp == "" {
			return asks(plan("quick", `{}`)), nil
		}
		b.refused("at the last answer")
		return says("done"), nil
	}, sdkactivity.RegisterOptions{Name: contract.ActivityCallModel, DisableAlreadyRegisteredCheck: true})
	if got, err := b.run(&contract.Limits{MaxSteps: 1}); err != nil || got.Text != "done" {
		t.Errorf("%+v, %v", got, err)
	}
}

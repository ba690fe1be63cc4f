package workflows_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/turnkeel/turnkeel/contract"
)

func askHuman(r *contract.RunPlan) { r.OnUnknown = contract.OnUnknownAskHuman }

func (b *bench) resolve(key string, v contract.Verdict, by, want string) {
	b.update(contract.UpdateResolve, contract.ResolveRequest{Key: key, Verdict: v, By: by}, want)
}

// T50, P13: a verdict is about an outcome that is unknown. One that comes
// before, while the call waits or runs, is refused and settles nothing later.
func TestResolve_BeforeItIsUnknown(t *testing.T) {
	t.Parallel()
	var b *bench
	answer := make(chan error, 1)
	b = newBench(t, []contract.CallModelResult{asks(plan("pay", `{}`, gated(contract.ApprovalPlan{}), askHuman)), says("done")},
		map[string]toolFunc{"pay": func(_ context.Context, in contract.ToolInput) (contract.ToolResult, error) {
			b.env.UpdateWorkflow(contract.UpdateResolve, "while it runs", &testsuite.TestUpdateCallback{
				OnAccept: func() {}, OnReject: func(err error) { answer <- err }, OnComplete: func(_ any, err error) { answer <- err },
			}, contract.ResolveRequest{Key: in.Key, Verdict: contract.VerdictHappened, By: "ann"})
			if err := <-answer; err == nil || !strings.Contains(err.Error(), "runs") {
				t.Errorf("a verdict on a running call was answered with %v", err)
			}
			return contract.ToolResult{}, temporal.NewNonRetryableApplicationError("lost", contract.ErrToolUnknown, nil,
				contract.ToolFailure{Text: "lost", Outcome: contract.OutcomeUnknown})
		}})
	b.after(time.Hour, func() {
		p := b.status().Pending[0]
		b.resolve(p.Key, contract.VerdictHappened, "ann", "no call of that key")
		b.decide(p, true, "ann", "")
	})
	b.after(2*time.Hour, func() {
		p := b.status().Pending
		if len(p) != 1 || p[0].Kind != contract.PendingUnknown {
			t.Fatalf("a verdict of before settled it: %+v", p)
		}
		b.resolve(p[0].Key, contract.VerdictCannotTell, "bob", "")
		b.resolve(p[0].Key, contract.VerdictCannotTell, "bob", "")
		b.resolve(p[0].Key, contract.VerdictHappened, "eve", "cannot_tell by bob")
	})
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	if e := b.inputs[1].Entries[0]; e.Outcome != contract.OutcomeUnknown {
		t.Errorf("%+v", e)
	}
}

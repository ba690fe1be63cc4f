package workflows_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/contract"
)

// R23, T38: a call whose tool has changed after it was asked about is asked
// anew as it will run, and runs so: class, effects, attempts and times are
// those of the tool as it is now.
func TestApproval_RunsAsTheToolIsNow(t *testing.T) {
	t.Parallel()
	for _, planned := range []contract.Class{contract.ClassKeyed, contract.ClassSafeToRetry} {
		now := contract.RunPlan{
			Class: contract.ClassAtMostOnce, Effects: contract.EffectsExternal, Digest: "digest-2", MaxAttempts: 1,
			Timeout: contract.Duration(7 * time.Second), Approval: &contract.ApprovalPlan{Reason: "it mails", Approvers: []string{"bob"}},
		}
		sandbox := func(r *contract.RunPlan) { r.Effects = contract.EffectsSandbox }
		b := newBench(t, []contract.CallModelResult{
			asks(plan("pay", `{"n":1}`, gated(contract.ApprovalPlan{}), class(planned, 3), sandbox)), says("done"),
		}, map[string]toolFunc{"pay": func(_ context.Context, in contract.ToolInput) (contract.ToolResult, error) {
			if in.Digest == "digest-1" {
				return contract.ToolResult{}, drifted(contract.ToolFailure{Drift: "digest-2", Now: &now})
			}
			return contract.ToolResult{}, temporal.NewApplicationError("lost", contract.ErrToolTransient)
		}})
		b.after(time.Hour, func() { b.decide(b.status().Pending[0], true, "ann", "") })
		b.after(2*time.Hour, func() {
			p := b.status().Pending
			if len(p) != 1 || p[0].Digest != "digest-2" || p[0].Class != now.Class || p[0].Effects != now.Effects || !strings.Contains(p[0].Reason, "changed") {
				t.Fatalf("asked again as %+v", p)
			}
			b.decide(p[0], true, "ann", "approvers")
			b.decide(p[0], true, "bob", "")
		})
		if _, err := b.run(nil); err != nil {
			t.Fatal(err)
		}
		if len(b.tools) != 2 { // once refused, once run
			t.Fatalf("%s: %d starts", planned, len(b.tools))
		}
		ran := b.tools[1]
		if ran.Class != now.Class || ran.Timeout != now.Timeout || ran.MaxAttempts != 1 || ran.Key != b.tools[0].Key {
			t.Errorf("%s: ran as %+v", planned, ran)
		}
		if e := b.inputs[1].Entries[0]; e.Outcome != contract.OutcomeUnknown {
			t.Errorf("%s: %+v", planned, e)
		}
	}
}

// R23, T38: a call that is now AtMostOnce does not run under a key whose last
// use is unknown; one that the policy now denies does not run at all.
func TestApproval_DriftThatMayNotRun(t *testing.T) {
	t.Parallel()
	call := plan("pay", `{}`, gated(contract.ApprovalPlan{}), class(contract.ClassKeyed, 1))
	once := contract.RunPlan{Class: contract.ClassAtMostOnce, Effects: contract.EffectsExternal, Digest: "digest-2", MaxAttempts: 1}
	denied := contract.Problem{Kind: contract.ProblemPolicy, Text: "not allowed"}
	for _, c := range []struct {
		now  contract.ToolFailure
		want contract.Outcome
	}{
		{contract.ToolFailure{Drift: "digest-2", Now: &once}, contract.OutcomeUnknown},
		{contract.ToolFailure{Drift: "digest-2", Problem: &denied}, contract.OutcomeDenied},
	} {
		n := 0
		b := newBench(t, []contract.CallModelResult{asks(call), asks(call), says("done")}, map[string]toolFunc{
			"pay": unknownOnce(func(context.Context, contract.ToolInput) (contract.ToolResult, error) {
				n++
				return contract.ToolResult{}, drifted(c.now)
			}),
		})
		b.after(time.Hour, func() { b.decide(b.status().Pending[0], true, "ann", "") })
		b.after(2*time.Hour, func() { b.decide(b.status().Pending[0], true, "ann", "") })
		b.after(3*time.Hour, func() {
			if p := b.status().Pending; len(p) != 0 {
				t.Errorf("asked about what will not run: %+v", p)
			}
		})
		if _, err := b.run(nil); err != nil {
			t.Fatal(err)
		}
		if e := b.inputs[2].Entries[0]; e.Outcome != c.want || n != 1 {
			t.Errorf("%+v after %d starts, want %s", e, n, c.want)
		}
	}
}

func drifted(detail contract.ToolFailure) error {
	detail.Text, detail.Outcome = "changed", contract.OutcomeNotExecuted
	return temporal.NewNonRetryableApplicationError("changed", contract.ErrToolNotExecuted, nil, detail)
}

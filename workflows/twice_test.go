package workflows_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/contract"
)

// R24, T38, T48: a question that expires says nothing of the earlier call whose
// outcome is unknown: the next identical call still has that one's key.
func TestKeys_UnknownThenExpired(t *testing.T) {
	t.Parallel()
	gate := gated(contract.ApprovalPlan{Timeout: contract.Duration(time.Hour)})
	call := plan("pay", `{}`, gate, class(contract.ClassKeyed, 3))
	b := newBench(t, []contract.CallModelResult{asks(call), asks(call), asks(call), says("done")}, map[string]toolFunc{"pay": unknownOnce(echo)})
	b.after(time.Minute, func() { b.decide(b.status().Pending[0], true, "ann", "") })
	b.after(90*time.Minute, func() { b.decide(b.status().Pending[0], true, "ann", "") })
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	if e := b.inputs[2].Entries[0]; e.Outcome != contract.OutcomeExpired {
		t.Fatalf("the second call: %+v", e)
	}
	if len(b.tools) != 2 || b.tools[0].Key != b.tools[1].Key {
		t.Errorf("the key moved: %+v", b.tools)
	}
}

// R23, T48: two calls with one override key share one question. When the one
// that ran by its answer failed, the other is asked about anew: one approval
// is one execution.
func TestApproval_OneExecution(t *testing.T) {
	t.Parallel()
	override := func(r *contract.RunPlan) { r.Override = "order-1" }
	gate := gated(contract.ApprovalPlan{})
	fails := func(context.Context, contract.ToolInput) (contract.ToolResult, error) {
		return contract.ToolResult{}, temporal.NewNonRetryableApplicationError("declined", contract.ErrToolFailed, nil)
	}
	b := newBench(t, []contract.CallModelResult{
		asks(plan("pay", `{"nonce":1}`, gate, override), plan("pay", `{"nonce":2}`, gate, override)), says("done"),
	}, map[string]toolFunc{"pay": fails})
	b.after(time.Hour, func() { b.decide(b.status().Pending[0], true, "ann", "") })
	b.after(2*time.Hour, func() {
		p := b.status().Pending
		if len(p) != 1 || len(b.tools) != 1 {
			t.Fatalf("%d executions, pending %+v", len(b.tools), p)
		}
		b.decide(p[0], false, "ann", "")
	})
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	if e := b.inputs[1].Entries; len(b.tools) != 1 || e[1].Outcome != contract.OutcomeDenied {
		t.Errorf("%d executions by one approval: %+v", len(b.tools), e)
	}
}

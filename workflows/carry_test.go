package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// runChain runs a turn through all its runs, each in an environment of its
// own, as the server would.
func runChain(t *testing.T, in contract.TurnInput, answers []contract.CallModelResult, tools map[string]toolFunc) (contract.TurnResult, []*bench) {
	t.Helper()
	var runs []*bench
	for {
		b := newBench(t, answers, tools)
		runs = append(runs, b)
		b.env.RegisterActivityWithOptions(func(_ context.Context, in contract.CarryInput) (contract.CarryResult, error) {
			texts := make([]string, len(in.Shared))
			for i, e := range in.Shared {
				texts[i] = "resolved " + e.Ref + e.Text
			}
			return contract.CarryResult{Transcript: contract.Packed{Gzip: []byte("packed")}, Shared: texts}, nil
		}, sdkactivity.RegisterOptions{Name: contract.ActivityCarry})
		b.env.ExecuteWorkflow(contract.WorkflowTurn, in)
		var next *workflow.ContinueAsNewError
		if err := b.env.GetWorkflowError(); errors.As(err, &next) {
			in = contract.TurnInput{}
			if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &in); err != nil {
				t.Fatal(err)
			}
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		var result contract.TurnResult
		if err := b.env.GetWorkflowResult(&result); err != nil {
			t.Fatal(err)
		}
		return result, runs
	}
}

// R06: a turn that continues as new after every step does what one in a single
// run does: same keys, same ordinals, same counts, same warnings.
func TestTurn_ContinuesAsNewAfterEveryStep(t *testing.T) {
	t.Parallel()
	override := func(r *contract.RunPlan) { r.Override = "order-1" }
	pay, once := plan("pay", `{"n":1}`), plan("once", `{"nonce":1}`, override)
	again := plan("once", `{"nonce":2}`, override)
	answers := []contract.CallModelResult{
		asks(pay, once), asks(plan("pay", `{"n":2}`), pay), asks(again), asks(pay), asks(pay), asks(pay), says("done"),
	}
	tools := map[string]toolFunc{"pay": echo, "once": echo}
	in := contract.TurnInput{Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}}
	want, one := runChain(t, in, answers, tools)
	in.StepsPerRun = 1
	got, many := runChain(t, in, answers, tools)
	if len(one) != 1 || len(many) != 7 || got.Runs != 7 {
		t.Fatalf("%d and %d runs; the result says %d", len(one), len(many), got.Runs)
	}
	if got.Effects != want.Effects || got.Steps != want.Steps || got.Usage != want.Usage || got.Status != want.Status {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	var calls, inputs int
	for _, b := range many {
		for _, in := range b.tools {
			if w := one[0].tools[calls]; in.Key != w.Key || in.Ordinal != w.Ordinal {
				t.Errorf("call %d: %+v, want %+v", calls, in, w)
			}
			calls++
		}
		for _, in := range b.inputs {
			w := one[0].inputs[inputs]
			if in.Step != w.Step || in.Ordinal != w.Ordinal || len(in.Entries) != 0 {
				t.Errorf("model call %d: %+v, want %+v without entries", inputs, in, w)
			}
			inputs++
		}
	}
	if calls != len(one[0].tools) || inputs != len(one[0].inputs) {
		t.Errorf("%d calls and %d model calls, want %d and %d", calls, inputs, len(one[0].tools), len(one[0].inputs))
	}
	if calls != 7 {
		t.Errorf("%d executions: the override key ran twice", calls)
	}
}

// R06, C05: a decision is known in the runs after it: the same one again is
// answered as it was, another is refused.
func TestTurn_CarriesDecisions(t *testing.T) {
	t.Parallel()
	decided := contract.Pending{Key: "k", Digest: "d"}
	b := newBench(t, []contract.CallModelResult{asks(plan("pay", `{"n":2}`, gated(contract.ApprovalPlan{}))), says("done")},
		map[string]toolFunc{"pay": echo})
	b.after(time.Hour, func() {
		b.decide(decided, true, "ann", "")
		b.decide(decided, false, "eve", "first decision stands")
		b.decide(b.status().Pending[0], true, "ann", "")
	})
	b.env.ExecuteWorkflow(contract.WorkflowTurn, contract.TurnInput{Agent: "a", Carried: &contract.Carried{
		Limits: contract.Limits{}.WithDefaults(),
		Calls:  contract.CarriedTools{Decided: []contract.Decided{{Key: "k", Digest: "d", Approve: true, By: "ann"}}},
	}})
	if err := b.env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
}

// R06: a turn that cannot go on in a new run ends before Temporal would end it:
// it is asked for a last answer, and says why.
func TestTurn_EndsBeforeItsHistoryIsFull(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(b *bench){
		"events": func(b *bench) { b.env.SetCurrentHistoryLength(45_001) },
		"bytes":  func(b *bench) { b.env.SetCurrentHistorySize(40<<20 + 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b *bench
			var last contract.CallModelInput
			b = newBench(t, []contract.CallModelResult{asks(plan("pay", `{"n":1}`)), asks(plan("pay", `{"n":2}`)), says("that is all")}, map[string]toolFunc{
				"pay": func(ctx context.Context, in contract.ToolInput) (contract.ToolResult, error) {
					fill(b)
					return echo(ctx, in)
				},
			})
			b.env.RegisterActivityWithOptions(func(context.Context, contract.CarryInput) (contract.CarryResult, error) {
				return contract.CarryResult{TooLarge: true}, nil
			}, sdkactivity.RegisterOptions{Name: contract.ActivityCarry})
			got, err := b.run(nil)
			if err != nil || got.Status != contract.StatusLimitReached || got.Reason != "history_size" {
				t.Errorf("%+v, %v", got, err)
			}
			if last = b.inputs[len(b.inputs)-1]; last.WrapUp != "history_size" {
				t.Errorf("the last model call: %+v", last)
			}
		})
	}
}

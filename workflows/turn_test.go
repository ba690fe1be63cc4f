package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/workflows"
)

// bench is one turn in the SDK's test environment, with a scripted model and
// tools that are plain functions.
type bench struct {
	t   *testing.T
	env *testsuite.TestWorkflowEnvironment

	mu     sync.Mutex
	inputs []contract.CallModelInput
	tools  []contract.ToolInput
	sent   int // updates
}

// newBench plays answers in order; a nil tool returns its arguments.
func newBench(t *testing.T, answers []contract.CallModelResult, tools map[string]func(context.Context, contract.ToolInput) (contract.ToolResult, error)) *bench {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	b := &bench{t: t, env: suite.NewTestWorkflowEnvironment()}
	// The detector counts wall time, which a busy machine has too little of.
	b.env.SetWorkerOptions(sdkworker.Options{DeadlockDetectionTimeout: time.Minute})
	workflows.Register(b.env)
	b.env.RegisterActivityWithOptions(func(_ context.Context, in contract.CallModelInput) (contract.CallModelResult, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.inputs = append(b.inputs, in)
		if in.Step > len(answers) {
			return contract.CallModelResult{}, temporal.NewNonRetryableApplicationError("script is over", contract.ErrModelBadRequest, nil)
		}
		return answers[in.Step-1], nil
	}, sdkactivity.RegisterOptions{Name: contract.ActivityCallModel})
	for name, fn := range tools {
		b.env.RegisterActivityWithOptions(func(ctx context.Context, in contract.ToolInput) (contract.ToolResult, error) {
			b.mu.Lock()
			b.tools = append(b.tools, in)
			b.mu.Unlock()
			return fn(ctx, in)
		}, sdkactivity.RegisterOptions{Name: contract.ToolActivity(name)})
	}
	return b
}

func (b *bench) run(limits *contract.Limits) (contract.TurnResult, error) {
	b.t.Helper()
	b.env.ExecuteWorkflow(contract.WorkflowTurn, contract.TurnInput{
		Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}, Limits: limits,
	})
	if !b.env.IsWorkflowCompleted() {
		b.t.Fatal("the turn did not end")
	}
	var result contract.TurnResult
	if err := b.env.GetWorkflowError(); err != nil {
		return result, err
	}
	return result, b.env.GetWorkflowResult(&result)
}

func echo(_ context.Context, in contract.ToolInput) (contract.ToolResult, error) {
	return contract.ToolResult{Text: in.Args, Digest: in.Args}, nil
}

func plan(tool, args string, change ...func(*contract.RunPlan)) contract.PlannedCall {
	run := &contract.RunPlan{
		Class: contract.ClassAtMostOnce, Effects: contract.EffectsExternal,
		Timeout: contract.Duration(time.Minute), MaxAttempts: 1,
	}
	for _, c := range change {
		c(run)
	}
	return contract.PlannedCall{WireID: "w" + args, Name: tool, Args: args, Run: run}
}

func parallelSafe(r *contract.RunPlan) { r.ParallelSafe = true }
func class(c contract.Class, attempts int) func(*contract.RunPlan) {
	return func(r *contract.RunPlan) { r.Class, r.MaxAttempts = c, attempts }
}

func asks(calls ...contract.PlannedCall) contract.CallModelResult {
	return contract.CallModelResult{Calls: calls}
}

func says(text string) contract.CallModelResult { return contract.CallModelResult{Content: text} }

func TestTurn_AnswersWithoutCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t, []contract.CallModelResult{says("hello")}, nil)
	got, err := b.run(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := contract.TurnResult{Status: contract.StatusCompleted, Text: "hello", Steps: 1, Runs: 1, RunID: got.RunID}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// T30, R05, P01: serial calls run in source order, and each gets its entry.
func TestTurn_SerialCallsInSourceOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, []contract.CallModelResult{
		asks(plan("x", `{"n":1}`), contract.PlannedCall{WireID: "bad", Name: "nope", Problem: &contract.Problem{Kind: contract.ProblemUnknownTool, Text: "no such tool"}}, plan("x", `{"n":2}`)),
		says("done"),
	}, map[string]func(context.Context, contract.ToolInput) (contract.ToolResult, error){"x": echo})
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	if len(b.tools) != 2 || b.tools[0].Args != `{"n":1}` || b.tools[1].Args != `{"n":2}` {
		t.Errorf("tools ran as %+v", b.tools)
	}
	entries := b.inputs[1].Entries
	if len(entries) != 3 || entries[0].Ref != "s1.c1" || entries[1].Text != "no such tool" || entries[2].Ref != "s1.c3" {
		t.Errorf("entries: %+v", entries)
	}
	if b.tools[0].Key == b.tools[1].Key || len(b.tools[0].Key) != 64 {
		t.Errorf("keys: %q, %q", b.tools[0].Key, b.tools[1].Key)
	}
}

// T32: 20 calls under limit 2: the peak is exactly 2 and all 20 run.
func TestTurn_ParallelBound(t *testing.T) {
	t.Parallel()
	var now, peak atomic.Int32
	var calls []contract.PlannedCall
	for i := range 20 {
		calls = append(calls, plan("p", fmt.Sprintf(`{"n":%d}`, i), parallelSafe))
	}
	b := newBench(t, []contract.CallModelResult{asks(calls...), says("done")},
		map[string]func(context.Context, contract.ToolInput) (contract.ToolResult, error){
			"p": func(_ context.Context, in contract.ToolInput) (contract.ToolResult, error) {
				n := now.Add(1)
				defer now.Add(-1)
				for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
				}
				time.Sleep(5 * time.Millisecond) // let others overlap: the bound is what is tested
				return contract.ToolResult{Text: in.Args}, nil
			},
		})
	got, err := b.run(&contract.Limits{MaxToolConcurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	if peak.Load() != 2 || got.Effects.Done != 20 {
		t.Errorf("peak %d, done %d; want 2 and 20", peak.Load(), got.Effects.Done)
	}
	for i, e := range b.inputs[1].Entries {
		if want := contract.CallActivityID(1, i+1, 0); e.Ref != want {
			t.Errorf("entry %d is %q, want %q", i, e.Ref, want)
		}
	}
}

// P03, P06: identical calls have keys of their own, and a key does not move
// when an unrelated call appears before it.
func TestTurn_Keys(t *testing.T) {
	t.Parallel()
	keysOf := func(calls ...contract.PlannedCall) []string {
		b := newBench(t, []contract.CallModelResult{asks(calls...), says("done")},
			map[string]func(context.Context, contract.ToolInput) (contract.ToolResult, error){"pay": echo, "look": echo})
		if _, err := b.run(nil); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, in := range b.tools {
			keys = append(keys, in.Key)
		}
		return keys
	}
	pay := plan("pay", `{"n":1}`)
	twice := keysOf(pay, pay)
	if twice[0] == twice[1] {
		t.Error("two identical calls share a key")
	}
	if shifted := keysOf(plan("look", `{}`), pay, pay); !slices.Equal(shifted[1:], twice) {
		t.Errorf("keys moved: %v, before %v", shifted[1:], twice)
	}
}

func TestTurn_Outcomes(t *testing.T) {
	t.Parallel()
	fail := func(kind string) func(context.Context, contract.ToolInput) (contract.ToolResult, error) {
		return func(context.Context, contract.ToolInput) (contract.ToolResult, error) {
			if kind == contract.ErrToolTransient || kind == contract.ErrSDKPayloadSize {
				return contract.ToolResult{}, temporal.NewApplicationError("text", kind)
			}
			return contract.ToolResult{}, temporal.NewNonRetryableApplicationError("text", kind, nil, contract.ToolFailure{Text: "text"})
		}
	}
	for _, c := range []struct {
		name   string
		kind   string
		class  contract.Class
		want   contract.Outcome
		starts int
	}{
		{"the handler's word", contract.ErrToolFailed, contract.ClassKeyed, contract.OutcomeFailed, 1},
		{"unknown", contract.ErrToolUnknown, contract.ClassKeyed, contract.OutcomeUnknown, 1},
		{"timeout of a read", contract.ErrToolTimedOut, contract.ClassSafeToRetry, contract.OutcomeTimedOut, 1},
		{"refused", contract.ErrToolRefused, contract.ClassAtMostOnce, contract.OutcomeUnknown, 1},
		{"untyped, at most once", "whatever", contract.ClassAtMostOnce, contract.OutcomeUnknown, 1},
		{"oversized", contract.ErrSDKPayloadSize, contract.ClassKeyed, contract.OutcomeUnknown, 1},
		{"transient, keyed", contract.ErrToolTransient, contract.ClassKeyed, contract.OutcomeUnknown, 3},
		{"transient, read", contract.ErrToolTransient, contract.ClassSafeToRetry, contract.OutcomeFailed, 3},
		{"not executed is scheduled again", contract.ErrToolNotExecuted, contract.ClassAtMostOnce, contract.OutcomeNotExecuted, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, []contract.CallModelResult{asks(plan("x", `{}`, class(c.class, 3))), says("done")},
				map[string]func(context.Context, contract.ToolInput) (contract.ToolResult, error){"x": fail(c.kind)})
			if _, err := b.run(nil); err != nil {
				t.Fatal(err)
			}
			if e := b.inputs[1].Entries[0]; e.Outcome != c.want {
				t.Errorf("outcome %q, want %q (%+v)", e.Outcome, c.want, e)
			}
			if len(b.tools) != c.starts {
				t.Errorf("%d starts, want %d", len(b.tools), c.starts)
			}
		})
	}
}

// After an unknown outcome the model's repeat keeps the key; an AtMostOnce
// tool refuses it, a Keyed one runs again.
func TestTurn_RepeatAfterUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class  contract.Class
		starts int
	}{{contract.ClassAtMostOnce, 1}, {contract.ClassKeyed, 2}} {
		var n atomic.Int32
		call := plan("x", `{}`, class(c.class, 1))
		b := newBench(t, []contract.CallModelResult{asks(call), asks(call), says("done")},
			map[string]func(context.Context, contract.ToolInput) (contract.ToolResult, error){
				"x": func(context.Context, contract.ToolInput) (contract.ToolResult, error) {
					if n.Add(1) == 1 {
						return contract.ToolResult{}, temporal.NewApplicationError("lost", contract.ErrToolUnknown)
					}
					return contract.ToolResult{Text: "ok"}, nil
				},
			})
		if _, err := b.run(nil); err != nil {
			t.Fatal(err)
		}
		if len(b.tools) != c.starts {
			t.Fatalf("%s: %d starts, want %d", c.class, len(b.tools), c.starts)
		}
		if c.starts == 2 && b.tools[0].Key != b.tools[1].Key {
			t.Errorf("the key moved after an unknown outcome")
		}
	}
}

// T48, P17: an override key is one execution, also inside a parallel batch;
// P18: a definite failure does not poison it.
func TestTurn_OverrideKey(t *testing.T) {
	t.Parallel()
	override := func(r *contract.RunPlan) { r.Override, r.ParallelSafe = "order-1", true }
	calls := []contract.PlannedCall{plan("x", `{"nonce":1}`, override), plan("x", `{"nonce":2}`, override)}
	b := newBench(t, []contract.CallModelResult{asks(calls...), says("done")},
		map[string]func(context.Context, contract.ToolInput) (contract.ToolResult, error){"x": echo})
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	if e := b.inputs[1].Entries; len(b.tools) != 1 || e[0].Ref != "s1.c1" || e[1].Ref != "s1.c1" {
		t.Errorf("%d starts, entries %+v", len(b.tools), e)
	}
	var n atomic.Int32
	b = newBench(t, []contract.CallModelResult{asks(calls...), says("done")},
		map[string]func(context.Context, contract.ToolInput) (contract.ToolResult, error){
			"x": func(context.Context, contract.ToolInput) (contract.ToolResult, error) {
				if n.Add(1) == 1 {
					return contract.ToolResult{}, temporal.NewApplicationError("no", contract.ErrToolFailed)
				}
				return contract.ToolResult{Text: "ok"}, nil
			},
		})
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	if e := b.inputs[1].Entries; len(b.tools) != 2 || e[1].Outcome != contract.OutcomeDone || b.tools[0].Key != b.tools[1].Key {
		t.Errorf("after a definite failure: %d starts, entries %+v", len(b.tools), e)
	}
}

// R03: the step limit asks for a last answer without tools.
func TestTurn_StepLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t, []contract.CallModelResult{asks(plan("x", `{"n":1}`)), asks(plan("x", `{"n":2}`)), says("wrapped up")},
		map[string]func(context.Context, contract.ToolInput) (contract.ToolResult, error){"x": echo})
	got, err := b.run(&contract.Limits{MaxSteps: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != contract.StatusLimitReached || got.Reason != "max_steps" || got.Text != "wrapped up" {
		t.Errorf("%+v", got)
	}
	if b.inputs[2].WrapUp == "" || b.inputs[1].WrapUp != "" {
		t.Errorf("wrap-up asked in %+v", b.inputs)
	}
}

// R09: a canceled turn ends as canceled, and its running call says so.
func TestTurn_Cancel(t *testing.T) {
	t.Parallel()
	b := newBench(t, []contract.CallModelResult{asks(plan("slow", `{}`), plan("slow", `{"n":2}`)), says("never")},
		map[string]func(context.Context, contract.ToolInput) (contract.ToolResult, error){
			"slow": func(ctx context.Context, _ contract.ToolInput) (contract.ToolResult, error) {
				<-ctx.Done()
				return contract.ToolResult{}, ctx.Err()
			},
		})
	b.env.RegisterDelayedCallback(b.env.CancelWorkflow, time.Second)
	_, err := b.run(nil)
	if !temporal.IsCanceledError(err) {
		t.Fatalf("ended with %v", err)
	}
	if len(b.inputs) != 1 {
		t.Errorf("the model was called %d times", len(b.inputs))
	}
}

func TestTurn_WallClock(t *testing.T) {
	t.Parallel()
	b := newBench(t, []contract.CallModelResult{asks(plan("slow", `{}`)), says("never")},
		map[string]func(context.Context, contract.ToolInput) (contract.ToolResult, error){
			"slow": func(ctx context.Context, _ contract.ToolInput) (contract.ToolResult, error) {
				<-ctx.Done()
				return contract.ToolResult{}, ctx.Err()
			},
		})
	got, err := b.run(&contract.Limits{MaxWallClock: contract.Duration(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != contract.StatusTimedOut || len(got.Tail) != 1 || got.Tail[0].Outcome != contract.OutcomeInterrupted {
		t.Errorf("%+v", got)
	}
}

func TestTurn_BadInput(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	for _, in := range []contract.TurnInput{{}, {Agent: "a"}} {
		env := suite.NewTestWorkflowEnvironment()
		workflows.Register(env)
		env.ExecuteWorkflow(contract.WorkflowTurn, in)
		if err := env.GetWorkflowError(); err == nil {
			t.Errorf("%+v: no error", in)
		}
	}
}

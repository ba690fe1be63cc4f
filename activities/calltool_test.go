package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	failurepb "go.temporal.io/api/failure/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/turnkeel/turnkeel/activities"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type payInput struct {
	Amount int `json:"amount"`
}

// pay is a tool whose handler is the test's.
func pay(class tooldefs.Class, handler tooldefs.Handler[payInput, any]) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[payInput, any]{
		Name: "pay", Description: "Pays.", Class: class, Timeout: time.Minute, Handler: handler,
	})
}

func environment(t *testing.T, tool *tooldefs.Tool) *testsuite.TestActivityEnvironment {
	t.Helper()
	return environmentOn(t, noServer{}, tool)
}

func environmentOn(t *testing.T, server noServer, tool *tooldefs.Tool) *testsuite.TestActivityEnvironment {
	t.Helper()
	set, err := tooldefs.NewSet(tool)
	if err != nil {
		t.Fatal(err)
	}
	acts, err := activities.New(activities.Options{
		Agents: []contract.Agent{{Name: "a", Tools: []string{"pay"}}}, Tools: set, Getenv: func(string) string { return "" }, Server: server.service, Transcripts: server,
	})
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	acts.Register(env)
	return env
}

// input is a call of pay in the run that the test environment runs it in.
func input(class tooldefs.Class) contract.ToolInput {
	return contract.ToolInput{
		Args: `{"amount":9007199254740993}`, Key: "key-1", Ordinal: 1, Class: class, Agent: "a",
		Timeout: contract.Duration(time.Minute), RunID: "default-test-run-id",
	}
}

func call(t *testing.T, class tooldefs.Class, handler tooldefs.Handler[payInput, any], timeout ...time.Duration) (contract.ToolResult, *temporal.ApplicationError) {
	t.Helper()
	env := environment(t, pay(class, handler))
	in := input(class)
	for _, d := range timeout {
		in.Timeout = contract.Duration(d)
	}
	value, err := env.ExecuteActivity(contract.ToolActivity("pay"), in)
	var result contract.ToolResult
	if err == nil {
		if err := value.Get(&result); err != nil {
			t.Fatal(err)
		}
		return result, nil
	}
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		t.Fatalf("untyped error: %v", err)
	}
	return result, app
}

// P10, B10, T11: the handler has the key, every digit of the arguments, and the
// call's own deadline.
func TestCallTool_HandsOverKeyAndArguments(t *testing.T) {
	t.Parallel()
	got, err := call(t, tooldefs.Keyed, func(ctx context.Context, c *tooldefs.Call, in payInput) (any, error) {
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > time.Minute {
			t.Errorf("deadline %s, %v", deadline, ok)
		}
		return map[string]any{"key": c.IdempotencyKey(), "amount": in.Amount, "ordinal": c.Ordinal()}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"amount":9007199254740993,"key":"key-1","ordinal":1}`; string(got.JSON) != want {
		t.Errorf("got %s, want %s", got.JSON, want)
	}
}

// T35, T38, T41: the class table, what each class makes of a handler's error.
func TestCallTool_ErrorsByClass(t *testing.T) {
	t.Parallel()
	cause := errors.New("no")
	const (
		failed, unknown  = contract.ErrToolFailed, contract.ErrToolUnknown
		timedOut, again  = contract.ErrToolTimedOut, contract.ErrToolTransient
		notExecuted      = contract.ErrToolNotExecuted
		atMostOnce, safe = tooldefs.AtMostOnce, tooldefs.SafeToRetry
	)
	block := func(context.Context, *tooldefs.Call, payInput) (any, error) { select {} } // ignores its ctx
	for _, c := range []struct {
		name    string
		handler tooldefs.Handler[payInput, any]
		want    map[tooldefs.Class]string
	}{
		{"plain error", returns(cause), map[tooldefs.Class]string{atMostOnce: failed, tooldefs.Keyed: failed, safe: failed}},
		{"unknown", returns(tooldefs.Unknown(cause)), map[tooldefs.Class]string{atMostOnce: unknown, tooldefs.Keyed: unknown, safe: failed}},
		{"not executed", returns(tooldefs.NotExecuted(cause)), map[tooldefs.Class]string{atMostOnce: notExecuted, tooldefs.Keyed: notExecuted, safe: notExecuted}},
		{"transient", returns(tooldefs.Transient(cause, time.Second)), map[tooldefs.Class]string{atMostOnce: failed, tooldefs.Keyed: again, safe: again}},
		{"network timeout", returns(context.DeadlineExceeded), map[tooldefs.Class]string{atMostOnce: unknown, tooldefs.Keyed: unknown, safe: failed}},
		{"our timeout", block, map[tooldefs.Class]string{atMostOnce: unknown, tooldefs.Keyed: unknown, safe: timedOut}},
		{"panic", func(context.Context, *tooldefs.Call, payInput) (any, error) { panic("secret") }, map[tooldefs.Class]string{atMostOnce: unknown, tooldefs.Keyed: unknown, safe: failed}},
	} {
		for class, want := range c.want {
			t.Run(c.name+" "+string(class), func(t *testing.T) {
				t.Parallel()
				limit := time.Minute
				if c.name == "our timeout" {
					limit = 50 * time.Millisecond
				}
				_, err := call(t, class, c.handler, limit)
				if err == nil || err.Type() != want {
					t.Fatalf("got %v, want type %s", err, want)
				}
				var detail contract.ToolFailure
				if err := err.Details(&detail); err != nil || detail.Text == "" || strings.Contains(detail.Text, "secret") {
					t.Errorf("detail %+v, %v", detail, err)
				}
			})
		}
	}
}

func returns(err error) tooldefs.Handler[payInput, any] {
	return func(context.Context, *tooldefs.Call, payInput) (any, error) { return nil, err }
}

// An AtMostOnce call that is not certainly a first start does not run.
func TestCallTool_RefusesWhatMayHaveRun(t *testing.T) {
	t.Parallel()
	type change = func(*testsuite.TestActivityEnvironment, *contract.ToolInput)
	for _, c := range []struct {
		name   string
		change change
		traces func(*workflowpb.PendingActivityInfo)
		want   string
	}{
		{name: "heartbeat details of an earlier attempt", want: contract.ErrToolRefused,
			change: func(env *testsuite.TestActivityEnvironment, _ *contract.ToolInput) { env.SetHeartbeatDetails("beat") }},
		{name: "copied into another run by a reset", want: contract.ErrToolUnknown,
			change: func(_ *testsuite.TestActivityEnvironment, in *contract.ToolInput) { in.RunID = "another" }},
		{name: "in a run that came from a reset", want: contract.ErrToolUnknown,
			change: func(_ *testsuite.TestActivityEnvironment, in *contract.ToolInput) { in.Lineage = true }},
		{name: "planned for another definition", want: contract.ErrToolNotExecuted,
			change: func(_ *testsuite.TestActivityEnvironment, in *contract.ToolInput) { in.Digest = "another" }},
		{name: "an attempt has ended", want: contract.ErrToolRefused,
			traces: func(p *workflowpb.PendingActivityInfo) { p.LastAttemptCompleteTime = p.GetScheduledTime() }},
		{name: "an attempt was lost", want: contract.ErrToolRefused,
			traces: func(p *workflowpb.PendingActivityInfo) { p.LastFailure = &failurepb.Failure{Message: "lost"} }},
		{name: "an attempt beat", want: contract.ErrToolRefused,
			traces: func(p *workflowpb.PendingActivityInfo) { p.LastHeartbeatTime = p.GetScheduledTime() }},
		{name: "handed out anew", want: contract.ErrToolRefused,
			traces: func(p *workflowpb.PendingActivityInfo) {
				p.ScheduledTime = timestamppb.New(p.GetScheduledTime().AsTime().Add(1))
			}},
		{name: "not pending", want: contract.ErrToolRefused,
			traces: func(p *workflowpb.PendingActivityInfo) { p.ActivityId = "another" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ran := false
			env := environmentOn(t, noServer{c.traces}, pay(tooldefs.AtMostOnce, func(context.Context, *tooldefs.Call, payInput) (any, error) {
				ran = true
				return "paid", nil
			}))
			in := input(tooldefs.AtMostOnce)
			if c.change != nil {
				c.change(env, &in)
			}
			_, err := env.ExecuteActivity(contract.ToolActivity("pay"), in)
			var app *temporal.ApplicationError
			if !errors.As(err, &app) || app.Type() != c.want || ran {
				t.Errorf("error %v, want %s; ran %v", err, c.want, ran)
			}
		})
	}
}

// T35: a handler that comes back because its time is over has timed out, and is
// told of in the same words whichever is noticed first.
func TestCallTool_ComesBackAtItsDeadline(t *testing.T) {
	t.Parallel()
	for class, want := range map[tooldefs.Class]string{tooldefs.AtMostOnce: contract.ErrToolUnknown, tooldefs.SafeToRetry: contract.ErrToolTimedOut} {
		for range 20 {
			_, err := call(t, class, func(ctx context.Context, _ *tooldefs.Call, _ payInput) (any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}, time.Millisecond)
			if err == nil || err.Type() != want || !strings.Contains(err.Message(), "timed out after 1ms") {
				t.Fatal(class, err)
			}
		}
	}
}

// C01, T45: a result too large for a payload is recorded cut, and marked so.
func TestCallTool_BoundsTheResult(t *testing.T) {
	t.Parallel()
	got, err := call(t, tooldefs.Keyed, func(context.Context, *tooldefs.Call, payInput) (any, error) {
		return strings.Repeat("\u0001<ü", 1<<20), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Truncated || got.Bytes < 4<<20 || len(got.Text) > 1<<20 {
		t.Errorf("truncated %v, %d bytes of %d", got.Truncated, len(got.Text), got.Bytes)
	}
}

// All that is wrong with the agents is said at once, before any turn.
func TestNew_ListsAllProblems(t *testing.T) {
	t.Parallel()
	_, err := activities.New(activities.Options{
		Getenv: func(string) string { return "" },
		Agents: []contract.Agent{{Name: "a", Tools: []string{"nope"}}, {Name: "a", Tools: []string{"neither"}}},
	})
	for _, want := range []string{"nope", "neither", "twice"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

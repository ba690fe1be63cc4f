package activities_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	sdkactivity "go.temporal.io/sdk/activity"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// P07: a tool whose handler calls another tool, and itself, runs.
func TestP07_AToolCallsAnotherTool(t *testing.T) {
	t.Parallel()
	var set *tooldefs.Set
	tool := pay(tooldefs.AtMostOnce, func(ctx context.Context, call *tooldefs.Call, in payInput) (any, error) {
		if in.Amount == 1 {
			return "inner under " + call.IdempotencyKey(), nil
		}
		return set.CallWith(ctx, tooldefs.CallInfo{Key: call.IdempotencyKey() + "/inner"}, "pay", `{"amount":1}`)
	})
	var err error
	if set, err = tooldefs.NewSet(tool); err != nil {
		t.Fatal(err)
	}
	value, err := environment(t, tool).ExecuteActivity(contract.ToolActivity("pay"), input(tooldefs.AtMostOnce))
	var got contract.ToolResult
	if err == nil {
		err = value.Get(&got)
	}
	if err != nil || !strings.Contains(string(got.JSON), "inner under key-1/inner") {
		t.Errorf("got %s, %v", got.JSON, err)
	}
}

// P08: a result that cannot be recorded is a defined failure of a call that
// took effect, and the turn goes on.
func TestP08_UnusableResults(t *testing.T) {
	t.Parallel()
	type loop struct{ Next any }
	cycle := &loop{}
	cycle.Next = cycle
	for name, value := range map[string]any{"cycle": cycle, "function": func() {}, "channel": make(chan int)} {
		for class, want := range map[tooldefs.Class]string{
			tooldefs.AtMostOnce: contract.ErrToolUnknown, tooldefs.Keyed: contract.ErrToolUnknown, tooldefs.SafeToRetry: contract.ErrToolFailed,
		} {
			ran := 0
			_, err := call(t, class, func(context.Context, *tooldefs.Call, payInput) (any, error) { ran++; return value, nil })
			if err == nil || err.Type() != want || !strings.Contains(err.Message(), "pay ran, but its result is not valid") || ran != 1 {
				t.Errorf("%s, %s: %v, ran %d times", name, class, err, ran)
			}
		}
	}
	if got, err := call(t, tooldefs.AtMostOnce, func(context.Context, *tooldefs.Call, payInput) (any, error) { return nil, nil }); err != nil || string(got.JSON) != "null" {
		t.Errorf("nil: %s, %v", got.JSON, err)
	}
}

// P21: what the history holds of an error is its words, bounded: no stack, no
// Go syntax around it, and the public text instead of the secret.
func TestP21_ErrorsInHistory(t *testing.T) {
	t.Parallel()
	const secret = "sk-live-planted"
	for name, c := range map[string]struct {
		handler tooldefs.Handler[payInput, any]
		text    string
	}{
		"plain":  {returns(errors.New("no such account")), "error: pay failed: no such account"},
		"public": {returns(tooldefs.Public("the bank is closed", errors.New("Authorization: Bearer "+secret))), "error: pay failed: the bank is closed"},
		"panic":  {func(context.Context, *tooldefs.Call, payInput) (any, error) { panic(secret) }, "error: the outcome of pay is unknown: internal error"},
		"long":   {returns(errors.New(strings.Repeat("é\xff", 9_000))), "error: pay failed: "},
	} {
		_, err := call(t, tooldefs.AtMostOnce, c.handler)
		failure := temporal.GetDefaultFailureConverter().ErrorToFailure(err)
		recorded := failure.String()
		for _, never := range []string{secret, "goroutine", ".go:", "&errors", "runtime."} {
			if strings.Contains(recorded, never) {
				t.Errorf("%s: the history has %q: %s", name, never, recorded)
			}
		}
		if !strings.HasPrefix(failure.GetMessage(), c.text) || len(recorded) > 20_000 {
			t.Errorf("%s: %d bytes, %.200q", name, len(recorded), failure.GetMessage())
		}
	}
}

// P25: the first heartbeat is on its way before the handler starts.
func TestP25_HeartbeatBeforeTheHandler(t *testing.T) {
	t.Parallel()
	var beats atomic.Int32
	before := int32(-1)
	env := environment(t, pay(tooldefs.AtMostOnce, func(context.Context, *tooldefs.Call, payInput) (any, error) {
		before = beats.Load()
		return nil, nil
	}))
	env.SetOnActivityHeartbeatListener(func(*sdkactivity.Info, converter.EncodedValues) { beats.Add(1) })
	if _, err := env.ExecuteActivity(contract.ToolActivity("pay"), input(tooldefs.AtMostOnce)); err != nil {
		t.Fatal(err)
	}
	if before < 1 {
		t.Errorf("%d heartbeats before the handler", before)
	}
}

package modelwire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// notes is a tool that keeps what it was called with.
type notes struct {
	mu   sync.Mutex
	keys []string
	args []string
}

func (n *notes) tool(t *testing.T) *tooldefs.Tool {
	t.Helper()
	type input struct {
		To string `json:"to"`
	}
	return tooldefs.Define(tooldefs.Spec[input, string]{
		Name: "send_note", Description: "Sends a note.",
		Handler: func(_ context.Context, call *tooldefs.Call, in input) (string, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.keys, n.args = append(n.keys, call.IdempotencyKey()), append(n.args, in.To)
			return "sent", nil
		},
	})
}

func bench(t *testing.T, o agenttest.BenchOptions) *agenttest.Bench {
	t.Helper()
	o.Server = server
	return agenttest.NewBench(t, o)
}

// failedAs wants a turn that failed because its model call did, as kind.
func failedAs(t *testing.T, out agenttest.Outcome, kind string, parts ...string) {
	t.Helper()
	var app *temporal.ApplicationError
	if !errors.As(out.Err, &app) {
		t.Fatalf("the turn did not fail: %+v %v", out.Result, out.Err)
	}
	last := ""
	for _, e := range out.History.GetEvents() {
		if f := e.GetActivityTaskFailedEventAttributes(); f != nil {
			last = f.GetFailure().GetApplicationFailureInfo().GetType()
		}
	}
	if last != kind {
		t.Errorf("the model call failed as %s, want %s (%v)", last, kind, out.Err)
	}
	for _, p := range parts {
		if !strings.Contains(out.Err.Error(), p) {
			t.Errorf("%q is not in %v", p, out.Err)
		}
	}
}

func frames(t *testing.T, deltas ...string) []string {
	t.Helper()
	var all []string
	for _, d := range deltas {
		all = append(all, fmt.Sprintf(`{"id":"c","choices":[{"index":0,"delta":%s,"finish_reason":null}]}`, d))
	}
	return append(all, `{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]")
}

// A01: the same id in two steps is two calls, two keys, and
// two ids on the wire.
func TestA01_RepeatedIDs(t *testing.T) {
	t.Parallel()
	var n notes
	b := bench(t, agenttest.BenchOptions{Tools: []*tooldefs.Tool{n.tool(t)}, Script: agenttest.Script{Steps: []agenttest.Step{
		{Calls: []agenttest.ScriptCall{{ID: "call_X", Name: "send_note", Args: map[string]any{"to": "a"}}}},
		{Calls: []agenttest.ScriptCall{{ID: "call_X", Name: "send_note", Args: map[string]any{"to": "b"}}}},
		{Text: "done"},
	}}})
	out := b.Run("go")
	if out.Err != nil || out.Result.Text != "done" || strings.Join(n.args, "") != "ab" || n.keys[0] == n.keys[1] {
		t.Errorf("%+v %v %v %v", out.Result, out.Err, n.args, n.keys)
	}
}

// A03, A05, A06: parallel calls with index 0, a placeholder
// before the arguments, and arguments as an object, run as what they are.
func TestA03A05A06_OddFramesInATurn(t *testing.T) {
	t.Parallel()
	var n notes
	b := bench(t, agenttest.BenchOptions{Tools: []*tooldefs.Tool{n.tool(t)}, Script: agenttest.Script{Steps: []agenttest.Step{
		{Frames: frames(t,
			`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"send_note","arguments":"{\"to\":\"x\"}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"c2","function":{"name":"send_note","arguments":"{}"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"name":"","arguments":"{\"to\":"}}]}`,
			`{"tool_calls":[{"index":0,"id":null,"function":{"arguments":"\"y\"}"}}]}`,
			`{"tool_calls":[{"id":"c3","type":"function","function":{"name":"send_note","arguments":{"to":"z"}}}]}`,
		)},
		{Text: "done"},
	}}})
	out := b.Run("go")
	if out.Err != nil || strings.Join(n.args, "") != "xyz" {
		t.Errorf("%+v %v %v", out.Result, out.Err, n.args)
	}
}

// A12, A14, A15: nothing of a stream that failed is
// executed, and the retry brings the answer.
func TestA12A14A15_CutAndFailedStreams(t *testing.T) {
	t.Parallel()
	var n notes
	half := `{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"send_note","arguments":"{\"to\":\"evil\"}"}}]},"finish_reason":null}]}`
	b := bench(t, agenttest.BenchOptions{Tools: []*tooldefs.Tool{n.tool(t)}, Script: agenttest.Script{Steps: []agenttest.Step{
		{Calls: []agenttest.ScriptCall{{Name: "send_note", Args: map[string]any{"to": "a"}}}, Failures: []agenttest.StepFailure{
			{Frames: []string{half, `{"error":{"code":502,"message":"upstream gone"},"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`, "[DONE]"}},
			{Frames: []string{half}},
			{Frames: []string{half}, Cut: 1},
		}},
		{Text: "done", Failures: []agenttest.StepFailure{{Frames: []string{": PROCESSING", `{"error":{"code":503,"message":"busy"}}`}}}},
	}}})
	out := b.Run("go")
	if out.Err != nil || out.Result.Text != "done" || strings.Join(n.args, "") != "a" {
		t.Errorf("%+v %v %v", out.Result, out.Err, n.args)
	}
}

// A11: whatever the finish_reason claims.
func TestA11_TruncatedCallsDoNotRun(t *testing.T) {
	t.Parallel()
	var n notes
	b := bench(t, agenttest.BenchOptions{
		Tools: []*tooldefs.Tool{n.tool(t)}, Agent: contract.Agent{Limits: contract.Limits{MaxOutputTokens: 50}},
		Script: agenttest.Script{Steps: []agenttest.Step{
			{Calls: []agenttest.ScriptCall{{Name: "send_note", Args: map[string]any{"to": "a"}}}, Finish: "tool_calls", Usage: agenttest.StepUsage{Prompt: 10, Completion: 50}},
			{Text: "done", Usage: agenttest.StepUsage{Prompt: 10, Completion: 5}},
		}},
	})
	out := b.Run("go")
	if out.Err != nil || len(n.args) != 0 || !strings.Contains(out.Messages[2].Content, "hit its limit") {
		t.Errorf("%+v %v %+v", out.Result, out.Err, out.Messages)
	}
}

// P24: Temporal waits as long as the endpoint asks.
func TestP24_RetryAfter(t *testing.T) {
	t.Parallel()
	b := bench(t, agenttest.BenchOptions{Script: agenttest.Script{Steps: []agenttest.Step{
		{Text: "done", Failures: []agenttest.StepFailure{{Status: 429, Message: "slow down", Headers: map[string]string{"Retry-After": "2"}}}},
	}}})
	out := b.Run("go")
	if out.Err != nil || len(b.Model.Requests()) != 2 {
		t.Fatalf("%v, %d requests", out.Err, len(b.Model.Requests()))
	}
	// Temporal's own first interval is 1 s.
	if waited := b.Model.Requests()[1].At.Sub(b.Model.Requests()[0].At); waited < 2*time.Second {
		t.Errorf("asked again after %s", waited)
	}
}

// P24: asked once, and the error says what it is.
func TestP24_FinalErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault agenttest.StepFailure
		kind  string
		words string
	}{
		{"bad request", agenttest.StepFailure{Status: 400, Message: "unknown option"}, contract.ErrModelBadRequest, "unknown option"},
		{"an hour", agenttest.StepFailure{Status: 429, Message: "daily limit", Headers: map[string]string{"Retry-After": "3600"}}, contract.ErrModelQuota, "come back after 1h0m0s (at "},
		{"auth", agenttest.StepFailure{Status: 401, Message: "wrong key"}, contract.ErrModelAuth, "wrong key; "},
		{"quota", agenttest.StepFailure{Status: 429, Code: "insufficient_quota"}, contract.ErrModelQuota, "quota"},
		{"A22 too long", agenttest.StepFailure{Status: 400, Body: `{"object":"error","message":"prompt is too long","code":400}`}, contract.ErrModelContextTooLong, "too long"},
		{"A15 a page", agenttest.StepFailure{Body: "<html>Log in</html>", Headers: map[string]string{"Content-Type": "text/html"}}, contract.ErrModelBadRequest, "base_url"},
		{"refused", agenttest.StepFailure{Frames: []string{`{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`}}, contract.ErrModelRefused, "content filter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := bench(t, agenttest.BenchOptions{Script: agenttest.Script{Steps: []agenttest.Step{{Text: "never", Failures: []agenttest.StepFailure{c.fault}}}}})
			out := b.Run("go")
			failedAs(t, out, c.kind, c.words)
			if n := len(b.Model.Requests()); n != 1 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// A24: the model is told and asked again inside one attempt; after
// three asks the turn fails with an error of its own.
func TestA24_Reask(t *testing.T) {
	t.Parallel()
	bad := agenttest.StepFailure{Status: 400, Body: `{"error":{"code":"tool_use_failed","message":"Failed to call a function.","failed_generation":"<function=send_note{\"to\":\"evil\"}</function>"}}`}
	for _, times := range []int{2, 3} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			t.Parallel()
			var n notes
			fails := make([]agenttest.StepFailure, times)
			for i := range fails {
				fails[i] = bad
			}
			b := bench(t, agenttest.BenchOptions{Tools: []*tooldefs.Tool{n.tool(t)}, Script: agenttest.Script{Steps: []agenttest.Step{{Text: "done", Failures: fails}}}})
			out := b.Run("go")
			requests := b.Model.Requests()
			if len(requests) != 3 || len(n.args) != 0 {
				t.Fatalf("asked %d times, executed %v", len(requests), n.args)
			}
			last := requests[2].Messages
			if len(last) != 2 || !strings.HasPrefix(last[1].Content, contract.ReaskPrefix) || !strings.Contains(last[1].Content, "<function=send_note") {
				t.Errorf("asked again with %+v", last)
			}
			if times == 3 {
				failedAs(t, out, contract.ErrModelBadGeneration, "asked 3 times")
				return
			}
			if out.Err != nil || out.Result.Text != "done" || len(out.Messages) != 2 {
				t.Errorf("%+v %v %+v", out.Result, out.Err, out.Messages)
			}
		})
	}
}

// F08: arguments that are no JSON are sent as a legal
// placeholder; a 400 for our own transcript is repaired once, then reported.
func TestF08_PoisonedTranscript(t *testing.T) {
	t.Parallel()
	for _, stubborn := range []bool{false, true} {
		t.Run(fmt.Sprint(stubborn), func(t *testing.T) {
			t.Parallel()
			var n notes
			refusal := &agenttest.Step{Failures: []agenttest.StepFailure{{Status: 400, Message: "messages[1].tool_calls[0].function.arguments: invalid"}}}
			b := bench(t, agenttest.BenchOptions{Tools: []*tooldefs.Tool{n.tool(t)}, Script: agenttest.Script{
				Steps: []agenttest.Step{
					{Calls: []agenttest.ScriptCall{{ID: "p", Name: "send_note", Raw: `{"path":"a"`}, {ID: "q", Name: "no such.tool", Raw: `{"x":1}`}}},
					{Text: "done"},
				},
				Hook: func(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
					if r.Step == 2 && (stubborn || strings.Contains(string(r.Body), `\"x\":1`)) {
						return refusal
					}
					return nil
				},
			}})
			out := b.Run("go")
			if got := len(b.Model.Requests()); got != 3 {
				t.Errorf("asked %d times, want 3", got)
			}
			if stubborn {
				failedAs(t, out, contract.ErrModelBadRequest, "arguments: invalid")
			} else if out.Err != nil || out.Result.Text != "done" {
				t.Errorf("%+v %v", out.Result, out.Err)
			}
		})
	}
}

// A28: the endpoint read as many tokens as its window has.
func TestA28_PromptWasCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		read int
		fail bool
	}{{4096, true}, {3000, false}} {
		b := bench(t, agenttest.BenchOptions{Agent: contract.Agent{ContextWindow: 4096}, Script: agenttest.Script{Steps: []agenttest.Step{
			{Text: "done", Usage: agenttest.StepUsage{Prompt: c.read, Completion: 3}},
		}}})
		out := b.Run(strings.Repeat("many words ", 6000))
		if c.fail {
			failedAs(t, out, contract.ErrModelContextTooLong, "read 4096 tokens of a prompt of about 16")
		} else if out.Err != nil {
			t.Error(out.Err)
		}
	}
}

package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
	"github.com/turnkeel/turnkeel/workflows"
)

// T20, T21, T24, B01, B08: what the model reads of calls that never ran.
func TestT20_T21_T24_WhatTheModelReads(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	tool := note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Handler = func(context.Context, *tooldefs.Call, noteIn) (any, error) { ran.Add(1); return "ran", nil }
	})
	raw := func(args string) agenttest.ScriptCall { return agenttest.ScriptCall{Name: "note", Raw: args} }
	out, read := turn(t, []*tooldefs.Tool{tool},
		agenttest.ScriptCall{Name: "noet", Args: map[string]any{}}, raw(`{"n":1} and`), raw(`{"n":1,"n":2}`), raw(`{"n":1,"N":2}`),
		raw(`{"n":1E1000001}`), raw(`{"n":0}`), raw(`{}`), agenttest.ScriptCall{Name: "functions.note", Raw: `"{\"n\": 1.0}"`})
	for i, want := range []string{
		`error: unknown tool "noet". valid tools: note`,
		"error: note was not executed: invalid arguments\n- the text has text after the end of the JSON value",
		"error: note was not executed: invalid arguments\n- the text has the key \"n\" twice",
		"error: note was not executed: invalid arguments\n- N: differs only in case from the property n",
		"error: note was not executed: invalid arguments\n- the text has a number with too large an exponent",
		"error: note was not executed: invalid arguments\n- n: must be at least 1",
		"error: note was not executed: invalid arguments\n- n: is required",
		"ran",
	} {
		if !strings.HasPrefix(read[i], want) {
			t.Errorf("call %d: the model read %q, want %q", i+1, read[i], want)
		}
	}
	if ran.Load() != 1 || out.Effects[7].Args != `{"n":1}` || out.Effects[7].Tool != "note" {
		t.Errorf("ran %d times; %+v", ran.Load(), out.Effects[7])
	}
}

// T23, B10: every digit reaches the handler, the history and the key.
func TestT23_B10_EveryDigit(t *testing.T) {
	t.Parallel()
	raw := func(args string) agenttest.ScriptCall { return agenttest.ScriptCall{Name: "note", Raw: args} }
	out, read := turn(t, []*tooldefs.Tool{note(nil)}, raw(`{"n":9007199254740993}`), raw(`{"n":9007199254740992}`), raw(`{"n":9007199254740993.0}`))
	for i, want := range []string{"9007199254740993", "9007199254740992", "9007199254740993"} {
		if read[i] != want || out.Effects[i].Args != `{"n":`+want+`}` {
			t.Errorf("call %d: read %s, recorded %s", i+1, read[i], out.Effects[i].Args)
		}
	}
	keys := map[string]bool{}
	for _, e := range out.Effects {
		keys[e.Key] = true
	}
	if len(keys) != 3 { // the third is the first one again: a second occurrence
		t.Errorf("%d keys for 3 calls", len(keys))
	}
}

// T28, P20: 70 calls in one answer: 64 run, six are told why not.
func TestT28_P20_TooManyCalls(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	tool := note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Effects, s.ParallelSafe = tooldefs.None, tooldefs.Always
		s.Handler = func(_ context.Context, _ *tooldefs.Call, in noteIn) (any, error) { ran.Add(1); return in.N, nil }
	})
	var many []agenttest.ScriptCall
	for i := range 70 {
		many = append(many, calls(i+1))
	}
	_, read := turn(t, []*tooldefs.Tool{tool}, many...)
	for i, text := range read {
		if want := fmt.Sprint(i + 1); i < 64 && text != want {
			t.Errorf("call %d: %q", i+1, text)
		}
		if i >= 64 && text != contract.TextTooManyCalls(64) {
			t.Errorf("call %d: %q", i+1, text)
		}
	}
	if ran.Load() != 64 {
		t.Errorf("%d calls ran", ran.Load())
	}
}

// T44, T45: the model reads a bounded part; the history holds the whole, or as
// much as one payload takes, and the call is never repeated for its size.
func TestT44_T45_LargeResults(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	tool := note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Class = tooldefs.Keyed
		s.Handler = func(_ context.Context, _ *tooldefs.Call, in noteIn) (any, error) {
			ran.Add(1)
			return strings.Repeat("€", in.N) + "TAIL", nil
		}
	})
	out, read := turn(t, []*tooldefs.Tool{tool}, calls(100_000), calls(1_500_000))
	for i, text := range read {
		if n := utf8.RuneCountInString(text); n != contract.DefaultMaxToolResultChars || !utf8.ValidString(text) || !strings.HasSuffix(text, "TAIL") || !strings.Contains(text, "characters in all") {
			t.Errorf("call %d: %d runes, valid %v", i+1, n, utf8.ValidString(text))
		}
	}
	if !recorded(t, out, strings.Repeat("€", 100_000)+"TAIL") {
		t.Error("the history does not hold the whole of the first result")
	}
	if !recorded(t, out, `"truncated":true`) || !recorded(t, out, `"bytes":4500004`) {
		t.Error("the second result is not marked as cut")
	}
	if ran.Load() != 2 || out.Effects[1].Attempts != 1 || out.Effects[1].Outcome != contract.OutcomeDone {
		t.Errorf("ran %d times; %+v", ran.Load(), out.Effects[1])
	}
}

// longNote is a workflow of a user's own that calls a tool by name.
func longNote(ctx workflow.Context, queue string) (int, error) {
	tools, err := workflows.NewTools(ctx, workflows.ToolsOptions{TaskQueue: queue})
	if err != nil {
		return 0, err
	}
	value, err := tools.Call(ctx, "note", noteIn{N: 100_000})
	if err != nil {
		return 0, err
	}
	var text string
	err = value.Get(&text)
	return len(text), err
}

// T44, T46: code that calls the tool gets the whole value.
func TestT44_CodeReadsTheWhole(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Script: agenttest.Script{Steps: []agenttest.Step{{Text: "unused"}}},
		Tools: []*tooldefs.Tool{note(func(s *tooldefs.Spec[noteIn, any]) {
			s.Handler = func(_ context.Context, _ *tooldefs.Call, in noteIn) (any, error) {
				return strings.Repeat("x", in.N), nil
			}
		})},
	})
	own := sdkworker.New(b.Temporal, b.Queue+"-own", sdkworker.Options{DisableRegistrationAliasing: true})
	own.RegisterWorkflow(longNote)
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	run, err := b.Temporal.ExecuteWorkflow(t.Context(), sdkclient.StartWorkflowOptions{TaskQueue: b.Queue + "-own"}, longNote, b.Queue)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := run.Get(t.Context(), &n); err != nil || n != 100_000 {
		t.Errorf("%d characters, %v", n, err)
	}
}

// P07: a tool that calls another tool from its handler does not wait for
// itself.
func TestP07_AToolCallsAnotherTool(t *testing.T) {
	t.Parallel()
	var set *tooldefs.Set
	inner := tooldefs.Define(tooldefs.Spec[noteIn, string]{
		Name: "inner", Description: "d", Effects: tooldefs.None,
		Handler: func(_ context.Context, call *tooldefs.Call, in noteIn) (string, error) {
			return fmt.Sprint("inner ", in.N), nil
		},
	})
	outer := note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Handler = func(ctx context.Context, _ *tooldefs.Call, in noteIn) (any, error) {
			got, err := set.Call(ctx, "inner", fmt.Sprintf(`{"n":%d}`, in.N))
			return got.Text, err
		}
	})
	var err error
	if set, err = tooldefs.NewSet(inner, outer); err != nil {
		t.Fatal(err)
	}
	out, read := turn(t, []*tooldefs.Tool{inner, outer}, calls(5), calls(6))
	if read[0] != "inner 5" || read[1] != "inner 6" || len(out.Effects) != 2 {
		t.Errorf("read %q, %d effects", read, len(out.Effects))
	}
}

// P08: a result that cannot be recorded: the effect stays in the log, once.
func TestP08_UnusableResult(t *testing.T) {
	t.Parallel()
	type loop struct{ Next any }
	cycle := &loop{}
	cycle.Next = cycle
	var ran atomic.Int32
	out, read := turn(t, []*tooldefs.Tool{note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Class = tooldefs.Keyed
		s.Handler = func(context.Context, *tooldefs.Call, noteIn) (any, error) { ran.Add(1); return cycle, nil }
	})}, calls(1))
	if e := out.Effects[0]; ran.Load() != 1 || e.Outcome != contract.OutcomeUnknown || e.Key == "" || !strings.HasPrefix(read[0], "error: note ran, but its result is not valid") {
		t.Errorf("ran %d times; %+v; read %q", ran.Load(), e, read[0])
	}
}

// P21, T41: neither the model nor the history gets a stack or the secret of a
// failing request.
func TestP21_T41_ErrorsStayClean(t *testing.T) {
	t.Parallel()
	const secret = "sk-live-planted"
	out, read := turn(t, []*tooldefs.Tool{note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Handler = func(_ context.Context, _ *tooldefs.Call, in noteIn) (any, error) {
			if in.N == 1 {
				panic(secret)
			}
			return nil, tooldefs.Public("the service is closed", errors.New("Authorization: Bearer "+secret))
		}
	})}, calls(1), calls(2))
	if want := "error: note failed: the service is closed"; read[1] != want || !strings.Contains(read[0], "internal error") {
		t.Errorf("the model read %q", read)
	}
	for _, never := range []string{secret, "goroutine ", "toolcall_test.go"} {
		if recorded(t, out, never) {
			t.Errorf("the history has %q", never)
		}
	}
}

// P22: in the Web UI each call has its own activity type and its one line.
func TestP22_TypeAndSummary(t *testing.T) {
	t.Parallel()
	other, err := tooldefs.Wrap(tooldefs.WrapSpec{
		Name: "other", Description: "d", Summary: func(string) string { return "does something else" },
		Invoke: func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := turn(t, []*tooldefs.Tool{note(nil), other}, calls(4), agenttest.ScriptCall{Name: "other", Args: map[string]any{}})
	summaries := map[string]string{}
	for _, e := range out.History.GetEvents() {
		scheduled := e.GetActivityTaskScheduledEventAttributes()
		if scheduled == nil {
			continue
		}
		var text string
		if err := converter.GetDefaultDataConverter().FromPayload(e.GetUserMetadata().GetSummary(), &text); err != nil {
			t.Errorf("%s: %v", scheduled.GetActivityType().GetName(), err)
		}
		summaries[scheduled.GetActivityType().GetName()] = text
	}
	if !strings.HasPrefix(summaries["tool.note"], `note {"n":4}`) || !strings.HasPrefix(summaries["tool.other"], "does something else") {
		t.Errorf("summaries %q", summaries)
	}
}

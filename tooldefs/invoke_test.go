package tooldefs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// returns is a tool whose handler does what f does.
func returns[Out any](f func() (Out, error), change func(*tooldefs.Spec[fine, Out])) *tooldefs.Tool {
	s := tooldefs.Spec[fine, Out]{
		Name: "x", Description: "d",
		Handler: func(context.Context, *tooldefs.Call, fine) (Out, error) { return f() },
	}
	if change != nil {
		change(&s)
	}
	return tooldefs.Define(s)
}

func invoke(tool *tooldefs.Tool) (contract.ToolResult, error) {
	return tool.Invoke(context.Background(), testCall(), `{"n":1}`)
}

type loop struct {
	Next *loop `json:"next"`
}

type badMarshaler struct{}

func (badMarshaler) MarshalJSON() ([]byte, error) { panic("secret") }

type named string

// T07: results.
func TestT07_Results(t *testing.T) {
	t.Parallel()
	cycle := &loop{}
	cycle.Next = cycle
	for name, c := range map[string]struct {
		value      any
		text, json string
		problem    string
	}{
		"string":       {"a <b>", "a <b>", "", ""},
		"named string": {named("a"), "a", "", ""},
		"bad UTF-8":    {"a\xff", "a\uFFFD", "", ""},
		"empty string": {"", "", "", ""},
		"nil":          {nil, "", "null", ""},
		"nil pointer":  {(*loop)(nil), "", "null", ""},
		"struct":       {fine{7}, "", `{"n":7}`, ""},
		"sorted":       {map[string]any{"b": 1, "a": "<"}, "", `{"a":"<","b":1}`, ""},
		"number":       {json.Number("9007199254740993"), "", "9007199254740993", ""},
		"raw":          {json.RawMessage(` {"b": 1, "a": 2} `), "", `{"a":2,"b":1}`, ""},
		"raw, twice":   {json.RawMessage(`{"a": 1, "a": 2}`), "", `{"a":1,"a":2}`, ""},
		"time":         {time.Unix(0, 0).UTC(), "", `"1970-01-01T00:00:00Z"`, ""},
		"function":     {func() {}, "", "", "such as a function"},
		"cycle":        {cycle, "", "", "it contains itself"},
		"infinity":     {math.Inf(1), "", "", "it holds +Inf"},
		"panic":        {badMarshaler{}, "", "", "cannot be written as JSON: internal error"},
		"broken raw":   {json.RawMessage(`{`), "", "", "cannot be written as JSON: unexpected end"},
	} {
		tool := returns(func() (any, error) { return c.value, nil }, nil)
		got, err := invoke(tool)
		if c.problem != "" {
			v := tool.Judge(err)
			if v.Outcome != contract.OutcomeUnknown || !strings.HasPrefix(v.Text, "error: x ran, but its result is not valid: ") || !strings.Contains(v.Text, c.problem) || strings.Contains(v.Text, "secret") || strings.Contains(v.Text, "json:") || strings.Contains(v.Text, "interface") {
				t.Errorf("%s: %v, %+v", name, err, v)
			}
			continue
		}
		if err != nil || got.Text != c.text || string(got.JSON) != c.json || len(got.Digest) != 16 {
			t.Errorf("%s: got %q, %s, %q, %v", name, got.Text, got.JSON, got.Digest, err)
		}
	}
}

// T08: output.
func TestT08_Output(t *testing.T) {
	t.Parallel()
	type out struct {
		N int `json:"n" jsonschema:"maximum=5"`
	}
	for name, output := range map[string]tooldefs.Output{
		"inferred": tooldefs.InferOutput(),
		"written":  tooldefs.OutputSchema(`{"properties":{"n":{"maximum":5}}}`),
	} {
		n := 9
		tool := returns(func() (out, error) { return out{n}, nil }, func(s *tooldefs.Spec[fine, out]) { s.Output = output })
		if tool.OutputSchema() == "" {
			t.Errorf("%s: no schema", name)
		}
		_, err := invoke(tool)
		if want := "error: x ran, but its result is not valid: n: must be at most 5"; tool.Judge(err).Text != want {
			t.Errorf("%s: got %q", name, tool.Judge(err).Text)
		}
		n = 5
		if got, err := invoke(tool); err != nil || string(got.JSON) != `{"n":5}` {
			t.Errorf("%s: got %s, %v", name, got.JSON, err)
		}
	}
	text := returns(func() (string, error) { return "long", nil }, func(s *tooldefs.Spec[fine, string]) { s.Output = tooldefs.OutputSchema(`{"maxLength":3}`) })
	if _, err := invoke(text); err == nil || !strings.Contains(err.Error(), "at most 3 characters") {
		t.Errorf("a string: %v", err)
	}
}

type netTimeout struct{}

func (netTimeout) Error() string { return "i/o timeout" }
func (netTimeout) Timeout() bool { return true }

type badError struct{}

func (badError) Error() string { panic("no") }

// T41: judge.
func TestT41_Judge(t *testing.T) {
	t.Parallel()
	plain := errors.New("no such order")
	for name, c := range map[string]struct {
		err                     error
		atMostOnce, keyed, safe contract.Outcome
		retry                   bool // Keyed and SafeToRetry
		text                    string
	}{
		"plain":         {plain, "failed", "failed", "failed", false, "error: x failed: no such order"},
		"unknown":       {tooldefs.Unknown(plain), "unknown", "unknown", "failed", false, "no such order"},
		"not executed":  {tooldefs.NotExecuted(plain), "not_executed", "not_executed", "not_executed", false, "error: x was not executed: no such order"},
		"transient":     {tooldefs.Transient(plain, time.Second), "failed", "failed", "failed", true, "error: x failed: no such order"},
		"canceled":      {fmt.Errorf("get: %w", context.Canceled), "unknown", "unknown", "failed", false, "get: context canceled"},
		"deadline":      {context.DeadlineExceeded, "unknown", "unknown", "failed", false, "deadline"},
		"network":       {fmt.Errorf("get: %w", netTimeout{}), "unknown", "unknown", "failed", false, "i/o timeout"},
		"certain":       {tooldefs.NotExecuted(netTimeout{}), "not_executed", "not_executed", "not_executed", false, "i/o timeout"},
		"careful":       {tooldefs.NotExecuted(tooldefs.Unknown(plain)), "unknown", "unknown", "failed", false, "no such order"},
		"public":        {tooldefs.Public("try later", errors.New("password=x")), "failed", "failed", "failed", false, "error: x failed: try later"},
		"public mark":   {tooldefs.Public("try later", tooldefs.Unknown(plain)), "unknown", "unknown", "failed", false, "try later"},
		"marked public": {tooldefs.Unknown(tooldefs.Public("try later", plain)), "unknown", "unknown", "failed", false, "try later"},
		"own timeout":   {&tooldefs.ToolTimeoutError{Tool: "x", After: time.Second}, "unknown", "unknown", "timed_out", false, "error: tool x timed out after 1s"},
		"arguments":     {&tooldefs.ArgumentsError{Tool: "x", Problem: "n: is required"}, "invalid", "invalid", "invalid", false, "error: x was not executed: invalid arguments\n- n: is required"},
		"bad error":     {badError{}, "failed", "failed", "failed", false, "without a text"},
		"bad UTF-8":     {errors.New("a\xff\x00" + strings.Repeat("é", 5000)), "failed", "failed", "failed", false, "a\uFFFD"},
		"nil":           {nil, "failed", "failed", "failed", false, "without a text"},
	} {
		for class, want := range map[tooldefs.Class]contract.Outcome{tooldefs.AtMostOnce: c.atMostOnce, tooldefs.Keyed: c.keyed, tooldefs.SafeToRetry: c.safe} {
			tool := returns(func() (any, error) { return nil, nil }, func(s *tooldefs.Spec[fine, any]) { s.Class = class })
			got := tool.Judge(c.err)
			if got.Outcome != want || got.Retry != (c.retry && class != tooldefs.AtMostOnce) || !strings.Contains(got.Text, c.text) ||
				!strings.HasPrefix(got.Text, "error: ") || !utf8.ValidString(got.Text) || utf8.RuneCountInString(got.Text) > 2_200 || strings.Contains(got.Text, "password") {
				t.Errorf("%s, %s: got %+v", name, class, got)
			}
		}
	}
	if after, ok := tooldefs.IsTransient(fmt.Errorf("a: %w", tooldefs.Transient(plain, time.Second))); !ok || after != time.Second {
		t.Error("a wrapped Transient is lost")
	}
	for _, mark := range []error{tooldefs.Transient(nil, 0), tooldefs.Unknown(nil), tooldefs.NotExecuted(nil)} {
		if mark != nil {
			t.Errorf("a marked nil is %v", mark)
		}
	}
}

// T41: panic.
func TestT41_Panic(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	tool := returns(func() (any, error) { panic("secret state") }, nil)
	call := tooldefs.NewCall(tooldefs.CallInfo{Turn: "t", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	_, err := tool.Invoke(context.Background(), call, `{"n":1}`)
	var panicked *tooldefs.PanicError
	if !errors.As(err, &panicked) {
		t.Fatalf("got %v", err)
	}
	if v := tool.Judge(err); v.Outcome != contract.OutcomeUnknown || strings.Contains(v.Text, "secret") || strings.Contains(v.Text, "goroutine") {
		t.Errorf("verdict %+v", v)
	}
	if !strings.Contains(log.String(), "secret state") || !strings.Contains(log.String(), "invoke_test.go") {
		t.Errorf("log %s", log.String())
	}
}

// T40: on error.
func TestT40_OnError(t *testing.T) {
	t.Parallel()
	plain := errors.New("down")
	for name, c := range map[string]struct {
		err     error
		onError func(error, fine) (int, bool)
		want    string // "" is the original error
	}{
		"recovers":     {plain, func(err error, in fine) (int, bool) { return in.N + len(err.Error()), true }, "5"},
		"declines":     {plain, func(error, fine) (int, bool) { return 0, false }, ""},
		"panics":       {plain, func(error, fine) (int, bool) { panic("no") }, ""},
		"invalid":      {plain, func(error, fine) (int, bool) { return 99, true }, ""},
		"unknown":      {tooldefs.Unknown(plain), nil, ""},
		"not executed": {tooldefs.NotExecuted(plain), nil, ""},
		"transient":    {tooldefs.Transient(plain, 0), nil, ""},
		"timeout":      {netTimeout{}, nil, ""},
		"canceled":     {context.Canceled, nil, ""},
	} {
		if c.onError == nil {
			c.onError = func(error, fine) (int, bool) { t.Errorf("%s: OnError is called", name); return 1, true }
		}
		tool := returns(func() (int, error) { return 0, c.err }, func(s *tooldefs.Spec[fine, int]) {
			s.OnError, s.Output = c.onError, tooldefs.OutputSchema(`{"maximum":10}`)
		})
		got, err := invoke(tool)
		if c.want == "" {
			if !errors.Is(err, c.err) || got.Recovered {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
		} else if err != nil || string(got.JSON) != c.want || !got.Recovered {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	tool := returns(func() (int, error) { cancel(); return 0, plain }, func(s *tooldefs.Spec[fine, int]) {
		s.OnError = func(error, fine) (int, bool) { t.Error("OnError is called after an interruption"); return 1, true }
	})
	if _, err := tool.Invoke(ctx, testCall(), `{"n":1}`); !errors.Is(err, plain) {
		t.Errorf("got %v", err)
	}
}

// T40: OnError is asked of no panic, no timeout of ours and no arguments that do
// not fit.
func TestT40_NotAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tool := tooldefs.Define(tooldefs.Spec[fine, int]{
			Name: "x", Description: "d", Timeout: 10 * time.Second,
			OnError: func(error, fine) (int, bool) { t.Error("OnError is called"); return 1, true },
			Handler: func(ctx context.Context, _ *tooldefs.Call, in fine) (int, error) {
				if in.N == 1 {
					panic("no")
				}
				<-ctx.Done()
				return 0, errors.New("gave up")
			},
		})
		for _, args := range []string{`{"n":1}`, `{"n":2}`, `{"n":"x"}`} {
			if got, err := tool.Run(t.Context(), testCall(), args); err == nil {
				t.Errorf("%s: %+v", args, got)
			}
		}
	})
}

// T35, T42: run.
func TestT35_T42_Run(t *testing.T) {
	t.Parallel()
	slow := func(uninterruptible bool) *tooldefs.Tool {
		return tooldefs.Define(tooldefs.Spec[fine, string]{
			Name: "x", Description: "d", Timeout: 10 * time.Second, Uninterruptible: uninterruptible,
			Handler: func(ctx context.Context, _ *tooldefs.Call, in fine) (string, error) {
				time.Sleep(time.Duration(in.N) * time.Second) // deaf to ctx
				return "done", nil
			},
		})
	}
	for name, c := range map[string]struct {
		seconds         int
		cancel          time.Duration
		uninterruptible bool
		took            time.Duration
		timedOut, done  bool
	}{
		"in time":                       {9, 0, false, 9 * time.Second, false, true},
		"deaf":                          {60, 0, false, 10 * time.Second, true, false},
		"canceled":                      {60, 3 * time.Second, false, 3 * time.Second, false, false},
		"uninterruptible":               {9, 3 * time.Second, true, 9 * time.Second, false, true},
		"uninterruptible and timed out": {60, 3 * time.Second, true, 10 * time.Second, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancel > 0 {
					time.AfterFunc(c.cancel, cancel)
				}
				tool, begin := slow(c.uninterruptible), time.Now()
				got, err := tool.Run(ctx, testCall(), fmt.Sprintf(`{"n":%d}`, c.seconds))
				var timedOut *tooldefs.ToolTimeoutError
				if took := time.Since(begin); took != c.took || errors.As(err, &timedOut) != c.timedOut || (got.Text == "done") != c.done {
					t.Errorf("took %s, got %+v, %v", took, got, err)
				}
				if c.timedOut && err.Error() != "tool x timed out after 10s" {
					t.Errorf("got %v", err)
				}
				time.Sleep(time.Minute) // let the handler end
			})
		})
	}
}

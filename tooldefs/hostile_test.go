package tooldefs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// selfish wraps itself: the standard library follows it for ever.
type selfish struct{}

func (s *selfish) Error() string { return "selfish" }
func (s *selfish) Unwrap() error { return s }

// forked wraps itself twice.
type forked struct{}

func (f *forked) Error() string   { return "forked" }
func (f *forked) Unwrap() []error { return []error{f, nil, f} }

type nilMethods struct{ text string }

func (n *nilMethods) Error() string { return n.text }
func (n *nilMethods) Unwrap() error { return errors.New(n.text) }

type badIs struct{}

func (badIs) Error() string { return "bad Is" }
func (badIs) Is(error) bool { panic("no") }

type badTimeout struct{}

func (badTimeout) Error() string { return "bad Timeout" }
func (badTimeout) Timeout() bool { panic("no") }

// T41: an error that cannot be read leaves open what happened, whatever its own
// methods do, and what is left of the call is defined.
func TestT41_UnreadableErrors(t *testing.T) {
	t.Parallel()
	deep := errors.New("deep")
	for range 100_000 {
		deep = fmt.Errorf("%w", deep)
	}
	for name, err := range map[string]error{
		"nil pointer": (*nilMethods)(nil), "nil Unknown": (*tooldefs.UnknownError)(nil), "nil Public": (*tooldefs.PublicError)(nil),
		"nil CallError": (*tooldefs.CallError)(nil), "empty mark": &tooldefs.TransientError{}, "marked nil pointer": tooldefs.NotExecuted((*nilMethods)(nil)),
		"wraps itself": &selfish{}, "marked": tooldefs.NotExecuted(&selfish{}), "wraps itself twice": &forked{},
		"joined": errors.Join(errors.New("a"), &selfish{}), "Is panics": badIs{}, "Timeout panics": badTimeout{}, "too deep": deep,
	} {
		for class, want := range map[tooldefs.Class]contract.Outcome{tooldefs.AtMostOnce: "unknown", tooldefs.Keyed: "unknown", tooldefs.SafeToRetry: "failed"} {
			tool := returns(func() (any, error) { return "ignored", err }, func(s *tooldefs.Spec[fine, any]) {
				s.Class = class
				s.OnError = func(error, fine) (any, bool) { t.Errorf("%s: OnError is called", name); return nil, true }
			})
			got, failed := invoke(tool)
			if failed == nil || got.Text != "" {
				t.Errorf("%s: got %+v", name, got)
			}
			for from, e := range map[string]error{"Invoke": failed, "the handler": err} {
				if v := tool.Judge(e); v.Outcome != want && name != "empty mark" || v.Retry && name != "empty mark" || !strings.HasPrefix(v.Text, "error: ") {
					t.Errorf("%s, %s, from %s: %+v", name, class, from, v)
				}
			}
		}
	}
}

// P08, T41: a panic's value is worded without following it; a map that contains
// itself killed the process.
func TestT41_OddPanics(t *testing.T) {
	t.Parallel()
	loop := map[string]any{}
	loop["self"] = loop
	list := []any{nil}
	list[0] = list
	for name, value := range map[string]any{
		"map in itself": loop, "list in itself": list, "nil": nil, "error": errors.New("e"), "nil error": (*nilMethods)(nil),
		"func": func() {}, "struct": struct{ M any }{loop}, "bad error": badError{}, "NaN": math.NaN(), "large": strings.Repeat("x", 10<<20), "context": context.Canceled,
	} {
		tool := returns(func() (any, error) { panic(value) }, nil)
		_, err := invoke(tool)
		var panicked *tooldefs.PanicError
		if !errors.As(err, &panicked) || len(panicked.Value) > 500 || tool.Judge(err).Outcome != contract.OutcomeUnknown {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// T07, P08: results that contain themselves or numbers that JSON lacks.
func TestT07_OddResults(t *testing.T) {
	t.Parallel()
	loop := map[string]any{}
	loop["self"] = loop
	list := []any{nil}
	list[0] = list
	for name, value := range map[string]any{
		"map in itself": loop, "list in itself": list, "NaN": math.NaN(), "NaN inside": map[string]any{"a": []float64{1, math.Inf(-1)}},
		"complex": complex(1, 2), "func inside": map[string]any{"f": func() {}}, "channel": make(chan int), "bad number": json.Number("1e"), "bad keys": map[float64]int{1: 1},
	} {
		tool := returns(func() (any, error) { return value, nil }, nil)
		_, err := invoke(tool)
		var invalid *tooldefs.ResultError
		if !errors.As(err, &invalid) || tool.Judge(err).Outcome != contract.OutcomeUnknown {
			t.Errorf("%s: %v", name, err)
		}
	}
	huge, err := invoke(returns(func() (any, error) { return strings.Repeat("x\n", 20<<20), nil }, nil))
	if err != nil || len(huge.Text) != 40<<20 {
		t.Errorf("a huge text: %d bytes, %v", len(huge.Text), err)
	}
}

// T35: a handler whose goroutine ends without a result, as a test's FailNow ends
// it, has ended.
func TestT35_Goexit(t *testing.T) {
	t.Parallel()
	for name, tool := range map[string]*tooldefs.Tool{
		"handler": returns(func() (any, error) { runtime.Goexit(); return nil, nil }, nil),
		"OnError": returns(func() (any, error) { return nil, errors.New("no") }, func(s *tooldefs.Spec[fine, any]) {
			s.OnError = func(error, fine) (any, bool) { runtime.Goexit(); return nil, true }
		}),
		"result": returns(func() (any, error) { return exits{}, nil }, nil),
	} {
		_, err := tool.Run(t.Context(), testCall(), `{"n":1}`)
		if v := tool.Judge(err); v.Outcome != contract.OutcomeUnknown {
			t.Errorf("%s: %v, %+v", name, err, v)
		}
	}
}

type exits struct{}

func (exits) MarshalJSON() ([]byte, error) { runtime.Goexit(); return nil, nil }

// slowIn decodes itself, in its own time.
type slowIn struct{}

var errOdd = errors.New("odd")

func (s *slowIn) UnmarshalJSON(data []byte) error {
	var in struct{ N int }
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	misbehave(in.N)
	return errOdd
}

// misbehave is what an author's function may do instead of answering.
func misbehave(how int) {
	switch how {
	case 1:
		panic("no")
	case 2:
		runtime.Goexit()
	case 3:
		time.Sleep(time.Hour)
	}
}

// T25, T31, T47, P14: what a tool's functions are asked fails closed, and in
// bounded time, when they panic, end their goroutine or never answer.
func TestT25_QuestionsThatAreNotAnswered(t *testing.T) {
	t.Parallel()
	tool, err := tooldefs.Wrap(tooldefs.WrapSpec{
		Name: "x", Description: "d",
		Invoke:         func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return nil, nil },
		TransformArgs:  func(args string) (string, error) { misbehave(how(args)); return args, nil },
		ParallelSafe:   func(args string) bool { misbehave(how(args)); return true },
		Approval:       func(args string) bool { misbehave(how(args)); return false },
		IdempotencyKey: func(args string) string { misbehave(how(args)); return "key" },
		Summary:        func(args string) string { misbehave(how(args)); return "summary" },
	})
	if err != nil {
		t.Fatal(err)
	}
	typed := echo[struct {
		In slowIn `json:"in"`
	}]("typed")
	for n := range 4 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				args, odd := fmt.Sprintf(`{"n":%d}`, n), n > 0
				for range 8 { // also when the questions before are still open
					begin := time.Now()
					checked, parallel := tool.Check(args), tool.ParallelSafe(args)
					needed, _, asked := tool.ApprovalNeeded(args)
					_, overridden, keyed := tool.OverrideKey(args)
					summary := tool.Summary(args)
					if odd != (checked.Problem != "") || odd == parallel || odd != needed || odd != (asked != nil) || odd == overridden || odd != (keyed != nil) || odd == (summary == "summary") {
						t.Errorf("%+v, %v, %v %v, %v %v, %q", checked, parallel, needed, asked, overridden, keyed, summary)
					}
					if got := typed.Check(fmt.Sprintf(`{"in":{"n":%d}}`, n)); got.Problem == "" {
						t.Errorf("typed: %+v", got)
					}
					if took := time.Since(begin); took > 12*time.Second {
						t.Errorf("took %s", took)
					}
				}
				time.Sleep(2 * time.Hour) // let them end
				if got := tool.Check(`{"n":0}`); got.Canonical != `{"n":0}` {
					t.Errorf("afterwards: %+v", got)
				}
			})
		})
	}
}

func how(args string) (n int) {
	_, _ = fmt.Sscanf(args, `{"n":%d}`, &n)
	return n
}

// T02: what Temporal could not count, or its server would refuse for ever.
func TestT02_BeyondBounds(t *testing.T) {
	t.Parallel()
	type s = tooldefs.Spec[fine, fine]
	for want, change := range map[string]func(*s){
		"Timeout is longer":         func(s *s) { s.Timeout = math.MaxInt64 },
		"ApprovalTimeout is longer": func(s *s) { s.ApprovalTimeout = math.MaxInt64 },
		"MaxAttempts is above":      func(s *s) { s.Class, s.MaxAttempts = tooldefs.Keyed, 1<<32 },
		"MaxAttempts is negative":   func(s *s) { s.MaxAttempts = -1 },
		"MaxConcurrency is neg":     func(s *s) { s.MaxConcurrency = -1 },
		"the TaskQueue is not":      func(s *s) { s.TaskQueue = strings.Repeat("q", 1_001) },
		" TaskQueue is not a":       func(s *s) { s.TaskQueue = "/_sys/q" },
		"TaskQueue is not a name":   func(s *s) { s.TaskQueue = "\xff" },
		"names in Env":              func(s *s) { s.Env = []string{"A=B"} },
		"one of the names in Env":   func(s *s) { s.Env = []string{""} },
	} {
		if err := mistake(spec("x", change)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
	if err := mistake(spec("x", func(s *s) { s.Timeout, s.ApprovalTimeout = 365*24*time.Hour, 365*24*time.Hour })); err != nil {
		t.Error(err)
	}
}

package tooldefs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// T04, T43: stream.
func TestT04_T43_Stream(t *testing.T) {
	t.Parallel()
	var seen []string
	tool := tooldefs.DefineStream(tooldefs.Spec[fine, []fine]{Name: "count", Description: "Counts."},
		func(_ context.Context, _ *tooldefs.Call, in fine) iter.Seq2[fine, error] {
			return func(yield func(fine, error) bool) {
				for i := range in.N {
					if i == 3 {
						yield(fine{}, errors.New("enough"))
						return
					}
					if !yield(fine{i}, nil) {
						return
					}
				}
			}
		})
	call := tooldefs.NewCall(tooldefs.CallInfo{Turn: "t", Progress: func(data json.RawMessage) { seen = append(seen, string(data)) }})
	got, err := tool.Invoke(context.Background(), call, `{"n":2}`)
	if err != nil || string(got.JSON) != `[{"n":0},{"n":1}]` || strings.Join(seen, "") != `{"n":0}{"n":1}` {
		t.Errorf("got %s, %v, progress %q", got.JSON, err, seen)
	}
	if got, err := tool.Invoke(context.Background(), call, `{"n":0}`); err != nil || string(got.JSON) != `[]` {
		t.Errorf("got %s, %v", got.JSON, err)
	}
	if _, err := tool.Invoke(context.Background(), call, `{"n":9}`); err == nil || err.Error() != "enough" {
		t.Errorf("got %v", err)
	}
	if err := mistake(func() { tooldefs.DefineStream[fine, int](tooldefs.Spec[fine, []int]{Name: "x", Description: "d"}, nil) }); err == nil {
		t.Error("a stream without a handler is accepted")
	}
}

// T04, T35: each chunk is shown before the handler goes on; the timeout covers
// the whole run and ends the iteration, whether it yields or not.
func TestT04_T35_StreamIsBounded(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]time.Duration{"yields": time.Second, "never yields": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shown, made, ended := 0, 0, false
				tool := tooldefs.DefineStream(tooldefs.Spec[fine, []int]{Name: "count", Description: "Counts.", Timeout: 10*time.Second + 1},
					func(context.Context, *tooldefs.Call, fine) iter.Seq2[int, error] {
						return func(yield func(int, error) bool) {
							defer func() { ended = true }()
							for {
								time.Sleep(between) // deaf to ctx
								if made++; !yield(made, nil) {
									return
								}
								if shown != made {
									t.Errorf("%d chunks made, %d shown", made, shown)
								}
							}
						}
					})
				call := tooldefs.NewCall(tooldefs.CallInfo{Turn: "t", Progress: func(json.RawMessage) { shown++ }})
				begin := time.Now()
				got, err := tool.Run(t.Context(), call, `{"n":1}`)
				var timedOut *tooldefs.ToolTimeoutError
				if took := time.Since(begin); !errors.As(err, &timedOut) || took != 10*time.Second+1 || got.JSON != nil {
					t.Errorf("took %s, %s, %v", took, got.JSON, err)
				}
				time.Sleep(2 * time.Hour) // let it come to its next chunk
				synctest.Wait()
				if !ended || made > 11 {
					t.Errorf("ended %v after %d chunks", ended, made)
				}
			})
		})
	}
}

// T11: the deadline of the call is the handler's ctx's.
func TestT11_Deadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tool := tooldefs.Define(tooldefs.Spec[fine, string]{
			Name: "x", Description: "d", Timeout: 7 * time.Second,
			Handler: func(ctx context.Context, _ *tooldefs.Call, _ fine) (string, error) {
				deadline, ok := ctx.Deadline()
				return fmt.Sprint(time.Until(deadline), ok), nil
			},
		})
		if got, err := tool.Run(t.Context(), testCall(), `{"n":1}`); err != nil || got.Text != "7s true" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// T10, T11: call.
func TestT10_T11_Call(t *testing.T) {
	t.Parallel()
	var kept *tooldefs.Call
	progress := 0
	tool := tooldefs.Define(tooldefs.Spec[fine, string]{
		Name: "x", Description: "d", Env: []string{"TOKEN", "UNSET"},
		Handler: func(_ context.Context, call *tooldefs.Call, in fine) (string, error) {
			kept = call
			call.Logger().Info("hello")
			call.Progress(func() {}) // dropped
			call.Progress(1)
			if in.N == 2 {
				call.Env("HOME")
			}
			return fmt.Sprint(call.IdempotencyKey(), call.TurnID(), call.SessionID(), call.Ordinal(), call.Attempt(), call.Env("TOKEN"), call.Env("UNSET")), nil
		},
	})
	env := map[string]string{"TOKEN": "tk", "HOME": "/root"}
	call := tooldefs.NewCall(tooldefs.CallInfo{
		Key: "k", Turn: "t", Session: "s", Ordinal: 3, Attempt: 2,
		Progress: func(json.RawMessage) { progress++ },
		Env:      func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	})
	got, err := tool.Invoke(context.Background(), call, `{"n":1}`)
	if err != nil || got.Text != "kts3 2tk" || progress != 1 {
		t.Errorf("got %+v, %v, %d", got, err, progress)
	}
	kept.Progress(1) // after the end: dropped, and never a panic in a stray goroutine
	if progress != 1 {
		t.Error("progress after the end")
	}
	var panicked *tooldefs.PanicError
	if _, err := tool.Invoke(context.Background(), call, `{"n":2}`); !errors.As(err, &panicked) || !strings.Contains(err.Error(), "HOME without declaring") {
		t.Errorf("an undeclared variable: %v", err)
	}
	for name, c := range map[string]*tooldefs.Call{"nil": nil, "zero": {}, "ended": kept} {
		var outside *tooldefs.OutsideCallError
		_, err := tool.Invoke(context.Background(), c, `{"n":1}`)
		if !errors.As(err, &outside) || err.Error() != `tool "x" called outside a running turn` || tool.Judge(err).Outcome != contract.OutcomeNotExecuted {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := mistake(func() { new(tooldefs.Call).IdempotencyKey() }); err == nil || !strings.Contains(err.Error(), "outside a running turn") {
		t.Errorf("a zero Call: %v", err)
	}
}

// T11: call is safe for concurrent use.
func TestT11_CallIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	tool := tooldefs.Define(tooldefs.Spec[fine, int]{
		Name: "x", Description: "d",
		Handler: func(_ context.Context, call *tooldefs.Call, _ fine) (int, error) {
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() { call.Progress(i); _ = call.Env; _ = call.Attempt() })
			}
			go call.Progress("late")
			wg.Wait()
			return 0, nil
		},
	})
	if _, err := tool.Invoke(context.Background(), tooldefs.NewCall(tooldefs.CallInfo{Turn: "t", Progress: func(json.RawMessage) {}}), `{"n":1}`); err != nil {
		t.Error(err)
	}
}

package toolcall

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// T49: after an unknown outcome the world outside is asked by key. What happened
// is recorded as the result; what did not happen runs once more under the same
// key; else the outcome stays unknown. The log says which way it went.
func TestT49_ReconcileInATurn(t *testing.T) {
	t.Parallel()
	const happened, didNot, cannot = 1, 2, 3
	var mu sync.Mutex
	keys := map[int][]string{}
	tool := note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Handler = func(_ context.Context, call *tooldefs.Call, in noteIn) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			if keys[in.N] = append(keys[in.N], call.IdempotencyKey()); len(keys[in.N]) == 1 {
				return nil, tooldefs.Unknown(errors.New("the line went dead"))
			}
			return fmt.Sprint("run again: ", in.N), nil
		}
		s.Reconcile = func(_ context.Context, call *tooldefs.Call, in noteIn) (tooldefs.Reconciled[any], error) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case !slices.Contains(keys[in.N], call.IdempotencyKey()):
				return tooldefs.Reconciled[any]{}, errors.New("another key")
			case in.N == happened:
				return tooldefs.Happened[any]("receipt 7"), nil
			case in.N == didNot:
				return tooldefs.DidNotHappen[any](), nil
			}
			return tooldefs.CannotTell[any]("the book is closed"), nil
		}
	})
	out, read := turn(t, []*tooldefs.Tool{tool}, calls(happened), calls(didNot), calls(cannot))
	for i, want := range []struct {
		outcome contract.Outcome
		how     string
		text    string
		runs    int
	}{
		{contract.OutcomeDone, contract.HowReconciled, "receipt 7", 1},
		{contract.OutcomeDone, "", "run again: 2", 2},
		{contract.OutcomeUnknown, "", "the outcome of note is unknown: the line went dead", 1},
	} {
		e, arrived := out.Effects[i], keys[i+1]
		if e.Outcome != want.outcome || !strings.Contains(read[i], want.text) || len(arrived) != want.runs || len(slices.Compact(arrived)) != 1 || arrived[0] != e.Key {
			t.Errorf("call %d: %+v after %d runs; read %q", i+1, e, len(arrived), read[i])
		}
		if want.how != "" && e.How != want.how {
			t.Errorf("call %d became known by %q", i+1, e.How)
		}
	}
}

// T48: a fresh nonce in the arguments makes no second execution in a turn,
// neither beside nor after the first; another turn with the same override does
// its own.
func TestT48_OverrideKeyIsOfItsTurn(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var keys []string
	tool := note(func(s *tooldefs.Spec[noteIn, any]) {
		s.ParallelSafe = tooldefs.Always
		s.IdempotencyKey = func(noteIn) string { return "order 1" }
		s.Handler = func(_ context.Context, call *tooldefs.Call, in noteIn) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			keys = append(keys, call.IdempotencyKey())
			return fmt.Sprint("ran for ", in.N), nil
		}
	})
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{tool},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{calls(1), calls(2)}}, {Calls: []agenttest.ScriptCall{calls(3)}}, {Text: "done"}}},
	})
	for turns := 1; turns <= 2; turns++ {
		out := b.Run("go")
		for _, m := range out.Messages {
			if m.Role == contract.RoleTool && m.Content != "ran for 1" {
				t.Errorf("turn %d: the model read %q", turns, m.Content)
			}
		}
		if len(keys) != turns || len(out.Effects) != 3 {
			t.Errorf("after turn %d: %d executions", turns, len(keys))
		}
	}
	if keys[0] == keys[1] {
		t.Error("two turns share a key")
	}
}

// T35, T41: handlers that end in no way a handler should: the call ends, with a
// defined outcome and clean words, and the next one runs.
func TestT41_HandlersThatMisbehave(t *testing.T) {
	t.Parallel()
	loop := map[string]any{}
	loop["self"] = loop
	tool := note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Handler = func(ctx context.Context, call *tooldefs.Call, in noteIn) (any, error) {
			switch in.N {
			case 1:
				runtime.Goexit()
			case 2:
				panic(loop)
			case 3:
				return nil, (*tooldefs.UnknownError)(nil)
			case 4: // what it leaves behind comes late
				go func() {
					<-ctx.Done()
					call.Progress("late")
				}()
				return "left something behind", nil
			case 5:
				return loop, nil
			}
			return "fine", nil
		}
	})
	out, read := turn(t, []*tooldefs.Tool{tool}, calls(1), calls(2), calls(3), calls(4), calls(5), calls(6))
	for i, want := range []struct {
		outcome contract.Outcome
		text    string
	}{
		{contract.OutcomeUnknown, "the outcome of note is unknown: internal error"},
		{contract.OutcomeUnknown, "the outcome of note is unknown: internal error"},
		{contract.OutcomeUnknown, "the outcome of note is unknown: the error it ended with cannot be read"},
		{contract.OutcomeDone, "left something behind"},
		{contract.OutcomeUnknown, "note ran, but its result is not valid"},
		{contract.OutcomeDone, "fine"},
	} {
		if e := out.Effects[i]; e.Outcome != want.outcome || e.Attempts != 1 || !strings.Contains(read[i], want.text) {
			t.Errorf("call %d: %s after %d attempts, read %q", i+1, e.Outcome, e.Attempts, read[i])
		}
	}
	for _, never := range []string{"goroutine ", "unknown_test.go", "map[", "interface {}"} {
		if recorded(t, out, never) {
			t.Errorf("the history has %q", never)
		}
	}
}

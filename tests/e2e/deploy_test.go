package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type payInput struct {
	Amount int `json:"amount"`
}

// A tool that a deploy cuts is not reported as failed: a Keyed one runs again
// under the same key on the next worker, an AtMostOnce one is unknown and is
// not repeated.
func TestDeploy_CutsATool(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class   tooldefs.Class
		outcome contract.Outcome
		starts  int
	}{
		{tooldefs.Keyed, contract.OutcomeDone, 2},
		{tooldefs.AtMostOnce, contract.OutcomeUnknown, 1},
	} {
		t.Run(string(c.class), func(t *testing.T) {
			t.Parallel()
			started := make(chan string, 10)
			tool := tooldefs.Define(tooldefs.Spec[payInput, string]{
				Name: "pay", Description: "Pays.", Class: c.class, Timeout: time.Minute,
				Handler: func(ctx context.Context, call *tooldefs.Call, _ payInput) (string, error) {
					started <- call.IdempotencyKey()
					if call.Attempt() == 1 {
						<-ctx.Done() // the first one is cut
						return "", ctx.Err()
					}
					return "paid", nil
				},
			})
			b := agenttest.NewBench(t, agenttest.BenchOptions{
				Server: server, Tools: []*tooldefs.Tool{tool}, NoWorker: true, StopTimeout: 200 * time.Millisecond,
				Script: agenttest.Script{Steps: []agenttest.Step{
					{Calls: []agenttest.ScriptCall{{Name: "pay", Args: map[string]any{"amount": 1}}}}, {Text: "done"},
				}},
			})
			stop := b.StartWorker()
			turn := b.Start("pay")
			first := <-started
			stop()
			b.StartWorker()
			out := b.Wait(turn)
			e := out.Effects[0]
			if e.Outcome != c.outcome || strings.Contains(e.Text, "failed") {
				t.Errorf("outcome %s, want %s: %s", e.Outcome, c.outcome, e.Text)
			}
			if e.Key != first || len(started) != c.starts-1 {
				t.Errorf("%d starts, want %d; key %s, first %s", len(started)+1, c.starts, e.Key, first)
			}
		})
	}
}

// A canceled turn ends as canceled, and says what became of its running call.
func TestCancel_WhileAToolRuns(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 1)
	tool := tooldefs.Define(tooldefs.Spec[payInput, string]{
		Name: "pay", Description: "Pays.", Timeout: time.Minute,
		Handler: func(ctx context.Context, _ *tooldefs.Call, _ payInput) (string, error) {
			started <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err()
		},
	})
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{tool},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{
			{Name: "pay", Args: map[string]any{"amount": 1}}, {Name: "pay", Args: map[string]any{"amount": 2}},
		}}}},
	})
	turn := b.Start("pay")
	<-started
	if err := b.Temporal.CancelWorkflow(t.Context(), turn.ID, turn.RunID); err != nil {
		t.Fatal(err)
	}
	out := b.Wait(turn)
	if out.Result.Status != contract.StatusCanceled || out.Err == nil {
		t.Fatalf("%+v, %v", out.Result, out.Err)
	}
	if got := []contract.Outcome{out.Effects[0].Outcome, out.Effects[1].Outcome}; got[0] != contract.OutcomeInterrupted || got[1] != contract.OutcomeNotStarted {
		t.Errorf("outcomes %v", got)
	}
}

// R10, P04: the same turn id is the same turn; nothing runs twice.
func TestStart_TheSameIDIsTheSameTurn(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Script: agenttest.Script{Steps: []agenttest.Step{{Text: "hello"}}}})
	first := b.Run("hi")
	again, err := b.Turns.Start(t.Context(), sameTurn(first.Turn.ID))
	if err != nil {
		t.Fatal(err)
	}
	if out := b.Wait(again); !again.Existed || again.RunID != first.Turn.RunID || out.Result.Text != "hello" {
		t.Errorf("%+v, %+v", again, out.Result)
	}
	if n := len(b.Model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

func sameTurn(id string) turnkeel.TurnRequest {
	return turnkeel.TurnRequest{TurnID: id, Input: contract.TurnInput{
		Agent: agenttest.AgentName, Messages: []contract.Message{{Role: contract.RoleUser, Content: "hi"}},
	}}
}

// A Keyed call's later error does not wipe out an earlier attempt that may
// have acted, and a tool that ran with an unusable result has run: in both the
// model's repeat is the same effect, never a second one.
func TestRepeat_IsTheSameEffect(t *testing.T) {
	t.Parallel()
	ask := agenttest.Step{Calls: []agenttest.ScriptCall{{Name: "pay", Args: map[string]any{"amount": 1}}}}
	script := agenttest.Script{Steps: []agenttest.Step{ask, ask, {Text: "done"}}}
	for _, c := range []struct {
		name    string
		class   tooldefs.Class
		handler func(*tooldefs.Call) (any, error)
		starts  int
	}{
		{"transient, then an error", tooldefs.Keyed, func(call *tooldefs.Call) (any, error) {
			if call.Attempt() == 1 {
				return nil, tooldefs.Transient(errors.New("no answer"), time.Millisecond)
			}
			return nil, errors.New("409: key in progress")
		}, 4},
		{"unusable result", tooldefs.AtMostOnce, func(*tooldefs.Call) (any, error) { return func() {}, nil }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			keys := make(chan string, 10)
			tool := tooldefs.Define(tooldefs.Spec[payInput, any]{
				Name: "pay", Description: "Pays.", Class: c.class, Timeout: time.Minute,
				Handler: func(_ context.Context, call *tooldefs.Call, _ payInput) (any, error) {
					keys <- call.IdempotencyKey()
					return c.handler(call)
				},
			})
			b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{tool}, Script: script})
			out := b.Run("pay")
			close(keys)
			seen, starts := map[string]bool{}, 0
			for k := range keys {
				seen[k] = true
				starts++
			}
			if len(seen) != 1 || starts != c.starts || out.Effects[0].Outcome != contract.OutcomeUnknown {
				t.Errorf("%d keys, %d starts (want 1 and %d), outcome %s", len(seen), starts, c.starts, out.Effects[0].Outcome)
			}
		})
	}
}

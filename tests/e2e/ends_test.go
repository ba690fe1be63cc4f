package e2e

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// hangingTool is "pay": started is told that a call runs, and each runs until its
// ctx ends.
func hangingTool(started chan<- struct{}) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[payInput, string]{
		Name: "pay", Description: "Pays.", Timeout: time.Minute,
		Handler: func(ctx context.Context, _ *tooldefs.Call, _ payInput) (string, error) {
			started <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err()
		},
	})
}

// R01: a turn takes an agent and messages, and gives status, words, usage and
// counts of its effects, whichever way it ends; never the messages.
func TestTurn_EveryStatus(t *testing.T) {
	t.Parallel()
	pays := agenttest.Step{Calls: []agenttest.ScriptCall{{Name: "pay", Args: map[string]any{"amount": 1}}}}
	usage := agenttest.StepUsage{Prompt: 10, Completion: 2}
	pays.Usage = usage
	last := agenttest.Step{Text: "bye", Usage: usage}
	refused := agenttest.Step{Failures: []agenttest.StepFailure{{Status: 400}}}
	quick := tooldefs.Define(tooldefs.Spec[payInput, string]{
		Name: "pay", Description: "Pays.",
		Handler: func(context.Context, *tooldefs.Call, payInput) (string, error) { return "paid", nil },
	})
	one, cut := contract.EffectCounts{Done: 1}, contract.EffectCounts{Unknown: 1}
	for _, c := range []struct {
		status  contract.Status
		steps   []agenttest.Step
		limits  contract.Limits
		act     func(b *agenttest.Bench, turn *turnkeel.Turn) error // once the tool runs
		text    string
		answers int
		effects contract.EffectCounts
	}{
		{status: contract.StatusCompleted, steps: []agenttest.Step{pays, last}, text: "bye", answers: 2, effects: one},
		{status: contract.StatusLimitReached, steps: []agenttest.Step{pays, last}, limits: contract.Limits{MaxSteps: 1}, text: "bye", answers: 2, effects: one},
		{status: contract.StatusFailed, steps: []agenttest.Step{refused}},
		{
			status: contract.StatusTimedOut, steps: []agenttest.Step{pays}, limits: contract.Limits{MaxWallClock: contract.Duration(2 * time.Second)},
			act:     func(*agenttest.Bench, *turnkeel.Turn) error { return nil },
			answers: 1, effects: cut,
		},
		{
			status: contract.StatusCanceled, steps: []agenttest.Step{pays},
			act: func(b *agenttest.Bench, turn *turnkeel.Turn) error {
				return b.Temporal.CancelWorkflow(t.Context(), turn.ID, turn.RunID)
			},
			answers: 1, effects: cut,
		},
		{
			status: contract.StatusInterrupted, steps: []agenttest.Step{pays},
			act: func(b *agenttest.Bench, turn *turnkeel.Turn) error {
				return b.Turns.Interrupt(t.Context(), turn.ID, contract.InterruptRequest{By: "ana"})
			},
			answers: 1, effects: cut,
		},
	} {
		t.Run(string(c.status), func(t *testing.T) {
			t.Parallel()
			started := make(chan struct{}, 1)
			tool := quick
			if c.act != nil {
				tool = hangingTool(started)
			}
			b := agenttest.NewBench(t, agenttest.BenchOptions{
				Server: server, Tools: []*tooldefs.Tool{tool}, Agent: contract.Agent{Limits: c.limits},
				Script: agenttest.Script{Turns: []agenttest.ScriptTurn{{When: "pay", Steps: c.steps}}, Steps: []agenttest.Step{last}},
			})
			turn := b.Start("pay")
			if c.act != nil {
				<-started
				if err := c.act(b, turn); err != nil {
					t.Fatal(err)
				}
			}
			got := b.Wait(turn).Result
			if got.Status != c.status || got.Text != c.text || got.Messages != nil || (got.Reason == "") != (c.status == contract.StatusCompleted || c.status == contract.StatusCanceled) {
				t.Errorf("%+v", got)
			}
			if got.Usage.Total() != 12*c.answers {
				t.Errorf("usage %+v", got.Usage)
			}
			if diff := cmp.Diff(c.effects, got.Effects); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// R09: `temporal workflow terminate` tells the workflow nothing, but the running
// tool hears of it in its next heartbeat, and its child process ends.
func TestTerminate_EndsTheChildProcess(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}, 1), make(chan error, 1)
	tool := tooldefs.Define(tooldefs.Spec[payInput, string]{
		Name: "pay", Description: "Pays.", Timeout: 5 * time.Minute,
		Handler: func(ctx context.Context, _ *tooldefs.Call, _ payInput) (string, error) {
			child := exec.CommandContext(ctx, "sleep", "300")
			if err := child.Start(); err != nil {
				return "", err
			}
			started <- struct{}{}
			err := child.Wait()
			ended <- err
			return "", err
		},
	})
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{tool},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{{Name: "pay", Args: map[string]any{"amount": 1}}}}}},
	})
	turn := b.Start("pay")
	<-started
	if err := b.Temporal.TerminateWorkflow(t.Context(), turn.ID, turn.RunID, "test"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the child process ran to its end")
	}
	out := b.Wait(turn)
	if e := out.Effects[0]; e.Outcome != contract.OutcomeUnknown || !e.Derived {
		t.Errorf("%+v", e)
	}
}

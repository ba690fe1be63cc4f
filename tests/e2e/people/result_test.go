package people

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// R01: a turn takes an agent's name, the user's messages and what was said
// before, and returns status, final text, usage and a summary of effects. R11: a
// call that waits is told of with the time when it was asked about.
func TestTurnInAndOut(t *testing.T) {
	t.Parallel()
	type in struct{}
	pay := tooldefs.Define(tooldefs.Spec[in, string]{
		Name: "pay", Description: "Pays.", Approval: tooldefs.Always,
		Handler: func(context.Context, *tooldefs.Call, in) (string, error) { return "paid", nil },
	})
	usage := agenttest.StepUsage{Prompt: 7, Completion: 3}
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{pay}, Script: agenttest.Script{Steps: []agenttest.Step{
		{Calls: []agenttest.ScriptCall{{Name: "pay", Args: map[string]any{}}}, Usage: usage}, {Text: "It is paid.", Usage: usage},
	}}})
	user := func(text string) contract.Message { return contract.Message{Role: contract.RoleUser, Content: text} }
	turn, err := b.Turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent:    agenttest.AgentName,
		Base:     []contract.Message{user("hello"), {Role: contract.RoleAssistant, Content: "hi"}},
		Messages: []contract.Message{user("pay"), user("please")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range turn.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != turnkeel.EventWaiting {
			continue
		}
		if !e.Time.Equal(e.Pending.Asked) {
			t.Errorf("told as asked at %s, was at %s", e.Time, e.Pending.Asked)
		}
		if _, err := b.Turns.Decide(t.Context(), turn.ID, contract.DecideRequest{Key: e.Key, Digest: e.Pending.Digest, Approve: true, By: "ann"}); err != nil {
			t.Fatal(err)
		}
	}
	got := b.Wait(turn).Result
	want := contract.TurnResult{
		Status: contract.StatusCompleted, Text: "It is paid.", Steps: 2, Usage: contract.Usage{PromptTokens: 14, CompletionTokens: 6},
		Effects: contract.EffectCounts{Done: 1}, Runs: 1, RunID: turn.RunID,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, want := said(b.Model.Requests()[0]), "user:hello | assistant:hi | user:pay | user:please"; got != want {
		t.Errorf("the model read %q, want %q", got, want)
	}
}

// R01: each way to end has its status, and what was cut off says no more than
// that.
func TestStatuses(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Script: agenttest.Script{Hook: func(ctx context.Context, r agenttest.ModelRequest) *agenttest.Step {
		if r.User == "wait" {
			<-ctx.Done()
		}
		if len(r.Tools) > 0 && r.User == "loop" {
			return &agenttest.Step{Calls: []agenttest.ScriptCall{{Name: "nothing", Args: map[string]any{}}}}
		}
		return &agenttest.Step{Text: "fine"}
	}}, Tools: []*tooldefs.Tool{tooldefs.Define(tooldefs.Spec[struct{}, string]{
		Name: "nothing", Description: "Does nothing.",
		Handler: func(context.Context, *tooldefs.Call, struct{}) (string, error) { return "", nil },
	})}})
	stops := endings()
	for _, tt := range []struct {
		want   contract.Status
		agent  string
		text   string
		limits contract.Limits
		stop   string
	}{
		{want: contract.StatusCompleted, text: "go"},
		{want: contract.StatusLimitReached, text: "loop", limits: contract.Limits{MaxSteps: 1}},
		{want: contract.StatusTimedOut, text: "wait", limits: contract.Limits{MaxWallClock: contract.Duration(time.Second)}},
		{want: contract.StatusFailed, agent: "nobody", text: "go"},
		{want: contract.StatusInterrupted, text: "wait", stop: "interrupt"},
		{want: contract.StatusCanceled, text: "wait", stop: "cancel"},
	} {
		t.Run(string(tt.want), func(t *testing.T) {
			if tt.agent == "" {
				tt.agent = agenttest.AgentName
			}
			turn, err := b.Turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
				Agent: tt.agent, Messages: []contract.Message{{Role: contract.RoleUser, Content: tt.text}}, Limits: &tt.limits,
			}})
			if err != nil {
				t.Fatal(err)
			}
			var kinds []turnkeel.EventKind
			for e, err := range turn.Events(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				kinds = append(kinds, e.Kind)
				if e.Kind == turnkeel.EventStep && tt.stop != "" {
					stops[tt.stop](t, b, turn.ID)
				}
				if e.Kind == turnkeel.EventAnswer && tt.stop != "" && e.Text != "canceled" {
					t.Errorf("the answer that was cut off is told as %q", e.Text)
				}
			}
			if got := b.Wait(turn).Result; got.Status != tt.want {
				t.Errorf("%+v", got)
			}
			if !slices.Contains(kinds, turnkeel.EventDone) {
				t.Errorf("%v", kinds)
			}
		})
	}
}

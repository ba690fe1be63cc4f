package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// notRunBench serves an agent whose first answer asks for five calls, of which
// the fourth runs: the others are denied, invalid, of no tool, and asked about
// in vain.
func notRunBench(t *testing.T) *agenttest.Bench {
	t.Helper()
	spec := tooldefs.Spec[payInput, string]{
		Name: "pay", Description: "Pays.",
		Handler: func(context.Context, *tooldefs.Call, payInput) (string, error) { return "paid", nil },
	}
	asks := spec
	asks.Name, asks.Approval, asks.ApprovalTimeout = "ask", tooldefs.Always, time.Second
	call := func(tool, args string) agenttest.ScriptCall { return agenttest.ScriptCall{Name: tool, Raw: args} }
	return agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{tooldefs.Define(spec), tooldefs.Define(asks)},
		Agent: contract.Agent{Policy: &contract.Policy{Default: contract.PolicyAllow, Rules: []contract.PolicyRule{{
			ID:   "big",
			When: contract.PolicyWhen{Args: []contract.ArgCondition{{Pointer: "/cents", GT: "100"}}},
			Then: contract.PolicyThen{Action: contract.PolicyDeny, Reason: "people pay that much"},
		}}}},
		Script: agenttest.Script{Steps: []agenttest.Step{
			{Calls: []agenttest.ScriptCall{
				call("pay", `{"cents":101}`), call("pay", `{"cents":"x"}`), call("steal", `{}`), call("pay", `{"cents":4}`), call("ask", `{"cents":5}`),
			}},
			{Text: "done"},
		}},
	})
}

// R24, R31: who follows a turn sees each call that did not run, with the reason,
// as text, as JSON and afterwards, from what was recorded anyway.
func TestNotRun(t *testing.T) {
	t.Parallel()
	b := notRunBench(t)
	turn := "notrun-" + b.Queue
	reasons := []string{
		"denied by rule big: pay not allowed. reason: people pay that much",
		"invalid: ",
		"invalid: ",
		"expired by rule default: ",
	}
	followed := ask(t, "run", "--agent", agenttest.AgentName, "--task-queue", b.Queue, "--turn-id", turn, "pay")
	shown := ask(t, "show", turn)
	if followed.code != 0 || shown.code != 0 {
		t.Fatalf("%+v\n%+v", followed, shown)
	}
	for _, text := range []string{followed.out, ask(t, "watch", turn).out} {
		var lines []string
		for line := range strings.Lines(text) {
			if _, what, ok := strings.Cut(line, "  not run, "); ok {
				lines = append(lines, what)
			}
		}
		if len(lines) != len(reasons) {
			t.Fatalf("%d lines\n%s", len(lines), text)
		}
		for i, want := range reasons {
			if !strings.HasPrefix(lines[i], want) {
				t.Errorf("line %d is %q, want %q", i, lines[i], want)
			}
		}
	}
	for _, want := range []string{"denied: pay not allowed. reason: people pay that much\n", "invalid: "} {
		if !strings.Contains(shown.out, want) {
			t.Errorf("show lacks %q:\n%s", want, shown.out)
		}
	}
	checkNotRunJSON(t, turn)
}

func checkNotRunJSON(t *testing.T, turn string) {
	t.Helper()
	type call struct {
		Ordinal int
		Tool    string
		Args    string
		Outcome contract.Outcome
		Problem contract.ProblemKind
	}
	var got []call
	dec := json.NewDecoder(strings.NewReader(ask(t, "watch", turn, "-o", "json").out))
	for dec.More() {
		var e turnkeel.Event
		if err := dec.Decode(&e); err != nil {
			t.Fatal(err)
		}
		if e.Kind != turnkeel.EventToolNotRun {
			continue
		}
		got = append(got, call{e.Ordinal, e.Tool, e.Args, e.Outcome, e.Problem})
		if e.Text == "" || e.Step != 1 || e.Time.IsZero() {
			t.Errorf("%+v", e)
		}
	}
	want := []call{
		{1, "pay", `{"cents":101}`, contract.OutcomeDenied, contract.ProblemPolicy},
		{2, "pay", `{"cents":"x"}`, contract.OutcomeInvalid, contract.ProblemArguments},
		{3, "steal", `{}`, contract.OutcomeInvalid, contract.ProblemUnknownTool},
		{5, "ask", `{"cents":5}`, contract.OutcomeExpired, ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

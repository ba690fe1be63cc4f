package cli

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// TestRetrying_CauseIsVisible (issue: the model wire): while a model call waits
// for its next attempt, its cause stands in the server's description of it,
// which the Web UI shows, in Turn.Events, `run` and `show`.
func TestRetrying_CauseIsVisible(t *testing.T) {
	t.Parallel()
	const cause = "the shop's quota of today is used up"
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Script: agenttest.Script{Steps: []agenttest.Step{{
		Text: "done", Failures: []agenttest.StepFailure{{Status: 429, Message: cause, Headers: map[string]string{"Retry-After": "600"}}},
	}}}})
	dir := t.TempDir()
	follower := command(t, dir, starter, onServer(), "run", "--agent", agenttest.AgentName, "--task-queue", b.Queue, "--turn-id", b.Queue, "go")
	out, err := follower.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follower.Start(); err != nil {
		t.Fatal(err)
	}
	lines, retry := bufio.NewScanner(out), ""
	for retry == "" && lines.Scan() {
		if strings.Contains(lines.Text(), "retry  model, attempt 2: ") {
			retry = lines.Text()
		}
	}
	if !strings.Contains(retry, cause) {
		t.Errorf("run says %q", retry)
	}

	event := turnkeel.Event{}
	for e, err := range b.Turns.Turn(t.Context(), b.Queue, "").Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == turnkeel.EventRetrying {
			event = e
			break
		}
	}
	if !strings.Contains(event.Text, cause) || event.Attempt != 2 || event.Tool != "" {
		t.Errorf("event %+v", event)
	}
	described, err := b.Temporal.DescribeWorkflow(t.Context(), b.Queue, "")
	if err != nil {
		t.Fatal(err)
	}
	pending := described.RawResponse.GetPendingActivities()
	if len(pending) != 1 || !strings.Contains(pending[0].GetLastFailure().GetMessage(), cause) {
		t.Errorf("pending activities %v", pending)
	}

	show := finish(t, command(t, dir, starter, onServer(), "show", b.Queue))
	if !strings.Contains(show.out, "retry: model, attempt 2 at ") || !strings.Contains(show.out, cause) {
		t.Errorf("show says:\n%s%s", show.out, show.errOut)
	}
	var report struct {
		Retrying []struct {
			Activity, Cause, Next string
			Attempt               int
		}
	}
	show = finish(t, command(t, dir, starter, onServer(), "show", b.Queue, "-o", "json"))
	if err := json.Unmarshal([]byte(show.out), &report); err != nil {
		t.Fatalf("%v\n%s", err, show.out)
	}
	if r := report.Retrying; len(r) != 1 || r[0].Activity != contract.ModelActivityID(1) || r[0].Attempt != 2 || r[0].Next == "" || !strings.Contains(r[0].Cause, cause) {
		t.Errorf("show says %+v", r)
	}
	if err := b.Turns.Interrupt(t.Context(), b.Queue, contract.InterruptRequest{}); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // to its end
	}
	_ = follower.Wait() // an interrupted turn is exit code 1
}

// TestShow_UsageAndCost (issue: the model wire): tokens are summed by kind; they
// cost something where a price is known, by the user's file first.
func TestShow_UsageAndCost(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Script: agenttest.Script{Steps: []agenttest.Step{
		{Calls: []agenttest.ScriptCall{{Name: "nope"}}, Usage: agenttest.StepUsage{Prompt: 1000, Cached: 400, Completion: 100, Reasoning: 60}},
		{Text: "done", Usage: agenttest.StepUsage{Prompt: 2000, Cached: 600, Completion: 50, Reasoning: 10}},
	}}})
	turn := b.Run("go").Turn.ID
	dir := t.TempDir()
	own := filepath.Join(dir, "prices.yaml")
	if err := os.WriteFile(own, []byte("as_of: 2026-11-01\nmodels:\n  openai/scripted: {input: 10, cached: 1, output: 100}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const tokens = "tokens: 3150 (prompt 3000, of it cached 1000; completion 150, of it reasoning 70)"
	text := finish(t, command(t, dir, starter, onServer(), "show", turn)).out
	if !strings.Contains(text, tokens+"\n") { // the model is in no table
		t.Errorf("no price is known:\n%s", text)
	}
	priced := append(onServer(), "TURNKEEL_PRICES="+own)
	text = finish(t, command(t, dir, starter, priced, "show", turn)).out
	if !strings.Contains(text, tokens+" · about $0.0360 by prices as of 2026-11-01") {
		t.Errorf("with a price:\n%s", text)
	}
	for _, args := range [][]string{ // both end with the same line
		{"run", "--agent", agenttest.AgentName, "--task-queue", b.Queue, "go"},
		{"send", "cost-" + b.Queue, "--agent", agenttest.AgentName, "--task-queue", b.Queue, "go"},
	} {
		if r := finish(t, command(t, dir, starter, priced, args...)); !strings.HasSuffix(r.out, tokens+" · about $0.0360 by prices as of 2026-11-01\n") {
			t.Errorf("%s ends with:\n%s%s", args[0], r.out, r.errOut)
		}
	}
	var report struct {
		Usage contract.Usage
		Cost  *float64 `json:"cost_usd"`
	}
	if err := json.Unmarshal([]byte(finish(t, command(t, dir, starter, priced, "show", turn, "-o", "json")).out), &report); err != nil {
		t.Fatal(err)
	}
	want := contract.Usage{PromptTokens: 3000, CachedTokens: 1000, CompletionTokens: 150, ReasoningTokens: 70}
	if report.Usage != want || report.Cost == nil || *report.Cost < 0.03599 || *report.Cost > 0.03601 {
		t.Errorf("%+v", report)
	}
	r := finish(t, command(t, dir, starter, append(onServer(), "TURNKEEL_PRICES="+dir+"/nope"), "show", turn))
	if r.code != 1 || !strings.Contains(r.errOut, "TURNKEEL_PRICES") {
		t.Errorf("a file that is not there: exit code %d: %s", r.code, r.errOut)
	}
}

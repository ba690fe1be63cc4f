package fold_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// recorded are the histories of the replay corpus, by name.
func recorded(t *testing.T) map[string][]*historypb.HistoryEvent {
	t.Helper()
	files, err := filepath.Glob("../../tests/replay/testdata/*.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d recorded histories, %v", len(files), err)
	}
	all := map[string][]*historypb.HistoryEvent{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		h, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName(), contract.WorkflowTurn) {
			all[filepath.Base(file)] = h.GetEvents()
		}
	}
	return all
}

// long is a turn of n steps whose results are as given.
func long(t testing.TB, n int, text string) *history {
	h := &history{t: t}
	h.start(contract.TurnInput{Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}})
	var entries []contract.Entry
	for step := 1; step <= n; step++ {
		id := contract.ModelActivityID(step)
		model := h.schedule(id, contract.ActivityCallModel, contract.CallModelInput{Agent: "a", Step: step, Ordinal: step, Entries: entries})
		answer := contract.CallModelResult{Calls: []contract.PlannedCall{{
			WireID: "w" + strconv.Itoa(step), Name: "look", Args: `{"n":` + strconv.Itoa(step) + `}`, Run: &contract.RunPlan{Class: contract.ClassSafeToRetry},
		}}}
		if step == 1 {
			answer.Agent = &contract.Agent{Name: "a", Limits: contract.Limits{}.WithDefaults()}
		}
		h.complete(model, answer)
		call := contract.CallActivityID(step, step, 0)
		h.complete(h.schedule(call, contract.ToolActivity("look"), contract.ToolInput{Ordinal: step, Key: "k" + strconv.Itoa(step)}),
			contract.ToolResult{Text: text})
		entries = []contract.Entry{{Ref: call, Outcome: contract.OutcomeDone, Key: "k" + strconv.Itoa(step)}}
	}
	h.schedule(contract.ModelActivityID(n+1), contract.ActivityCallModel, contract.CallModelInput{Agent: "a", Step: n + 1, Ordinal: n + 1, Entries: entries})
	return h
}

// A fold that is asked at every step of its growth says what a fold made at
// once says there: recorded turns and a long one.
func TestPrompt_GrowsAsBuiltAtOnce(t *testing.T) {
	t.Parallel()
	all := recorded(t)
	all["long"] = long(t, 12, strings.Repeat("ü", 500)).events
	all["two steps"] = twoSteps(t).events
	for name, events := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			growing := fold.New(nil)
			for i, e := range events {
				if err := growing.Add(e); err != nil {
					t.Fatal(err)
				}
				if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() != contract.ActivityCallModel {
					continue
				}
				at, err := fold.Build(events[:i+1], nil)
				if err != nil {
					t.Fatal(err)
				}
				in := at.Steps[len(at.Steps)-1].Input
				for _, chars := range []int{100, 100, 0} { // twice: the second is from memory
					want, wantErr := at.Prompt(in, chars)
					got, err := growing.Prompt(in, chars)
					if err != nil || wantErr != nil {
						t.Fatal(err, wantErr)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("step %d: %s", in.Step, diff)
					}
				}
			}
		})
	}
}

// An earlier step's prompt is the same after the turn has gone on: a fork
// begins there.
func TestPrompt_OfAnEarlierStep(t *testing.T) {
	t.Parallel()
	h := long(t, 5, "found")
	run, err := fold.Build(h.events, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := run.Prompt(run.Steps[5].Input, 0)
	if err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= 6; step++ {
		got, err := run.Prompt(run.Steps[step-1].Input, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole[:1+2*(step-1)], got); diff != "" {
			t.Errorf("step %d: %s", step, diff)
		}
		got[0].Content = "the caller's own" // and no one else's
	}
	if again, err := run.Prompt(run.Steps[0].Input, 0); err != nil || again[0].Content != "go" {
		t.Errorf("%v, %v", again, err)
	}
	for _, step := range []int{0, -3, 8} {
		if got, err := run.Prompt(contract.CallModelInput{Step: step}, 0); err == nil {
			t.Errorf("step %d has the prompt %v", step, got)
		}
	}
}

// P19: what a step costs does not grow with the turn: a fold that is asked at
// every step decodes each payload once, however long the turn.
func TestPrompt_CostsWhatIsNew(t *testing.T) {
	t.Parallel()
	cost := func(n int) float64 {
		h := long(t, n, strings.Repeat("x", 2_000))
		decoded := &counting{DataConverter: converter.GetDefaultDataConverter()}
		run := fold.New(decoded)
		for _, e := range h.events {
			if err := run.Add(e); err != nil {
				t.Fatal(err)
			}
			if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == contract.ActivityCallModel {
				if _, err := run.Prompt(run.Steps[len(run.Steps)-1].Input, 1000); err != nil {
					t.Fatal(err)
				}
			}
		}
		return float64(decoded.n) / float64(n)
	}
	if small, large := cost(100), cost(400); large > 1.1*small {
		t.Errorf("%.1f payloads are decoded a step over 100 steps, %.1f over 400", small, large)
	}
}

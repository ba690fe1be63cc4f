// Package scenario holds the turns that are run for real, on a real Temporal
// server, with and without the sticky cache. Each is a named test.
package scenario

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/examples/support"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// Run runs all scenarios on the server. record, if not empty, is a folder that
// the histories are written to.
func Run(t *testing.T, server agenttest.Server, record string) {
	for name, scenario := range map[string]func(*testing.T, agenttest.Server) agenttest.Outcome{
		"plain":    plain,
		"support":  supportTurn,
		"serial":   serial,
		"problems": problems,
		"failing":  failing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := scenario(t, server)
			if record != "" {
				save(t, filepath.Join(record, name+".json"), out)
			}
		})
	}
}

func save(t *testing.T, file string, out agenttest.Outcome) {
	t.Helper()
	data, err := protojson.MarshalOptions{Multiline: true, Indent: " "}.Marshal(out.History)
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o644) //nolint:gosec // a test's data
	}
	if err != nil {
		t.Fatal(err)
	}
}

// note is a tool that records nothing but that it ran.
type noteInput struct {
	Text string `json:"text" jsonschema:"description=what to note"`
}

func noteTool(spec tooldefs.Spec[noteInput, string]) *tooldefs.Tool {
	spec.Name, spec.Description = "note", "Writes a note."
	if spec.Handler == nil {
		spec.Handler = func(_ context.Context, call *tooldefs.Call, in noteInput) (string, error) {
			return in.Text + " under " + call.IdempotencyKey(), nil
		}
	}
	return tooldefs.Define(spec)
}

func call(text string) agenttest.ScriptCall {
	return agenttest.ScriptCall{Name: "note", Args: map[string]any{"text": text}}
}

func plain(t *testing.T, server agenttest.Server) agenttest.Outcome {
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Script: agenttest.Script{Steps: []agenttest.Step{{Text: "hello"}}}})
	out := b.Run("hi")
	if out.Err != nil || out.Result.Status != contract.StatusCompleted || out.Result.Text != "hello" {
		t.Errorf("%+v, %v", out.Result, out.Err)
	}
	floor(t, out, 1, 0, 0)
	return out
}

// supportTurn is the demo's turn: two lookups side by side, one refund.
func supportTurn(t *testing.T, server agenttest.Server) agenttest.Outcome {
	script, err := agenttest.ParseScript(support.DemoScript())
	if err != nil {
		t.Fatal(err)
	}
	ledger := filepath.Join(t.TempDir(), "ledger.jsonl")
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: support.Tools(ledger), Script: script})
	out := b.Run(support.DemoMessage)
	if out.Err != nil || out.Result.Status != contract.StatusCompleted || out.Result.Steps != 3 {
		t.Fatalf("%+v, %v", out.Result, out.Err)
	}
	lines, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(lines), "\n"); n != 1 {
		t.Errorf("the ledger has %d lines:\n%s", n, lines)
	}
	if refund := out.Effects[2]; !strings.Contains(string(lines), refund.Key) {
		t.Errorf("the ledger does not hold the key %s of the effect log:\n%s", refund.Key, lines)
	}
	var tools []string
	for _, e := range out.Effects {
		tools = append(tools, e.Tool+":"+string(e.Outcome))
	}
	if diff := cmp.Diff([]string{"lookup_order:done", "lookup_customer:done", "refund:done"}, tools); diff != "" {
		t.Error(diff)
	}
	return out
}

// serial turns have exactly the floor of events.
func serial(t *testing.T, server agenttest.Server) agenttest.Outcome {
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server,
		Tools:  []*tooldefs.Tool{noteTool(tooldefs.Spec[noteInput, string]{})},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{call("a"), call("b"), call("a")}}, {Text: "done"}}},
	})
	out := b.Run("note it")
	floor(t, out, 2, 3, 3)
	keys := map[string]bool{}
	for _, e := range out.Effects {
		keys[e.Key] = true
	}
	if len(keys) != 3 {
		t.Errorf("P03: %d keys for 3 calls", len(keys))
	}
	return out
}

// problems are calls that never run; each has its answer, in order (R05).
func problems(t *testing.T, server agenttest.Server) agenttest.Outcome {
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server,
		Tools:  []*tooldefs.Tool{noteTool(tooldefs.Spec[noteInput, string]{})},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{
			{ID: "same", Name: "nope", Args: map[string]any{}},
			{ID: "same", Name: "note", Raw: `{"text":`},
			{ID: "same", Name: "note", Raw: `{"text":7}`},
			{ID: "same", Name: "note", Args: map[string]any{"text": "fine"}},
		}}, {Text: "done"}}},
	})
	out := b.Run("go")
	var outcomes []contract.Outcome
	for _, e := range out.Effects {
		outcomes = append(outcomes, e.Outcome)
	}
	want := []contract.Outcome{contract.OutcomeInvalid, contract.OutcomeInvalid, contract.OutcomeInvalid, contract.OutcomeDone}
	if diff := cmp.Diff(want, outcomes); diff != "" {
		t.Error(diff)
	}
	floor(t, out, 2, 1, 1)
	return out
}

// failing tools are shown as failed, and the turn goes on.
func failing(t *testing.T, server agenttest.Server) agenttest.Outcome {
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server,
		Tools: []*tooldefs.Tool{noteTool(tooldefs.Spec[noteInput, string]{
			Handler: func(context.Context, *tooldefs.Call, noteInput) (string, error) { return "", errors.New("out of ink") },
		})},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{call("a")}}, {Text: "sorry"}}},
	})
	out := b.Run("note it")
	e := out.Effects[0]
	if e.Outcome != contract.OutcomeFailed || !strings.Contains(e.Text, "out of ink") || out.Result.Effects.Failed != 1 {
		t.Errorf("%+v, %+v", e, out.Result)
	}
	return out
}

// floor checks the number of events of a serial turn: 5 + 6M + 3B + 3T.
func floor(t *testing.T, out agenttest.Outcome, models, batches, tools int) {
	t.Helper()
	if want, got := 5+6*models+3*batches+3*tools, len(out.History.GetEvents()); got != want {
		t.Errorf("the history has %d events, want the floor of %d", got, want)
	}
}

package agenttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
)

func TestLoadScript(t *testing.T) {
	t.Parallel()
	got, err := LoadScript(filepath.Join("testdata", "order.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := Script{
		Model: "scripted",
		Steps: []Step{
			{
				Text:  "Let me look.",
				Calls: []ScriptCall{{ID: "call_1", Name: "lookup_order", Args: map[string]any{"order_id": "A-1"}}, {Name: "lookup_order", Raw: `{"order_id": `}},
				Usage: StepUsage{Prompt: 120, Completion: 30}, Delay: contract.Duration(5 * time.Millisecond), ChunkDelay: contract.Duration(time.Millisecond),
				Failures: []StepFailure{{Status: 429, Message: "slow down", Headers: map[string]string{"Retry-After": "1"}}, {Cut: 3}},
			},
			{Text: "It is shipped."},
		},
		Turns: []ScriptTurn{{When: "refund", Steps: []Step{{Text: "No refunds."}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseScriptErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "script: the script is empty"},
		{"no steps", "model: x\n", "script:1:1: $: there are no steps"},
		{"unknown field", "steps:\n  - txt: hi\n", "script:2:5: unknown field"},
		{"wrong type", "steps:\n  - text: [1]\n", "script:2:11: "},
		{"bad duration", "steps:\n  - text: hi\n    delay: soon\n", "soon"},
		{"not yaml", "steps:\n  - text: \"hi\n", "script:2:"},
		{"two documents", "steps: [{text: a}]\n---\nsteps: [{text: b}]\n", "not several"},
		{"empty step", "steps:\n  - text: a\n  - usage: {prompt: 1}\n", "script:3:5: steps[1]: a step needs"},
		{"no name", "steps:\n  - calls:\n      - args: {a: 1}\n", "script:3:9: steps[0].calls[0]: name is missing"},
		{"args and raw", "steps:\n  - calls: [{name: a, args: {}, raw: '{'}]\n", "steps[0].calls[0]: args and raw exclude"},
		{"failure", "steps:\n  - text: a\n    failures: [{message: x}]\n", "a failure needs status"},
		{"two cuts", "steps:\n  - text: a\n    failures: [{cut: 1, cut_bytes: 2}]\n", "exclude each other"},
		{"cut of a body", "steps:\n  - text: a\n    failures: [{status: 500, cut: 1}]\n", "take cut_bytes"},
		{"raw and text", "steps:\n  - text: a\n    frames: ['{}']\n", "stand alone"},
		{"turn", "turns:\n  - steps: [{text: a}]\n", "script:2:5: turns[0]: when is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseScript([]byte(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %q in it", err, c.want)
			}
		})
	}
}

func TestLoadScriptNamesTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(path, []byte("steps:\n  - foo: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := LoadScript(path)
	if err == nil || !strings.HasPrefix(err.Error(), path+":2:5: ") {
		t.Errorf("got %v", err)
	}
}

func FuzzParseScript(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("testdata", "order.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := ParseScript(data); err == nil {
			if err := s.Check(); err != nil {
				t.Errorf("accepted, then refused: %v", err)
			}
		}
	})
}

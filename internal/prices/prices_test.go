package prices

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
)

func TestCost(t *testing.T) {
	t.Parallel()
	table, err := Parse([]byte(`
models:
  p/a: {input: 2, cached: 0.5, output: 8}
  p/a-mini*: {input: 1, output: 2}
  p/a-*: {input: 3, output: 3}
  local/*: {input: 0, output: 0}
`))
	if err != nil {
		t.Fatal(err)
	}
	const m = 1_000_000
	for _, c := range []struct {
		name, model string
		usage       contract.Usage
		want        float64
		known       bool
	}{
		{"plain", "p/a", contract.Usage{PromptTokens: m, CompletionTokens: m}, 10, true},
		{"cached is part of the prompt", "p/a", contract.Usage{PromptTokens: m, CachedTokens: m / 2}, 1.25, true},
		{"more cached than read", "p/a", contract.Usage{PromptTokens: m, CachedTokens: 2 * m}, 0.5, true},
		{"no cached price", "p/a-mini-2025", contract.Usage{PromptTokens: m, CachedTokens: m}, 1, true},
		{"reasoning is part of the output", "p/a", contract.Usage{CompletionTokens: m, ReasoningTokens: m / 2}, 8, true},
		{"reasoning beside the output", "p/a", contract.Usage{CompletionTokens: m / 2, ReasoningTokens: m}, 12, true},
		{"longest", "p/a-mini", contract.Usage{CompletionTokens: m}, 2, true},
		{"shorter", "p/a-max", contract.Usage{CompletionTokens: m}, 3, true},
		{"free", "local/x", contract.Usage{PromptTokens: m}, 0, true},
		{"unknown model", "p/b", contract.Usage{PromptTokens: m}, 0, false},
		{"unknown provider", "q/a", contract.Usage{PromptTokens: m}, 0, false},
	} {
		if got, known := table.Cost(c.model, c.usage); math.Abs(got-c.want) > 1e-9 || known != c.known {
			t.Errorf("%s: got %v %v, want %v %v", c.name, got, known, c.want, c.known)
		}
	}
	if _, known := (Table{}).Cost("p/a", contract.Usage{}); known {
		t.Error("an empty table knows a model")
	}
}

func TestShippedTable(t *testing.T) {
	t.Parallel()
	table, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	if table.AsOf == "" {
		t.Error("no date")
	}
	got, known := table.Cost("openai/gpt-4o-mini-2024-07-18", contract.Usage{PromptTokens: 1000, CompletionTokens: 100})
	if want := 0.00021; !known || math.Abs(got-want) > 1e-12 {
		t.Errorf("got %v %v", got, known)
	}
	// A longer name is another model, not this one's price.
	if _, known := table.Cost("openai/gpt-4o-audio-preview", contract.Usage{}); known {
		t.Error("gpt-4o's price was taken for another model's")
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(path, []byte("models:\n  openai/gpt-4o-*: {input: 1, output: 1}\n  mine/m: {input: 7, output: 7}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]float64{"openai/gpt-4o-mini": 1, "mine/m": 7, "openai/gpt-4o": 2.5} {
		if got, known := table.Cost(model, contract.Usage{PromptTokens: 1e6}); !known || got != want {
			t.Errorf("%s: got %v %v, want %v", model, got, known, want)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("a file that is missing was read")
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"models:\n  p/a: {inptu: 1}\n", "unknown field"},
		{"models:\n  a: {input: 1, output: 1}\n", "want <provider>/<model>"},
		{"models:\n  p/*a: {input: 1, output: 1}\n", "at its end"},
		{"models:\n  p/a: {input: -1, output: 1}\n", "no price"},
		{"models:\n  p/a: {input: .nan, output: 1}\n", "no price"},
	} {
		if _, err := Parse([]byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v", c.in, err)
		}
	}
}

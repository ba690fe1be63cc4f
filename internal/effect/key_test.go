package effect_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/turnkeel/turnkeel/internal/effect"
)

// The vectors fix the formula: a change here makes every running turn's keys
// move, and effects happen twice.
func TestKey_GoldenVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/keys.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Namespace, WorkflowID, FirstRunID, Tool, Args, Override, Key string
		Occurrence                                                   int
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 5 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, v := range vectors {
		s := effect.Scope{Namespace: v.Namespace, WorkflowID: v.WorkflowID, FirstRunID: v.FirstRunID}
		got := effect.Key(s, v.Tool, v.Args, v.Occurrence)
		if v.Override != "" {
			got = effect.OverrideKey(s, v.Tool, v.Override)
		}
		if got != v.Key {
			t.Errorf("%+v: got %s", v, got)
		}
	}
}

// No two lists of parts share a key by moving a byte between parts.
func TestKey_PartsDoNotRunTogether(t *testing.T) {
	t.Parallel()
	a := effect.Key(effect.Scope{Namespace: "n", WorkflowID: "wx"}, "t", "{}", 0)
	b := effect.Key(effect.Scope{Namespace: "nw", WorkflowID: "x"}, "t", "{}", 0)
	if a == b {
		t.Error("two scopes share a key")
	}
}

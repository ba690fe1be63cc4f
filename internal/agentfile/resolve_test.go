package agentfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
)

func load(t *testing.T, yaml string) Definition {
	t.Helper()
	defs, err := LoadFS(one(yaml), "agents")
	if err != nil {
		t.Fatal(err)
	}
	return defs[0]
}

func TestResolve(t *testing.T) {
	t.Parallel()
	worker := []string{"refund", "lookup_order"}
	for _, tt := range []struct {
		name, in string
		want     []string
		err      string
	}{
		{"named", "tools: [refund]", []string{"refund"}, ""},
		{"all", "tools: all", []string{"lookup_order", "refund"}, ""},
		{"all in a list", "tools: [all]", []string{"lookup_order", "refund"}, ""},
		{"none", "tools: []", nil, ""},
		{"not there", "tools: [refund, lookup_ordr]", nil, `agents/x/agent.yaml:2:17: tools: this worker has no tool "lookup_ordr"; did you mean "lookup_order"?`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := load(t, "model: openai/x\n"+tt.in+"\n").Resolve(Offer{Tools: worker})
			if text := errText(err); text != tt.err {
				t.Fatalf("got %q, want %q", text, tt.err)
			}
			if diff := cmp.Diff(tt.want, got.Tools); diff != "" {
				t.Error(diff)
			}
			if err == nil && got.Digest != Digest(got) {
				t.Error("the digest is not the resolved agent's")
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestDigestIsOfTheMeaning(t *testing.T) {
	t.Parallel()
	first := load(t, "model: openai/x\ntemperature: 0.5\nenv: {optional: {A: one}}\n")
	same := load(t, "# a comment\ntemperature: 0.50\nmodel: 'openai/x'\nenv: {optional: {A: two}}\n")
	other := load(t, "model: openai/x\ntemperature: 0.6\n")
	if first.Agent.Digest != same.Agent.Digest || first.Agent.Digest == other.Agent.Digest {
		t.Errorf("got %s, %s, %s", first.Agent.Digest, same.Agent.Digest, other.Agent.Digest)
	}
	// Written down: a change of it would tell every deploy that all agents changed.
	const want = "e6e3"
	if got := first.Agent.Digest; len(got) != 64 || got[:4] != want {
		t.Errorf("got %s, want %s…", got, want)
	}
}

func TestCheckEnv(t *testing.T) {
	t.Parallel()
	def := load(t, "model: openai/x\nenv:\n  required: [A, B, C]\n  optional: {D: fallback}\n  bind: {B: PROD_B}\n")
	values := map[string]string{"A": "secret-a", "B": "not looked at", "C": ""}
	lookup := func(name string) (string, bool) { v, ok := values[name]; return v, ok }
	want := "agents/x/agent.yaml:3:17: agent x requires the environment variable B (bound to PROD_B), which is not set or empty\n" +
		"agents/x/agent.yaml:3:20: agent x requires the environment variable C, which is not set or empty"
	if got := errText(CheckEnv([]Definition{def}, lookup)); got != want {
		t.Errorf("got %s", got)
	}
	values["PROD_B"], values["C"] = "secret-b", "secret-c"
	if err := CheckEnv([]Definition{def}, lookup); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		name, want string
		declared   bool
	}{{"A", "secret-a", true}, {"B", "secret-b", true}, {"D", "fallback", true}, {"PROD_B", "", false}, {"HOME", "", false}} {
		if got, declared := def.Env.Lookup(tt.name, lookup); got != tt.want || declared != tt.declared {
			t.Errorf("%s: got %q, %t", tt.name, got, declared)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"model", "tools", "temperature", "max_steps"}
	for in, want := range map[string]string{
		"model": "model", "Tools": "tools", "tool": "tools", "MaxSteps": "max_steps", "max-steps": "max_steps",
		"temp": "", "": "", "prompt": "", "température": "temperature",
	} {
		if got := nearest(in, names); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// Y02: what is nothing but white space is no value, under whatever name it is
// asked for; two names may be bound to one variable.
func TestCheckEnv_Blank(t *testing.T) {
	t.Parallel()
	def := Definition{File: "a/agent.yaml", Agent: contract.Agent{Name: "a"}, Env: Env{
		Required: []string{"ONE", "TWO", "BLANK"}, Bind: map[string]string{"ONE": "SHARED", "TWO": "SHARED"},
	}}
	values := map[string]string{"SHARED": "s", "BLANK": " \t\n"}
	lookup := func(name string) (string, bool) { v, ok := values[name]; return v, ok }
	if got := errText(CheckEnv([]Definition{def}, lookup)); strings.Count(got, "requires") != 1 || !strings.Contains(got, "BLANK") {
		t.Error(got)
	}
	values["SHARED"] = " "
	if got := errText(CheckEnv([]Definition{def}, lookup)); strings.Count(got, "(bound to SHARED)") != 2 {
		t.Error(got)
	}
}

package turnkeel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
	"github.com/turnkeel/turnkeel/tools/websearch"
)

// Y02, Y05: an agent is recorded whole by each turn, so one whose instructions
// or settings hold a secret does not start.
func TestAgentHoldsASecret(t *testing.T) {
	const secret = `sk-"recorded"-4c1e88`
	for _, tt := range []struct {
		name, variable, yaml, instructions, want string
	}{
		{"declared", "DESK_KEY", "env: {required: [DESK_KEY]}", "Use " + secret + ".", "instructions hold the value of the environment variable DESK_KEY"},
		{"a built-in's", "TAVILY_API_KEY", "builtin_tools: [web_search]", secret, "variable TAVILY_API_KEY"},
		{"bound", "PROD_KEY", "env: {required: [DESK_KEY], bind: {DESK_KEY: PROD_KEY}}", secret, "variable DESK_KEY"},
		{"the model's key", "MY_KEY", "endpoint: {api_key_env: MY_KEY}", secret, "variable MY_KEY"},
		{"a usual key", "GROQ_API_KEY", "", secret, "variable GROQ_API_KEY"},
		{"the cluster's key", "TEMPORAL_API_KEY", "", secret, "variable TEMPORAL_API_KEY"},
		{"in a rule", "DESK_KEY", "env: {required: [DESK_KEY]}\npolicy: {rules: [{id: a, when: {tools: [\"*\"]}, then: {deny: 'no " + secret + "'}}]}", "", "settings hold the value of the environment variable DESK_KEY"},
		{"the file's own default", "DESK_KEY", "env: {optional: {DESK_KEY: '" + secret + "'}}", secret, ""},
		{"not declared", "OTHER_KEY", "", secret, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(tt.variable, secret)
			dir := filepath.Join(t.TempDir(), "desk")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"agent.yaml": "model: openai/y\n" + tt.yaml + "\n", "instructions.md": "Help. " + tt.instructions} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			host, err := Open(t.Context(), Options{AgentsDir: filepath.Dir(dir), Builtins: []tooldefs.Builtin{websearch.Builtin()}})
			if err == nil {
				err = host.Close()
			}
			if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), secret)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	t.Setenv("OPENAI_API_KEY", secret)
	if _, err := Open(t.Context(), Options{Agents: []contract.Agent{{Name: "desk", Model: "openai/x", Instructions: secret}}}); err == nil || !strings.Contains(err.Error(), "agent desk: the agent's instructions hold") {
		t.Errorf("in code: %v", err)
	}
}

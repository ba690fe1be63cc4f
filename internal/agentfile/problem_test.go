package agentfile

import (
	"strings"
	"testing"
	"unicode"
)

// Y01: nothing that stands in a file, in the name of one, or in what a server
// says, steers the terminal that a message is read at, or hides in it.
func TestProblemsAreVisible(t *testing.T) {
	t.Parallel()
	_, err := LoadFS(folder("x/agent.yaml", `model: openai/x
"\e[31mred": 1
tools: ["\e[31m"]
name: "\x9b31m"
reasoning_effort: "\u202ehgih"
env: {bind: {"\e[1m": A}}
`, "\x1b[31mz/notes", ""), "agents")
	if err == nil {
		t.Fatal("accepted")
	}
	// The key of env.bind is not repeated at all: it may be a secret.
	text := strings.ReplaceAll(err.Error(), "\n", "")
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 || strings.Count(text, `\x1b[`) != 3 || !strings.Contains(text, `\u202ehgih`) {
		t.Errorf("at %d: %q", i, text)
	}
	def := load(t, "model: openai/x\nmcp_servers: {s: {command: [x]}}\n")
	if got := def.MCPProblem("s", "its last words: %s", "\x1b]0;title\x07\n boom").Error(); !strings.HasSuffix(got, `its last words: \x1b]0;title\a boom`) {
		t.Errorf("%q", got)
	}
}

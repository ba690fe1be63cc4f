package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
)

// Y05: a turn runs with the agent that its first step recorded; the file of a
// later deploy counts from the next turn on.
func TestAgentIsRecorded(t *testing.T) {
	t.Parallel()
	o := newOwn(t, sendTool)
	b := newBench(t, o.yaml("")+askFirst+"instructions: first.md\n", call("send", map[string]any{"to": "a", "body": "b"}), said("done"))
	turn := b.Start("send")
	pending := b.pending(turn)
	b.stop()
	file := filepath.Join(b.folder, agenttest.AgentName, "agent.yaml")
	text, err := os.ReadFile(file) //nolint:gosec // the test's
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer("first.md", "second.md", "openai/scripted", "openai/other").Replace(string(text))
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	b.serve()
	b.approve(turn, pending)
	wantEffects(t, b.Wait(turn), "send at_most_once done")
	next := b.Start("again")
	b.approve(next, b.pending(next))
	b.Wait(next)
	var seen []string
	for _, r := range b.Model.Requests() {
		seen = append(seen, r.Model+" "+r.Messages[0].Content)
	}
	want := []string{"scripted Be the first.", "scripted Be the first.", "other Be the second.", "other Be the second."}
	if strings.Join(seen, "\n") != strings.Join(want, "\n") {
		t.Errorf("the model was asked\n%s", strings.Join(seen, "\n"))
	}
}

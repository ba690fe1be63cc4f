package docs

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/internal/agentfile"
	"github.com/turnkeel/turnkeel/internal/prices"
)

// TestModelsPage reads each block of docs/models.md as what it is: an agent, a
// script, or prices.
func TestModelsPage(t *testing.T) {
	t.Parallel()
	text := documents(t)["docs/models.md"]
	for _, problem := range unseen(text) {
		t.Error(problem)
	}
	blocks := fence.FindAllStringSubmatch(text, -1)
	if len(blocks) < 10 {
		t.Errorf("only %d blocks were found", len(blocks))
	}
	for _, m := range blocks {
		var err error
		switch body := m[2]; {
		case m[1] != "yaml":
			t.Errorf("a block of %q that nothing is done with:\n%s", m[1], body)
		case strings.HasPrefix(body, "steps:"):
			_, err = agenttest.ParseScript([]byte(body))
		case strings.HasPrefix(body, "as_of:"):
			_, err = prices.Parse([]byte(body))
		default:
			_, err = agentfile.LoadFS(fstest.MapFS{
				"x/agent.yaml": {Data: []byte(body)}, "x/demo.yaml": {Data: []byte("steps: [{text: hi}]\n")},
			}, "agents")
		}
		if err != nil {
			t.Errorf("%v\n%s", err, m[2])
		}
	}
}

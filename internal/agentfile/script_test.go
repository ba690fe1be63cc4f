package agentfile

import (
	"strings"
	"testing"
)

// Y01: a model that a script plays names a file of the agent's folder; what is
// wrong with either has its place.
func TestScriptedModel(t *testing.T) {
	t.Parallel()
	const good = "steps: [{text: hi}]\n"
	defs, err := LoadFS(folder("x/agent.yaml", "model: scripted/a/demo.yaml\nendpoint: {}\n", "x/a/demo.yaml", good), "agents")
	if err != nil || defs[0].Script == nil || defs[0].ScriptFile != "agents/x/a/demo.yaml" || defs[0].Agent.Model != "scripted/a/demo.yaml" {
		t.Fatalf("got %+v, %v", defs, err)
	}
	for _, tt := range []struct{ yaml, script, want string }{
		{"model: scripted/gone.yaml\n", good, "agents/x/agent.yaml:1:8: model: cannot read the script agents/x/gone.yaml (file does not exist)"},
		{"model: scripted/\n", good, `agents/x/agent.yaml:1:8: model: want the name of a script in the agent's folder, like scripted/demo.yaml, found "scripted/"`},
		{"model: scripted\n", good, "agents/x/agent.yaml:1:8: model: want the name of a script"},
		{"model: scripted/../demo.yaml\n", good, "agents/x/agent.yaml:1:8: model: want the name of a script"},
		{"model: scripted//etc/passwd\n", good, "agents/x/agent.yaml:1:8: model: want the name of a script"},
		{"model: scripted/demo.yaml\n", "steps:\n  - txt: hi\n", `agents/x/demo.yaml:2:5: unknown field "txt"`},
		{"model: scripted/demo.yaml\n", "steps:\n  - text: a\n  - usage: {prompt: 1}\n", "agents/x/demo.yaml:3:5: steps[1]: a step needs"},
		{"model: scripted/demo.yaml\n", "", "agents/x/demo.yaml: the script is empty"},
		{"model: scripted/demo.yaml\nendpoint: {base_url: http://h/v1}\n", good, "agents/x/agent.yaml:2:11: endpoint: a scripted model has no address"},
	} {
		_, err := LoadFS(folder("x/agent.yaml", tt.yaml, "x/demo.yaml", tt.script), "agents")
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got  %v\nwant %s", tt.yaml, err, tt.want)
		}
		refused := schemaProblems(t, tt.yaml) != nil
		if aboutFile := strings.Contains(tt.want, "agent.yaml") && !strings.Contains(tt.want, "cannot read"); refused != aboutFile {
			t.Errorf("%q: the schema refuses it: %t", tt.yaml, refused)
		}
	}
	if problems := schemaProblems(t, "model: scripted/a/demo.yaml\nendpoint: {}\n"); problems != nil {
		t.Errorf("the schema: %v", problems)
	}
}

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel"
)

// Y04, Y06: the starter shows what the stock worker's agents would show their
// models, and tells what is wrong with others, as text and as nothing but JSON.
func TestCheckAndTools(t *testing.T) {
	t.Parallel()
	const agents = "../../agents"
	code, out, errOut := starter("check", "--agents", agents)
	if code != ExitDone || errOut != "" || !strings.HasPrefix(out, "agent support: model openai/gpt-4o-mini, tools [lookup_order lookup_customer refund]\n") {
		t.Errorf("%d, %s\n%s", code, errOut, out)
	}
	code, out, errOut = starter("tools", "support", "--agents", agents)
	if code != ExitDone || errOut != "" || !strings.Contains(out, "\nrefund (keyed, external; refund.go:") {
		t.Errorf("%d, %s\n%s", code, errOut, out)
	}
	for _, command := range []string{"check", "tools"} {
		code, out, errOut := starter(command, "--agents", agents, "-o", "json")
		var d turnkeel.Description
		if err := json.Unmarshal([]byte(out), &d); err != nil || code != ExitDone || errOut != "" || len(d.Agents[0].Tools) != 3 {
			t.Errorf("%s: %d, %v, %s", command, code, err, errOut)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "agent.yaml"), []byte("model: openai/y\nbuiltin_tools: [bash]\ntools: [refnd]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errOut = starter("check", "--agents", dir)
	if code != ExitFailed || out != "" || !strings.Contains(errOut, `bash comes with "sandbox: true"`) || !strings.Contains(errOut, `no tool "refnd"; did you mean "refund"?`) {
		t.Errorf("%d, %s\n%s", code, errOut, out)
	}
	code, out, _ = starter("check", "--agents", dir, "-o", "json")
	var d turnkeel.Description
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != ExitFailed || len(d.Problems) != 2 {
		t.Errorf("%d, %v\n%s", code, err, out)
	}
}

// What a demo is shown of, and what is said where there is nothing to show.
func TestFindExample(t *testing.T) {
	t.Parallel()
	if e, err := findExample("../../agents", ""); err != nil || e.agent != "support" || !strings.Contains(e.message, "teapot") {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := findExample("../../examples/nocode", ""); err != nil || e.agent != "office" || len(e.script.Steps) != 5 || len(e.servers) != 1 || !strings.HasPrefix(e.servers[0], "files (npx ") {
		t.Errorf("%+v, %v", e, err)
	}
	dir := t.TempDir()
	for file, text := range map[string]string{"a/agent.yaml": "model: openai/y\n", "b/agent.yaml": "model: openai/y\n", "b/demo.yaml": "steps: [{text: hello}]\n"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"": "has several agents; name one with --agent: a, b", "c": `has no agent "c"; it has: a, b`,
		"a": "has no " + filepath.Join(dir, "a", "demo.yaml"), "b": "message is missing",
	} {
		if _, err := findExample(dir, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

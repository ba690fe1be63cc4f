package turnkeel

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// command runs a command of a worker binary of one's own.
func command(t *testing.T, o Options, args ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = mainCode(t.Context(), o, args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// Y04, Y06: a worker's own binary shows what each of its agents would show the
// model, as text and as JSON that is nothing else.
func TestCheckAndTools(t *testing.T) {
	made := 0
	o := Options{
		Tools: []*tooldefs.Tool{plainTool("own")}, Builtins: []tooldefs.Builtin{plainBuiltin("web", &made)},
		AgentsDir: agentsDir(t, "a", "model: openai/y\ntools: all\nbuiltin_tools: [web]\nenv: {optional: {B: '1', A: '2'}}\n", "b", "model: openai/z\n"),
	}
	code, out, errOut := command(t, o, "check")
	if code != 0 || errOut != "" || !strings.HasPrefix(out, "agent a: model openai/y, tools [own web]\n") ||
		!strings.Contains(out, "  web  at_most_once  external  built-in web") || !strings.Contains(out, "variables: A, B\n") ||
		!strings.Contains(out, "agent b: model openai/z, tools []\n") {
		t.Errorf("%d %s\n%s", code, errOut, out)
	}
	if code, out, _ := command(t, o, "tools", "a"); code != 0 || !strings.Contains(out, "\nown (at_most_once, external; builtins_test.go:") || !strings.Contains(out, "  Does nothing.\n  arguments: {") {
		t.Errorf("%d\n%s", code, out)
	}
	for _, args := range [][]string{{"check", "-o", "json"}, {"tools", "--output", "json"}, {"tools", "a", "-o", "json"}} {
		code, out, errOut := command(t, o, args...)
		var d Description
		if err := json.Unmarshal([]byte(out), &d); err != nil || code != 0 || errOut != "" || len(d.Agents) == 0 {
			t.Fatalf("%v: %d, %v, %s\n%s", args, code, err, errOut, out)
		}
		if tool := d.Agents[0].Tools[1]; tool.Name != "web" || tool.Origin != "built-in web" || !strings.Contains(string(tool.Parameters), `"object"`) {
			t.Errorf("%v: %+v", args, tool)
		}
	}
	if made%100 != 5 {
		t.Errorf("%d are made, some are still open", made)
	}
	if code, _, errOut := command(t, o, "tools", "c"); code != 3 || errOut != "there is no agent \"c\"; there are: a, b\n" {
		t.Errorf("%d %s", code, errOut)
	}
	if code, _, errOut := command(t, o, "check", "-o", "xml"); code != 2 || !strings.Contains(errOut, "want text or json") {
		t.Errorf("%d %s", code, errOut)
	}
}

// Y01, Y02, Y04: check tells every problem at once, as JSON with places too.
func TestCheckTellsProblems(t *testing.T) {
	o := Options{AgentsDir: agentsDir(t,
		"a", "model: openai/y\ntols: [x]\nenv: {required: [TURNKEEL_TEST_NOT_SET]}\nsandbox: true\nsubagents: [b]\nagents: {can_call: [b]}\nprocesses: {import: x}\n",
		"b", "model: nonsense\ntools: [nothing]\n")}
	code, out, errOut := command(t, o, "check")
	if code != 1 || out != "" {
		t.Errorf("%d %s", code, out)
	}
	for _, want := range []string{
		`a/agent.yaml:2:1: unknown key "tols"; did you mean "tools"?`, "a/agent.yaml:3:18: agent a requires the environment variable TURNKEEL_TEST_NOT_SET, which is not set or empty",
		"a/agent.yaml:4:10: sandbox is not available yet; remove it", "subagents is not available yet", "agents is not available yet", "processes is not available yet",
		"b/agent.yaml:1:8: model: want <provider>/<model>", `b/agent.yaml:2:9: tools: this worker has no tool "nothing"`,
	} {
		if !strings.Contains(errOut, want) {
			t.Errorf("%q is not in\n%s", want, errOut)
		}
	}
	code, out, _ = command(t, o, "check", "-o", "json")
	var d Description
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != 1 || len(d.Problems) != 8 || d.Problems[0].Line != 2 || !strings.HasSuffix(d.Problems[7].File, "b/agent.yaml") {
		t.Errorf("%d, %v, %+v", code, err, d.Problems)
	}
}

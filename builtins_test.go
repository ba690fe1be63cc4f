package turnkeel

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// agentsDir writes agents, by name and text of their agent.yaml.
func agentsDir(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		folder := filepath.Join(dir, files[i])
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "agent.yaml"), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

type noInput struct{}

// plainTool is a Go tool that reads these variables.
func plainTool(name string, env ...string) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[noInput, string]{
		Name: name, Description: "Does nothing.", Env: env,
		Handler: func(context.Context, *tooldefs.Call, noInput) (string, error) { return "", nil },
	})
}

// plainBuiltin offers one tool of its own name; made counts its making.
func plainBuiltin(name string, made *int, env ...string) tooldefs.Builtin {
	return tooldefs.Builtin{
		Name: name, Env: env,
		New: func(d tooldefs.BuiltinDeps) ([]*tooldefs.Tool, error) {
			*made++
			d.OnClose(func() error { *made += 100; return nil })
			return []*tooldefs.Tool{plainTool(name, env...)}, nil
		},
	}
}

// Y02, Y03: a built-in tool is shown to the agents that ask for it, its
// variables are theirs, and it is made once and closed with the worker.
func TestBuiltins(t *testing.T) {
	const variable = "TURNKEEL_TEST_BUILTIN_KEY"
	t.Setenv(variable, "k")
	made := 0
	host, err := Open(t.Context(), Options{
		Tools: []*tooldefs.Tool{plainTool("own")}, Builtins: []tooldefs.Builtin{plainBuiltin("web", &made, variable), plainBuiltin("idle", &made)},
		AgentsDir: agentsDir(t, "a", "model: openai/y\ntools: all\nbuiltin_tools: [web]\n", "b", "model: openai/y\nbuiltin_tools: [web]\nenv: {bind: {"+variable+": "+variable+"}}\n", "c", "model: openai/y\ntools: all\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"own web", "web", "own"} {
		if got := strings.Join(host.agents[i].Tools, " "); got != want {
			t.Errorf("agent %d is shown %s, want %s", i, got, want)
		}
	}
	if value, ok := host.env("a", variable); !ok || value != "k" {
		t.Errorf("the agent's variable is %q, %v", value, ok)
	}
	if _, ok := host.env("c", variable); ok {
		t.Error("an agent that did not ask for the tool may read its variable")
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
	if err := errors.Join(host.Close(), host.Close()); err != nil || made != 101 {
		t.Errorf("closed: %v, %d", err, made)
	}
}

// Y01, Y03: an agent whose name is taken is checked like any other.
func TestOpenRefusesAllOfATakenName(t *testing.T) {
	dir := agentsDir(t, "a", "model: openai/y\n", "b", "name: a\nmodel: openai/y\ntools: [none]\nbuiltin_tools: [bash]\n")
	_, err := Open(t.Context(), Options{AgentsDir: dir})
	for _, want := range []string{`b/agent.yaml: the name "a" is taken`, `b/agent.yaml:3:9: tools: this worker has no tool "none"`, "b/agent.yaml:4:17: builtin_tools[0]: bash"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// Y01, Y02, Y03: everything that is wrong is told at once, each with its place.
func TestOpenRefuses(t *testing.T) {
	made := 0
	const missing = "TURNKEEL_TEST_NOT_SET"
	builtins := []tooldefs.Builtin{plainBuiltin("web_search", &made, missing), plainBuiltin("own", &made)}
	for _, tt := range []struct{ name, file, want string }{
		{"a misspelt built-in", "builtin_tools: [web_serch]", `/a/agent.yaml:2:17: builtin_tools[0]: this worker has no built-in tool "web_serch"; did you mean "web_search"?; valid: own, web_search`},
		{"bash", "builtin_tools: [bash]", `/a/agent.yaml:2:17: builtin_tools[0]: bash comes with "sandbox: true", not by builtin_tools, and is not available yet; remove it`},
		{"a tool of the sandbox as the worker's", "tools: [own, read_file]", `/a/agent.yaml:2:14: tools: read_file comes with "sandbox: true", not by tools, and is not available yet; remove it`},
		{"a later tool as the worker's", "tools: [run_process]", "/a/agent.yaml:2:9: tools: run_process is not available yet; remove it"},
		{"a built-in as the worker's", "tools: [web_search]", "/a/agent.yaml:2:9: tools: web_search is a built-in tool; name it in builtin_tools"},
		{"the worker's as a built-in", "builtin_tools: [reader]", "/a/agent.yaml:2:17: builtin_tools[0]: reader is a tool of the worker's own; name it in tools"},
		{"a later built-in", "builtin_tools: [call_agent]", "/a/agent.yaml:2:17: builtin_tools[0]: call_agent is not available yet; remove it"},
		{"a built-in's variable", "builtin_tools: [web_search]", "/a/agent.yaml:2:17: agent a requires the environment variable " + missing + ", which is not set or empty"},
		{"a built-in's variable that is optional and empty", "builtin_tools: [web_search]\nenv: {optional: {" + missing + ": ''}}", "/a/agent.yaml:2:17: agent a requires the environment variable " + missing + ", which is not set or empty"},
		{"a tool's variable", "tools: [reader]", "/a/agent.yaml:2:9: tools: reader reads the environment variable SOME_KEY; declare it in env.required or env.optional"},
		{"two of a name", "builtin_tools: [own]", `two tools are named "own": that of the worker, defined at `},
		{"a bind of nothing", "builtin_tools: [own]\nenv: {bind: {A: B}}", `/a/agent.yaml:3:14: env.bind: "A" is neither required nor optional`},
		{"a bind of nothing, once", "env: {bind: {A: B}}", "1 problem"},
		{"everything", "tempratur: 1\ntools: [ownn, reader]\nbuiltin_tools: [bash]\nenv: {required: [" + missing + "]}", "5 problems"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := agentsDir(t, "a", "model: openai/y\n"+tt.file+"\n")
			_, err := Open(t.Context(), Options{Tools: []*tooldefs.Tool{plainTool("own"), plainTool("reader", "SOME_KEY")}, Builtins: builtins, AgentsDir: dir})
			if err == nil {
				t.Fatal("it is accepted")
			}
			if count, _, ok := strings.Cut(tt.want, " problem"); ok {
				if n := strings.Count(err.Error(), "agent.yaml:"); strconv.Itoa(n) != count {
					t.Errorf("got %d problems:\n%v", n, err)
				}
				return
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

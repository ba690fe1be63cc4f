package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel"
)

// agents writes agent.yaml files by the agents' names.
func agents(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "agent.yaml"), []byte("model: openai/y\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Y01, Y03, T60: what is wrong with servers stops the start, all of it at once
// and each with its place; what was started for it is gone then.
func TestStartRefuses(t *testing.T) {
	t.Parallel()
	good, other, dead := newOwn(t, sendTool), newOwn(t, sendTool), newOwn(t, "no JSON")
	second := func(o own) string {
		return strings.Replace(strings.SplitN(o.yaml(", allow: [sent]"), "\n", 2)[1], "mail:", "post:", 1)
	}
	dir := agents(t, map[string]string{
		"a": good.yaml(""),
		"b": other.yaml(""), // the same name for another tool
		"c": dead.yaml(", prefix: c") + second(good),
		"d": good.yaml("") + "tools: [send]\n",
	})
	_, err := turnkeel.Open(t.Context(), turnkeel.Options{AgentsDir: dir})
	if err == nil {
		t.Fatal("it starts")
	}
	for _, want := range []string{
		`b/agent.yaml:3:3: mcp_servers.mail: two tools are named "send": that of MCP server mail of agent a, and that of MCP server mail of agent b; give the server a prefix of its own`,
		"c/agent.yaml:3:3: mcp_servers.mail: it does not answer as an MCP server: ", "its last words: invalid character",
		"d/agent.yaml:4:9: tools: send is a tool of mcp_servers.mail, all of which the agent has; remove it here",
		`c/agent.yaml:4:`, `mcp_servers.post.allow[0]: the server has no tool "sent"; did you mean "send"?`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	for _, o := range []own{good, other, dead} {
		eventually(t, "nothing is left of the servers", func() bool { return len(servers(t, o.dir)) == 0 })
	}
}

// T60: agents that declare the very same server share one process, and each is
// shown its tools; `all` stands for the worker's own tools only.
func TestAgentsShareAServer(t *testing.T) {
	t.Parallel()
	o := newOwn(t, sendTool)
	dir := agents(t, map[string]string{"a": o.yaml(", dir: .."), "b": o.yaml(", dir: .."), "c": "tools: all\n"})
	host, err := turnkeel.Open(t.Context(), turnkeel.Options{AgentsDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(servers(t, o.dir)); n != 1 {
		t.Errorf("%d processes", n)
	}
	for i, want := range []int{1, 1, 0} {
		if a := host.Describe().Agents[i]; len(a.Tools) != want {
			t.Errorf("%s is shown %d tools", a.Name, len(a.Tools))
		}
	}
	if err := host.Close(); err != nil {
		t.Error(err)
	}
	if n := len(servers(t, o.dir)); n != 0 {
		t.Errorf("%d processes after the close", n)
	}
}

// Y01, T60: a server that stands twice in one file is refused: a model that is
// shown a tool twice refuses the whole request.
func TestTheSameServerTwice(t *testing.T) {
	t.Parallel()
	o := newOwn(t, sendTool)
	twice := o.yaml("") + strings.Replace(strings.SplitN(o.yaml(""), "\n", 2)[1], "mail:", "post:", 1)
	host, err := turnkeel.Open(t.Context(), turnkeel.Options{AgentsDir: agents(t, map[string]string{"a": twice})})
	if err == nil {
		t.Errorf("it starts, and shows %d tools", len(host.Describe().Agents[0].Tools))
		_ = host.Close()
	} else if !strings.Contains(err.Error(), "a/agent.yaml:4:3: mcp_servers.post: is the very same server as mail: remove one of them") {
		t.Errorf("got %v", err)
	}
}

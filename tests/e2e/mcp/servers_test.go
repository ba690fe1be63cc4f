package mcp

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tests/npm"
)

// T60, T61, T63, P16: the file server. A file is written once; a path outside of
// what the server allows is an error of the call, for the model, in the history
// and in the effect log, and the turn goes on.
func TestFilesystem(t *testing.T) {
	t.Parallel()
	data, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("not for you"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(data, "note.txt")
	program := npm.Module(t, "@modelcontextprotocol/server-filesystem/dist/index.js")
	b := newBench(t, `mcp_servers:
  files:
    command: [node, "`+program+`", "`+data+`"]
    prefix: docs
    tools: {read_text_file: {effects: none}}
`,
		call("docs_write_file", map[string]any{"path": file, "content": "milk\neggs\n"}),
		call("docs_read_text_file", map[string]any{"path": file, "head": nil}),
		call("docs_read_text_file", map[string]any{"path": secret}),
		said("done"))
	out := b.Run("write and read")
	wantEffects(t, out, "docs_write_file at_most_once done", "docs_read_text_file safe_to_retry done", "docs_read_text_file safe_to_retry failed")
	got := results(out)
	if !strings.Contains(got[1], "milk") || !strings.Contains(got[2], "error: docs_read_text_file failed: Access denied") || strings.Contains(strings.Join(got, ""), "not for you") {
		t.Errorf("the model read %q", got)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "milk\neggs\n" { //nolint:gosec // the test's
		t.Errorf("the file has %q, %v", text, err)
	}
	failed := 0
	for _, e := range out.History.GetEvents() {
		if e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d activities failed, want 1", failed)
	}
}

// T60, T64: the memory server keeps what it is told, in an environment that has
// only what the agent declares for it.
func TestMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	t.Setenv("AGENTS_MEMORY", file)
	program := npm.Module(t, "@modelcontextprotocol/server-memory/dist/index.js")
	b := newBench(t, `mcp_servers:
  memory:
    command: [node, "`+program+`"]
    env: {MEMORY_FILE_PATH: AGENTS_MEMORY}
    prefix: memory
    trust_hints: true
    allow: [create_entities, read_graph]
`,
		call("memory_create_entities", map[string]any{"entities": []any{map[string]any{"name": "Ada", "entityType": "customer", "observations": []any{"likes tea"}}}}),
		call("memory_read_graph", nil),
		call("memory_delete_entities", map[string]any{"entityNames": []any{"Ada"}}),
		said("done"))
	out := b.Run("remember")
	got := results(out)
	if len(got) != 3 || !strings.Contains(got[1], "likes tea") || !strings.Contains(got[2], "memory_create_entities, memory_read_graph") {
		t.Fatalf("the model read %q", got)
	}
	if e := out.Effects[1]; e.Tool != "memory_read_graph" || e.Class != "safe_to_retry" {
		t.Errorf("the hint is trusted: %+v", e)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "likes tea") { //nolint:gosec // the test's
		t.Errorf("the server kept %q, %v", text, err)
	}
	var graph struct{ Entities []any }
	if err := json.Unmarshal([]byte(got[1]), &graph); err != nil || len(graph.Entities) != 1 {
		t.Errorf("structured content: %v, %q", err, got[1])
	}
}

// everythingSteps call what the server has of each kind of content.
func everythingSteps() []agenttest.Step {
	return []agenttest.Step{
		call("echo", map[string]any{"message": "hello"}),
		call("get-sum", map[string]any{"a": 2, "b": 40}),
		call("get-structured-content", map[string]any{"location": "Chicago"}),
		call("get-tiny-image", nil),
		call("get-resource-links", map[string]any{"count": 1}),
		call("get-resource-reference", map[string]any{"resourceType": "Text", "resourceId": 1}),
		call("get-env", nil),
		said("done"),
	}
}

func checkEverything(t *testing.T, out agenttest.Outcome) {
	t.Helper()
	if len(out.Effects) != 7 {
		t.Fatalf("%d effects", len(out.Effects))
	}
	got := results(out)
	for i, want := range []string{"Echo: hello", "42", `"temperature":`, "[image: image/png, ", "[link, not fetched: ", "Resource 1", ""} {
		if out.Effects[i].Outcome != "done" || !strings.Contains(got[i], want) {
			t.Errorf("%s is %s: %q, want %q", out.Effects[i].Tool, out.Effects[i].Outcome, got[i], want)
		}
	}
}

// T60, T62: everything, by standard input and output; of the worker's
// environment the server sees nothing that is not its own.
func TestEverything(t *testing.T) {
	t.Setenv("WORKERS_SECRET", "swordfish-not-for-servers")
	b := newBench(t, "mcp_servers: {all: {command: [node, \""+everything(t)+"\"]}}\n", everythingSteps()...)
	out := b.Run("everything")
	checkEverything(t, out)
	if env := results(out)[6]; strings.Contains(env, "swordfish") || strings.Contains(env, "TURNKEEL") || !strings.Contains(env, "PATH") {
		t.Errorf("the server's environment: %s", env)
	}
}

// T60, T62: everything, by streamable HTTP.
func TestEverythingByHTTP(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_ = listener.Close()                                             // the server wants a port by number
	program := exec.Command("node", everything(t), "streamableHttp") //nolint:gosec // installed above
	program.Env = append(os.Environ(), "PORT="+port)
	var log bytes.Buffer
	program.Stdout, program.Stderr = &log, &log
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = program.Process.Kill()
		_ = program.Wait()
	})
	url := "http://127.0.0.1:" + port + "/mcp"
	eventually(t, "the server answers", func() bool {
		response, err := http.Get(url) //nolint:gosec,noctx // the test's own server
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return true
	})
	b := newBench(t, "mcp_servers: {all: {url: \""+url+"\"}}\n", everythingSteps()...)
	checkEverything(t, b.Run("everything"))
}

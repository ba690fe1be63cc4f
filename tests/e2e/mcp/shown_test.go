package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tooldefs"
	"github.com/turnkeel/turnkeel/tools"
)

// awkwardTool has what JSON has several spellings of, in the order of no alphabet.
const awkwardTool = `{"name":"send","description":" Sends <b>mail</b> & more \u2028 \"ü\" 🎉 \\u003c\t\n 2nd line ","inputSchema":{"type":"object",
	"required":["to","body"],"properties":{"to":{"type":"string","pattern":"^<[^>]+>$","description":"a & b"},"body":{"type":"string"},
	"n":{"maximum":1.50,"type":"number","default":1e2,"minimum":-9007199254740993}}}}`

type shownInput struct {
	Z string   `json:"z" jsonschema:"description=<last> & first"`
	A []string `json:"a,omitempty"`
}

// recorder stands before a model server and keeps what it is sent.
type recorder struct {
	mu     sync.Mutex
	bodies [][]byte
}

func (r *recorder) start(t *testing.T, target string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.bodies = append(r.bodies, body)
		r.mu.Unlock()
		onward, err := http.NewRequestWithContext(req.Context(), req.Method, target+req.URL.Path, bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		onward.Header = req.Header
		resp, err := http.DefaultClient.Do(onward)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// shown is what a model is told of a tool.
type shown struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Y04, Y06, T05: what the command tools prints, instructions included, is byte for
// byte what the model server is sent, for tools of the worker, built-in ones and
// those of an MCP server, in that order.
func TestToolsShowsWhatTheModelIsSent(t *testing.T) {
	t.Setenv("TAVILY_API_KEY", "tvly-planted-1")
	o := newOwn(t, awkwardTool)
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, NoWorker: true, Script: agenttest.Script{Steps: []agenttest.Step{said("done")}}})
	var seen recorder
	url := seen.start(t, b.Model.URL())
	folder := t.TempDir()
	agent := filepath.Join(folder, agenttest.AgentName)
	for name, text := range map[string]string{
		"agent.yaml":      "model: openai/scripted\nendpoint: {base_url: \"" + url + "\"}\ntools: all\nbuiltin_tools: [web_search, sql_query, read_attachment]\nenv: {optional: {SQL_DATABASE_URL: 'sqlite:empty.db'}}\n" + o.yaml(", prefix: mail"),
		"instructions.md": "\ufeffBe <kind> & brief.\r\n\r\nSay \"ü\". \n", "empty.db": "",
	} {
		if err := os.MkdirAll(agent, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(agent, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := tooldefs.Define(tooldefs.Spec[shownInput, string]{
		Name: "own", Description: " <Own> & \u2028 \"ü\"\n\n  second ", Handler: func(context.Context, *tooldefs.Call, shownInput) (string, error) { return "", nil },
	})
	options := turnkeel.Options{AgentsDir: folder, Tools: []*tooldefs.Tool{own}, Builtins: tools.All()}
	work(t, b, options)
	b.Wait(b.Start("hello"))
	var request struct {
		Messages []struct{ Role, Content string }
		Tools    []struct{ Function json.RawMessage }
	}
	if err := json.Unmarshal(seen.bodies[0], &request); err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	if err := turnkeel.PrintTools(t.Context(), &printed, options, agenttest.AgentName, true); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Agents []struct {
			Instructions string
			Tools        []shown
		}
	}
	if err := json.Unmarshal(printed.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if m := request.Messages[0]; m.Role != "system" || m.Content != d.Agents[0].Instructions {
		t.Errorf("sent  %q\nshown %q", m.Content, d.Agents[0].Instructions)
	}
	if len(request.Tools) != 5 || len(d.Agents[0].Tools) != len(request.Tools) {
		t.Fatalf("%d tools are sent, %d shown", len(request.Tools), len(d.Agents[0].Tools))
	}
	for i, tool := range d.Agents[0].Tools {
		// Both in the form of Go's encoder, whose escapes are the only difference.
		data, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		if sent := string(request.Tools[i].Function); string(data) != sent {
			t.Errorf("sent  %s\nshown %s", sent, data)
		}
		t.Logf("%s", data)
	}
}

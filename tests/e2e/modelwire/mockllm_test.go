package modelwire

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tests/npm"
)

// mockLLM is a model server that nobody here wrote.
const mockLLM = "@dwmkerr/mock-llm"

// mockLLMRules ask for a tool while there is no result of one, then answer. A
// template of its own would read two opening braces.
const mockLLMRules = `
streaming: {chunkSize: 7, chunkIntervalMs: 1}
rules:
  - path: /v1/chat/completions
    method: POST
    match: "length(body.messages[?role=='tool']) == ` + "`0`" + `"
    response:
      status: 200
      content: >-
        {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "mock", "choices": [{"index": 0,
        "message": {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function",
        "function": {"name": "send_note", "arguments": "{\"to\": \"ann\"}"} }]}, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18} }
  - path: /v1/chat/completions
    method: POST
    match: "length(body.messages[?role=='tool']) > ` + "`0`" + `"
    response:
      status: 200
      content: >-
        {"id": "chatcmpl-2", "object": "chat.completion", "created": 2, "model": "mock", "choices": [{"index": 0,
        "message": {"role": "assistant", "content": "Ann has her note, all of it."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25} }
  - path: /v1/chat/completions
    method: POST
    match: "contains(body.messages[-1].content, 'just talk')"
    response:
      status: 200
      content: >-
        {"id": "chatcmpl-3", "object": "chat.completion", "created": 3, "model": "mock", "choices": [{"index": 0,
        "message": {"role": "assistant", "content": "We talk, piece by piece."}, "finish_reason": "stop"}]}
`

// TestMockLLM: the server serves a whole turn with a tool, and one that it
// streams. It cannot stream tool calls, so that turn does without.
func TestMockLLM(t *testing.T) {
	t.Parallel()
	url := startMockLLM(t, mockLLMRules)
	agent := func(stream string) contract.Agent {
		return contract.Agent{Model: "mock-llm/mock", Endpoint: contract.Endpoint{
			BaseURL: url + "/v1", Quirks: map[contract.Quirk]string{contract.QuirkStream: stream},
		}}
	}
	t.Run("a tool", func(t *testing.T) {
		t.Parallel()
		var n notes
		out := benchWith(t, agent("off"), n.tool(t)).Run("Send Ann a note.")
		if out.Err != nil || out.Result.Text != "Ann has her note, all of it." || strings.Join(n.args, ",") != "ann" {
			t.Fatalf("%+v %v %v", out.Result, out.Err, n.args)
		}
		if u := out.Result.Usage; u.PromptTokens != 31 || u.CompletionTokens != 12 {
			t.Errorf("usage %+v", u)
		}
	})
	t.Run("streamed", func(t *testing.T) {
		t.Parallel()
		out := benchWith(t, agent("on")).Run("Let us just talk.")
		if out.Err != nil || out.Result.Text != "We talk, piece by piece." {
			t.Errorf("%+v %v", out.Result, out.Err)
		}
	})
}

// startMockLLM runs the server with these rules until the test ends.
func startMockLLM(t *testing.T, rules string) string {
	t.Helper()
	program := npm.Module(t, mockLLM+"/dist/main.js")
	config := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(config, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_ = listener.Close() // the server wants a port by number
	var log bytes.Buffer
	server := exec.Command("node", program, "--config", config)
	server.Env = append(os.Environ(), "HOST=127.0.0.1", "PORT="+port)
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatalf("node, which %s needs: %v", mockLLM, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-ended
	})
	url := "http://127.0.0.1:" + port
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !answers(ctx, url+"/health") {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s ended: %v\n%s", mockLLM, err, log.String())
		case <-ctx.Done():
			t.Fatalf("%s does not answer", mockLLM)
		case <-time.After(20 * time.Millisecond): // it says nothing that could be waited for
		}
	}
	return url
}

func answers(ctx context.Context, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

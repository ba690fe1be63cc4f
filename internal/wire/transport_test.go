package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/wire"
)

func request() wire.Request {
	return wire.Request{Model: "m", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}}
}

// fails makes a call that must fail with kind.
func fails(t *testing.T, e wire.Endpoint, kind wire.Kind, parts ...string) *wire.Error {
	t.Helper()
	_, err := wire.New(e).Complete(t.Context(), request(), nil)
	var got *wire.Error
	if !errors.As(err, &got) || got.Kind != kind {
		t.Fatalf("got %v, want kind %s", err, kind)
	}
	for _, p := range parts {
		if !strings.Contains(got.Message, p) {
			t.Errorf("%q is not in %q", p, got.Message)
		}
	}
	return got
}

const firstChunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"

// silent is a server that sends what it is given and then nothing. closed is
// closed when the client has gone away after its request was taken; a client
// that gives up earlier may never be noticed, so do not wait for that one: the
// end of the test waits for every request that was taken.
func silent(t *testing.T, send string) (url string, closed chan struct{}) {
	t.Helper()
	closed = make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(closed)
		// Read to its end, or net/http does not notice that the client went.
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if send != "" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprint(w, send)
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", closed
}

func TestConversation(t *testing.T) {
	t.Parallel()
	m, err := agenttest.NewModelServer(agenttest.Script{Steps: []agenttest.Step{
		{
			Text: "Let me look.", Reasoning: "hm", Usage: agenttest.StepUsage{Prompt: 9, Completion: 8, Cached: 7, Reasoning: 6},
			Calls: []agenttest.ScriptCall{{ID: "c1", Name: "f", Args: map[string]any{"city": "Zürich"}}, {ID: "c2", Name: "g", Raw: `{"unparsed`}},
		},
		{Text: "done"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c := wire.New(wire.Endpoint{BaseURL: m.URL() + "/"})
	r := request()
	r.Tools = []wire.Tool{{Name: "f"}}
	var deltas strings.Builder
	got, err := c.Complete(t.Context(), r, func(text string) { deltas.WriteString(text) })
	if err != nil {
		t.Fatal(err)
	}
	want := wire.Answer{
		Text: "Let me look.", Reasoning: "hm", Model: "m", FinishReason: "tool_calls", RequestID: "req_1",
		Calls: []contract.ToolCall{{ID: "c1", Name: "f", Args: `{"city":"Zürich"}`}, {ID: "c2", Name: "g", Args: `{"unparsed`}},
		Usage: contract.Usage{PromptTokens: 9, CompletionTokens: 8, CachedTokens: 7, ReasoningTokens: 6},
	}
	if got.Estimate < 20 || got.Estimate > 200 {
		t.Errorf("the prompt's estimate is %d tokens", got.Estimate)
	}
	want.Estimate = got.Estimate
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if deltas.String() != got.Text {
		t.Errorf("deltas %q", deltas.String())
	}
	// The transcript goes back with the unparsed arguments made legal and an
	// empty result kept.
	r.Messages = append(r.Messages,
		contract.Message{Role: contract.RoleAssistant, Content: got.Text, ToolCalls: got.Calls},
		contract.Message{Role: contract.RoleTool, ToolCallID: "c1"},
		contract.Message{Role: contract.RoleTool, ToolCallID: "c2", Content: "error: …"})
	if got, err = c.Complete(t.Context(), r, nil); err != nil || got.Text != "done" {
		t.Errorf("%+v %v", got, err)
	}
	m.Check(t)
}

func TestFailuresOfAScript(t *testing.T) {
	t.Parallel()
	m, err := agenttest.NewModelServer(agenttest.Script{Steps: []agenttest.Step{{
		Text: "a longer answer that comes in several pieces",
		Failures: []agenttest.StepFailure{
			{Status: 429, Message: "slow down", Headers: map[string]string{"Retry-After": "3"}},
			{Cut: 3},
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e := wire.Endpoint{BaseURL: m.URL()}
	if got := fails(t, e, wire.KindRateLimited, "slow down"); got.RetryAfter != 3*time.Second || !got.Retryable() || got.RequestID != "req_1" {
		t.Errorf("%+v", got)
	}
	if got := fails(t, e, wire.KindInterrupted, "broke in the middle"); !got.Retryable() || got.RequestID != "req_2" {
		t.Errorf("%+v", got)
	}
	if _, err := wire.New(e).Complete(t.Context(), request(), nil); err != nil {
		t.Error(err)
	}
	m.Check(t)
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	e := fails(t, wire.Endpoint{BaseURL: "http://user:secret@" + addr + "/v1?k=v"}, wire.KindUnavailable, "http://"+addr+"/v1", "running", "base_url")
	if !e.Retryable() || strings.Contains(e.Error(), "secret") {
		t.Errorf("%v", e)
	}
}

func TestWrongURLs(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.test/v1/chat/completions?k=secret", http.StatusMovedPermanently))
	defer moved.Close()
	fails(t, wire.Endpoint{BaseURL: strings.Replace(plain.URL, "http:", "https:", 1)}, wire.KindNotAnEndpoint, "TLS")
	fails(t, wire.Endpoint{BaseURL: "localhost:1/v1"}, wire.KindNotAnEndpoint, "not an http or https URL")
	fails(t, wire.Endpoint{BaseURL: "ftp://localhost/v1"}, wire.KindNotAnEndpoint, "not an http or https URL")
	fails(t, wire.Endpoint{BaseURL: plain.URL}, wire.KindNotAnEndpoint, plain.URL, "404")
	fails(t, wire.Endpoint{BaseURL: moved.URL}, wire.KindNotAnEndpoint, "redirects to https://elsewhere.test/v1/chat/completions")
}

func TestNoAnswerAtAll(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	if e := fails(t, wire.Endpoint{BaseURL: "http://" + l.Addr().String()}, wire.KindUnavailable); !e.Retryable() {
		t.Errorf("%v", e)
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, send string
		kind       wire.Kind
		words      string
	}{
		{"before the first byte", "", wire.KindUnavailable, "sent nothing for 50ms"},
		{"in the middle", firstChunk, wire.KindInterrupted, "in the middle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, closed := silent(t, c.send)
			endpoint := wire.Endpoint{BaseURL: url, IdleTimeout: 50 * time.Millisecond}
			if c.send != "" {
				endpoint.FirstByteTimeout = time.Minute // the server may be slow to begin
			}
			if e := fails(t, endpoint, c.kind, c.words); !e.Retryable() {
				t.Errorf("%v", e)
			}
			if c.send != "" {
				<-closed
			}
		})
	}
}

func TestFirstByteMayTakeLonger(t *testing.T) {
	t.Parallel()
	m, err := agenttest.NewModelServer(agenttest.Script{Steps: []agenttest.Step{{Text: "ok", Delay: contract.Duration(100 * time.Millisecond)}}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c := wire.New(wire.Endpoint{BaseURL: m.URL(), IdleTimeout: 20 * time.Millisecond, FirstByteTimeout: time.Minute})
	if _, err := c.Complete(t.Context(), request(), nil); err != nil {
		t.Error(err)
	}
}

func TestCancelClosesTheConnection(t *testing.T) {
	t.Parallel()
	url, closed := silent(t, firstChunk)
	cause := errors.New("the turn was interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := wire.New(wire.Endpoint{BaseURL: url}).Complete(ctx, request(), func(string) { cancel(cause) })
	if !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	<-closed
}

// TestFinishedAnswerOutlivesTheServer: a server that never ends its stream.
func TestFinishedAnswerOutlivesTheServer(t *testing.T) {
	t.Parallel()
	url, closed := silent(t, firstChunk+"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
	endpoint := wire.Endpoint{BaseURL: url, IdleTimeout: 50 * time.Millisecond, FirstByteTimeout: time.Minute}
	got, err := wire.New(endpoint).Complete(t.Context(), request(), nil)
	if err != nil || got.Text != "a" {
		t.Fatalf("%+v %v", got, err)
	}
	<-closed
}

func TestConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, firstChunk+"data: [DONE]\n\n")
		_ = http.NewResponseController(w).Flush()
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	for range 5 { // even by clients that live for one call
		c := wire.New(wire.Endpoint{BaseURL: s.URL})
		if _, err := c.Complete(t.Context(), request(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for 5 calls", n)
	}
}

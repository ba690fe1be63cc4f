package mcptools

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// remote is the SDK's server behind a door that a test may shut.
type remote struct {
	*httptest.Server
	calls atomic.Int64
	door  atomic.Pointer[func(w http.ResponseWriter, r *http.Request, body string) bool] // true: dealt with
}

func newRemote(t *testing.T, o *mcp.StreamableHTTPOptions) *remote {
	t.Helper()
	r, over := &remote{}, make(chan struct{})
	type in struct {
		Text string `json:"text"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "remote", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "send", Description: "Sends."}, func(ctx context.Context, _ *mcp.CallToolRequest, a in) (*mcp.CallToolResult, any, error) {
		r.calls.Add(1)
		if a.Text == "hang" {
			select {
			case <-ctx.Done():
			case <-over: // a cut connection does not always end the call here
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "sent " + a.Text}}}, nil, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, o)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		if door := r.door.Load(); door != nil && (*door)(w, request, string(body)) {
			return
		}
		request.Body = io.NopCloser(strings.NewReader(string(body)))
		handler.ServeHTTP(w, request)
	}))
	t.Cleanup(func() {
		close(over)
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

func (r *remote) shut(door func(w http.ResponseWriter, r *http.Request, body string) bool) {
	r.door.Store(&door)
}

func (r *remote) connect(t *testing.T, o Options) *Connection {
	t.Helper()
	c, err := Connect(t.Context(), Server{Options: o, URL: r.URL, StartTimeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func isCall(body string) bool { return strings.Contains(body, `"tools/call"`) }

// T60: streamable HTTP with sessions and without, answered as a stream and as
// JSON; the headers go along with each request.
func TestHTTP(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*mcp.StreamableHTTPOptions{
		"streams": nil, "JSON": {JSONResponse: true}, "no sessions": {Stateless: true}, "JSON, no sessions": {JSONResponse: true, Stateless: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRemote(t, o)
			var without atomic.Int64
			r.shut(func(_ http.ResponseWriter, request *http.Request, _ string) bool {
				if request.Header.Get("Authorization") != "Bearer token-77" {
					without.Add(1)
				}
				return false
			})
			c, err := Connect(t.Context(), Server{URL: r.URL, Header: http.Header{"Authorization": {"Bearer token-77"}}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if result, v := run(t, c.Tools()[0], `{"text":"a"}`); result.Text != "sent a" {
				t.Errorf("got %+v, %+v", result, v)
			}
			if n := without.Load(); n > 0 {
				t.Errorf("%d requests had no credentials", n)
			}
		})
	}
}

// T66, D05: what breaks on the way of a call decides its outcome: a refusal is
// the server's word, everything else leaves it open. Nothing is sent again, and
// the next call works.
func TestHTTPBreaks(t *testing.T) {
	t.Parallel()
	status := func(code int, text string) func(http.ResponseWriter, *http.Request, string) bool {
		return func(w http.ResponseWriter, _ *http.Request, body string) bool {
			if isCall(body) {
				w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
				http.Error(w, text, code)
			}
			return isCall(body)
		}
	}
	for _, tt := range []struct {
		name string
		door func(w http.ResponseWriter, r *http.Request, body string) bool
		want contract.Outcome
		text string
	}{
		{"unauthorized", status(401, "who are you, token-77"), contract.OutcomeFailed, "the server answered 401 Unauthorized: who are you, [Authorization]"},
		{"too many requests", status(429, "slow down"), contract.OutcomeFailed, "429 Too Many Requests: slow down"},
		{"a redirect", status(307, ""), contract.OutcomeFailed, "redirects are not followed"},
		{"a redirect to the answer", status(303, ""), contract.OutcomeUnknown, "redirects are not followed"},
		{"conflict", status(409, "taken"), contract.OutcomeFailed, "409 Conflict: taken"},
		{"request timeout", status(408, "late"), contract.OutcomeUnknown, ""},
		{"client closed", status(499, "lost"), contract.OutcomeUnknown, ""},
		{"not found", status(404, "gone"), contract.OutcomeUnknown, ""},
		{"gateway timeout", status(504, "<html>"), contract.OutcomeUnknown, "Gateway Timeout"},
		{"accepted, and nothing more", status(202, ""), contract.OutcomeUnknown, ""},
		{"the connection breaks in the answer", func(w http.ResponseWriter, _ *http.Request, body string) bool {
			if isCall(body) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Length", "1000")
				fmt.Fprint(w, `{"jsonrpc":"2.0",`)
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
			return false
		}, contract.OutcomeUnknown, "broke before it answered"},
		{"bad gateway", status(502, "upstream"), contract.OutcomeUnknown, "Bad Gateway"},
		{"internal error", status(500, "oops"), contract.OutcomeUnknown, "Internal Server Error"},
		{"the connection breaks", func(w http.ResponseWriter, _ *http.Request, body string) bool {
			if isCall(body) {
				panic(http.ErrAbortHandler)
			}
			return false
		}, contract.OutcomeUnknown, "broke before it answered"},
		{"the stream ends without an answer", func(w http.ResponseWriter, _ *http.Request, body string) bool {
			if isCall(body) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, ": hello\n\n")
			}
			return isCall(body)
		}, contract.OutcomeUnknown, ""},
		{"a page of HTML", func(w http.ResponseWriter, _ *http.Request, body string) bool {
			if isCall(body) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, "<html>log in</html>")
			}
			return isCall(body)
		}, contract.OutcomeUnknown, ""},
		{"JSON that is none", func(w http.ResponseWriter, _ *http.Request, body string) bool {
			if isCall(body) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, "{")
			}
			return isCall(body)
		}, contract.OutcomeUnknown, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRemote(t, nil)
			c, err := Connect(t.Context(), Server{
				URL: r.URL, Header: http.Header{"Authorization": {"Bearer token-77"}},
				Options: Options{ToolOptions: ToolOptions{Timeout: 20 * time.Second}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var arrived atomic.Int64
			r.shut(func(w http.ResponseWriter, request *http.Request, body string) bool {
				if isCall(body) {
					arrived.Add(1)
				}
				return tt.door(w, request, body)
			})
			_, v := run(t, c.Tools()[0], `{"text":"a"}`)
			if v.Outcome != tt.want || v.Retry || !strings.Contains(v.Text, tt.text) || strings.Contains(v.Text, "token-77") {
				t.Errorf("got %+v", v)
			}
			if n := arrived.Load(); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
			r.shut(func(http.ResponseWriter, *http.Request, string) bool { return false })
			if result, v := run(t, c.Tools()[0], `{"text":"b"}`); result.Text != "sent b" {
				t.Errorf("the next call: %+v", v)
			}
		})
	}
}

// T66: a session that the server has forgotten is made anew before a call is
// sent, so nothing is lost and nothing is open.
func TestHTTPSessionIsForgotten(t *testing.T) {
	t.Parallel()
	r := newRemote(t, nil)
	c := r.connect(t, Options{})
	if _, v := run(t, c.Tools()[0], `{"text":"a"}`); v.Outcome != contract.OutcomeDone {
		t.Fatalf("got %+v", v)
	}
	var old atomic.Pointer[string]
	r.shut(func(w http.ResponseWriter, request *http.Request, _ string) bool {
		id := request.Header.Get("Mcp-Session-Id")
		if id != "" && old.Load() == nil {
			old.Store(&id)
		}
		if id != "" && id == *old.Load() {
			http.Error(w, "session not found", http.StatusNotFound)
			return true
		}
		return false
	})
	if result, v := run(t, c.Tools()[0], `{"text":"b"}`); result.Text != "sent b" {
		t.Errorf("got %+v", v)
	}
	if n := r.calls.Load(); n != 2 {
		t.Errorf("the server got %d calls", n)
	}
}

// T66, D06: the deadline of a call holds, and the server may go on.
func TestHTTPDeadline(t *testing.T) {
	t.Parallel()
	r := newRemote(t, nil)
	tool := r.connect(t, Options{ToolOptions: ToolOptions{Timeout: 500 * time.Millisecond, Class: tooldefs.Keyed}}).Tools()[0]
	if _, v := run(t, tool, `{"text":"hang"}`); v.Outcome != contract.OutcomeUnknown || !strings.Contains(v.Text, "timed out after 500ms") {
		t.Errorf("got %+v", v)
	}
	eventually(t, "a call is answered again", func() bool {
		result, _ := run(t, tool, `{"text":"b"}`)
		return result.Text == "sent b"
	})
}

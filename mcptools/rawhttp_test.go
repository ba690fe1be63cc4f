package mcptools

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// rawHTTP is a server of streamable HTTP written by hand: a test says what it
// answers to a method, or to GET and DELETE, and all else is as it should be.
type rawHTTP struct {
	*httptest.Server
	tools string

	mu      sync.Mutex
	answers map[string]func(w http.ResponseWriter, r *http.Request, id string)
	got     []string // methods of the protocol and of HTTP, in order
}

func newRawHTTP(t *testing.T, tools string) *rawHTTP {
	t.Helper()
	h := &rawHTTP{tools: tools, answers: map[string]func(http.ResponseWriter, *http.Request, string){}}
	h.Server = httptest.NewUnstartedServer(h)
	h.Config.ErrorLog = nil
	h.Start()
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h
}

// on says what is answered to a method from now on; nil is what should be.
func (h *rawHTTP) on(method string, answer func(w http.ResponseWriter, r *http.Request, id string)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers[method] = answer
}

// count is how often a method arrived.
func (h *rawHTTP) count(method string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, m := range h.got {
		if m == method {
			n++
		}
	}
	return n
}

func (h *rawHTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal(body, &m)
	if r.Method != http.MethodPost {
		m.Method = r.Method
	}
	h.mu.Lock()
	h.got = append(h.got, m.Method)
	answer := h.answers[m.Method]
	h.mu.Unlock()
	if answer != nil {
		answer(w, r, string(m.ID))
		return
	}
	switch m.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", "s1")
		sayJSON(w, string(m.ID), `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`)
	case "tools/list":
		sayJSON(w, string(m.ID), `{"tools":`+h.tools+`}`)
	case "tools/call":
		sayJSON(w, string(m.ID), `{"content":[{"type":"text","text":"fine"}]}`)
	case "ping":
		sayJSON(w, string(m.ID), `{}`)
	case http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func sayJSON(w http.ResponseWriter, id, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// sayEvents begins a stream of events and sends its first lines.
func sayEvents(w http.ResponseWriter, lines string) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, lines)
	w.(http.Flusher).Flush()
}

func (h *rawHTTP) config(o Options) Server {
	return Server{Options: o, URL: h.URL, StartTimeout: 20 * time.Second}
}

func (h *rawHTTP) connect(t *testing.T, o Options) *Connection {
	t.Helper()
	c, err := Connect(t.Context(), h.config(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func tool(schema string) string { return string(oneTool("ask", "Asks.", schema)) }

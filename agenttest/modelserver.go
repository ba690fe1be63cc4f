package agenttest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// ModelServer is an OpenAI-compatible HTTP server that plays a [Script]. It
// is safe for concurrent use and keeps no conversation: which step is due
// follows from the request alone.
type ModelServer struct {
	script Script
	server *http.Server
	url    string
	cancel context.CancelFunc
	served chan struct{}

	mu       sync.Mutex
	requests []ModelRequest
	seen     map[[sha256.Size]byte]int // how often each request came
	err      error
}

// NewModelServer starts a server on a free port of the loopback interface.
// Close it.
func NewModelServer(s Script) (*ModelServer, error) { return StartModelServer("127.0.0.1:0", s) }

// StartModelServer starts a server on addr ("host:port"). Close it.
func StartModelServer(addr string, s Script) (*ModelServer, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("model server: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &ModelServer{
		script: s,
		url:    "http://" + listener.Addr().String() + "/v1",
		cancel: cancel,
		served: make(chan struct{}),
		seen:   map[[sha256.Size]byte]int{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.chat)
	mux.HandleFunc("GET /v1/models", m.models)
	mux.HandleFunc("/", m.elsewhere)
	m.server = &http.Server{
		Handler:           mux,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
	}
	go func() {
		defer close(m.served)
		if err := m.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			m.fault(fmt.Errorf("model server: %w", err))
		}
	}()
	return m, nil
}

// URL is the server's base URL; it ends in /v1.
func (m *ModelServer) URL() string { return m.url }

// Close cuts all connections and waits until the server is gone. It may be
// called more than once.
func (m *ModelServer) Close() {
	m.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if m.server.Shutdown(ctx) != nil {
		_ = m.server.Close()
	}
	<-m.served
}

// Requests are the chat requests so far, illegal ones included, in the order
// they came in. The caller must not modify what they hold.
func (m *ModelServer) Requests() []ModelRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Err is the first thing that should not have happened: an illegal request,
// one beyond the script's end, or one to another path. A wrong script or a
// wrong client shows here even where the client swallows the answer.
func (m *ModelServer) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Check fails the test if there is an [ModelServer.Err].
func (m *ModelServer) Check(t testing.TB) {
	t.Helper()
	if err := m.Err(); err != nil {
		t.Errorf("model server: %v", err)
	}
}

// fault records the first error.
func (m *ModelServer) fault(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = err
	}
}

// record keeps a request and says how often the same one came before.
func (m *ModelServer) record(r ModelRequest) (index, before int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	digest := sha256.Sum256(r.identity())
	before = m.seen[digest]
	m.seen[digest]++
	m.requests = append(m.requests, r)
	return len(m.requests) - 1, before
}

// step is the step that is due: counted by the assistant messages since the
// latest user message.
func (m *ModelServer) step(ctx context.Context, r ModelRequest) (Step, error) {
	if m.script.Hook != nil {
		if s := m.script.Hook(ctx, r); s != nil {
			return *s, errors.Join(stepErrors(s.faults("hook"))...)
		}
	}
	steps := m.script.Steps
	for _, t := range m.script.Turns {
		if strings.Contains(r.User, t.When) {
			steps = t.Steps
			break
		}
	}
	if r.Step > len(steps) {
		return Step{}, fmt.Errorf("the script has %d steps for the user message %.80q, and the request is for step %d", len(steps), r.User, r.Step)
	}
	return steps[r.Step-1], nil
}

func stepErrors(faults []scriptFault) []error {
	var all []error
	for _, f := range faults {
		all = append(all, errors.New(f.path+": "+f.text))
	}
	return all
}

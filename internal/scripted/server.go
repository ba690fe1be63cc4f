package scripted

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Server is a [Model] on an address, which keeps its requests.
type Server struct {
	*Model
	server *http.Server
	url    string
	cancel context.CancelFunc
	served chan struct{}
}

// Start starts a server on addr ("host:port"). Close it.
func Start(addr string, s Script) (*Server, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("model server: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &Server{
		Model:  NewModel("the script", s),
		url:    "http://" + listener.Addr().String() + "/v1",
		cancel: cancel,
		served: make(chan struct{}),
	}
	m.keeps = true
	m.server = &http.Server{
		Handler:           m.Model,
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
func (m *Server) URL() string { return m.url }

// Close cuts all connections and waits until the server is gone. It may be
// called more than once.
func (m *Server) Close() {
	m.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if m.server.Shutdown(ctx) != nil {
		_ = m.server.Close()
	}
	<-m.served
}

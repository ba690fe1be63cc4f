package scripted

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// Prefix begins the model of an agent that a script plays: scripted/<file>.
const Prefix = "scripted/"

// NewClient is an HTTP client whose every request is answered by the model,
// whatever its host, in this process and without a network; its base URL ends in
// /v1. There is nothing to close: what runs for
// a request ends with it.
func NewClient(m *Model) *http.Client { return &http.Client{Transport: transport{m}} }

type transport struct{ model *Model }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	reader, writer := io.Pipe()
	w := &response{header: http.Header{}, began: make(chan struct{}), body: writer}
	stop := context.AfterFunc(ctx, func() { _ = reader.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer cancel()
		defer stop() // what is written stays readable
		defer func() {
			w.end(recover())
			if r.Body != nil {
				_ = r.Body.Close()
			}
		}()
		t.model.ServeHTTP(w, asServed(ctx, r))
	}()
	select {
	case <-w.began:
	case <-ctx.Done():
		<-w.began // the handler leaves on its own
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
	}
	if w.broken {
		cancel()
		return nil, io.ErrUnexpectedEOF
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: body{reader, cancel}, ContentLength: -1, Request: r,
	}, nil
}

// asServed is a client's request as a server has it.
func asServed(ctx context.Context, r *http.Request) *http.Request {
	in := r.Clone(ctx)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return in
}

// body ends the answer when it is closed.
type body struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close ends the answer.
func (b body) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// response is an answer on its way to the client. The fields below once are
// set before began is closed.
type response struct {
	header http.Header
	body   *io.PipeWriter

	once   sync.Once
	began  chan struct{}
	status int
	sent   http.Header
	broken bool // before anything was said
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

// WriteHeader begins the answer.
func (w *response) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.began)
	})
}

// Write implements http.ResponseWriter; it waits for the reader.
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// Flush implements http.Flusher: nothing is held back.
func (w *response) Flush() { w.WriteHeader(http.StatusOK) }

// end ends the answer: as a broken connection if the handler panicked.
func (w *response) end(panicked any) {
	if panicked == nil {
		w.WriteHeader(http.StatusOK)
		_ = w.body.Close()
		return
	}
	if err, ok := panicked.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		defer panic(panicked)
	}
	w.once.Do(func() {
		w.broken = true
		close(w.began)
	})
	_ = w.body.CloseWithError(io.ErrUnexpectedEOF)
}

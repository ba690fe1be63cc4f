package scripted

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// maxSeen bounds the requests that a model remembers which keeps none: how
// often each came matters for the failures of a step alone.
const maxSeen = 10_000

// Model answers the requests of OpenAI's chat API with a [Script]. It is safe
// for concurrent use and keeps no conversation: which step is due follows from
// the request alone.
type Model struct {
	script Script
	name   string // of the script, for errors
	keeps  bool   // its requests
	mux    *http.ServeMux

	mu       sync.Mutex
	requests []Request
	count    int
	seen     map[[sha256.Size]byte]int // how often each request came
	err      error
}

// NewModel plays a script that [Read] or [Parse] has checked. name is what
// errors call the script. It needs no closing.
func NewModel(name string, s Script) *Model {
	m := &Model{script: s, name: name, mux: http.NewServeMux(), seen: map[[sha256.Size]byte]int{}}
	m.mux.HandleFunc("POST /v1/chat/completions", m.chat)
	m.mux.HandleFunc("GET /v1/models", m.models)
	m.mux.HandleFunc("/", m.elsewhere)
	return m
}

// ServeHTTP implements http.Handler.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }

// Requests are the chat requests so far, illegal ones included, in the order
// they came in, where the model keeps them. The caller must not modify what
// they hold.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Err is the first thing that should not have happened: an illegal request,
// one beyond the script's end, or one to another path.
func (m *Model) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// fault records the first error.
func (m *Model) fault(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = err
	}
}

// record counts a request and says how often the same one came before.
func (m *Model) record(r Request) (number, before int) {
	digest := sha256.Sum256(r.identity())
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keeps {
		m.requests = append(m.requests, r)
	} else if len(m.seen) >= maxSeen {
		clear(m.seen)
	}
	m.count++
	before = m.seen[digest]
	m.seen[digest]++
	return m.count, before
}

// step is the step that is due: counted by the assistant messages since the
// latest user message.
func (m *Model) step(ctx context.Context, r Request) (Step, error) {
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
		return Step{}, fmt.Errorf("%s has %d steps for the user message %.80q, and the request is for step %d", m.name, len(steps), r.User, r.Step)
	}
	return steps[r.Step-1], nil
}

func stepErrors(faults []fault) []error {
	var all []error
	for _, f := range faults {
		all = append(all, errors.New(f.path+": "+f.text))
	}
	return all
}

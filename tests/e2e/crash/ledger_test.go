package crash

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
)

// request is what a tool sends.
type request struct {
	Tool, Key string
	Dedupe    bool // the tool is Keyed
}

// ledger is the world outside: a service in this process, which no worker is
// in. It records every request that arrives, and does what was asked once for
// each key where the tool is Keyed, else each time.
type ledger struct {
	url  string
	slow time.Duration

	mu   sync.Mutex
	rows []agenttest.Arrival
	seen map[string]bool
}

// How long a ledger takes at most before the effect, and again after it, so
// that workers die in both halves.
const (
	quick = 150 * time.Millisecond
	slow  = 2 * time.Second // a person has time to do something about the call
)

func newLedger(t *testing.T, slow time.Duration) *ledger {
	t.Helper()
	l := &ledger{slow: slow, seen: map[string]bool{}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in request
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			return // the worker died while it wrote: nothing arrived
		}
		l.work(r, in.Key+"before")
		l.take(in) // whether or not the caller still waits
		l.work(r, in.Key+"after")
		_, _ = w.Write([]byte(in.Tool + " ok"))
	}))
	l.url = s.URL
	t.Cleanup(s.Close)
	return l
}

// work takes a time of its own for each word, at least a quarter of the longest,
// or until the caller is gone.
func (l *ledger) work(r *http.Request, word string) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(word))
	timer := time.NewTimer(l.slow/4 + time.Duration(h.Sum32())%(l.slow*3/4))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

func (l *ledger) take(in request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := in.Dedupe && l.seen[in.Key]
	l.seen[in.Key] = true
	l.rows = append(l.rows, agenttest.Arrival{Key: in.Key, Deduplicated: known})
}

func (l *ledger) arrivals() ([]agenttest.Arrival, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]agenttest.Arrival(nil), l.rows...), nil
}

// count is how many requests have arrived.
func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.rows)
}

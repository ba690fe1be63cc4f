package lineage

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// arrival is a request that reached the world outside.
type arrival struct {
	Tool, Item, Key string
	Attempt         int

	// Before says that nothing has arrived yet: the handler is about to send.
	Before bool
}

// reply is what the world outside answers.
type reply struct {
	Status int    // if zero, 200
	Text   string // the body
	Hang   bool   // never answers: until the caller goes away or the test releases it
	Cut    bool   // the effect stands, the answer is lost
}

// ledger is the world outside: it counts each request that arrives, whatever
// becomes of its answer.
type ledger struct {
	url     string
	arrived chan arrival // every arrival, and each that is about to, as it happens
	free    chan struct{}
	release func() // lets all that hang return

	mu   sync.Mutex
	rows []arrival
	soon []arrival // about to arrive
}

// newLedger answers with what answer says to the n-th arrival of an item, from
// 1, and to the n-th time that one is about to; nil answers "ok".
func newLedger(t *testing.T, answer func(a arrival, n int) reply) *ledger {
	t.Helper()
	l := &ledger{arrived: make(chan arrival, 1000), free: make(chan struct{})}
	l.release = sync.OnceFunc(func() { close(l.free) })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a arrival
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			t.Errorf("the ledger got %v", err)
		}
		n := l.add(a)
		var say reply
		if answer != nil {
			say = answer(a, n)
		}
		if say.Hang {
			select {
			case <-l.free:
			case <-r.Context().Done():
			}
		}
		if say.Cut {
			panic(http.ErrAbortHandler)
		}
		if say.Status != 0 {
			w.WriteHeader(say.Status)
		}
		if say.Text == "" {
			say.Text = a.Item + " ok"
		}
		_, _ = w.Write([]byte(say.Text))
	}))
	l.url = s.URL
	t.Cleanup(s.Close)
	t.Cleanup(l.release) // before Close, which waits for requests
	return l
}

func (l *ledger) add(a arrival) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := &l.rows
	if a.Before {
		rows = &l.soon
	}
	*rows = append(*rows, a)
	l.arrived <- a
	for _, r := range *rows {
		if r.Tool == a.Tool && r.Item == a.Item {
			n++
		}
	}
	return n
}

// of are the keys under which an item arrived, in order; one entry an arrival.
func (l *ledger) of(item string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var keys []string
	for _, r := range l.rows {
		if r.Item == item {
			keys = append(keys, r.Key)
		}
	}
	return keys
}

// want checks how often an item arrived, always under one key.
func (l *ledger) want(t *testing.T, item string, arrivals int) {
	t.Helper()
	keys := l.of(item)
	if len(keys) != arrivals {
		t.Errorf("%s arrived %d times, want %d", item, len(keys), arrivals)
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(keys))); len(distinct) > 1 {
		t.Errorf("%s arrived under %d keys: %.8q", item, len(distinct), distinct)
	}
}

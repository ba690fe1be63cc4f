package crash

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
)

// ledgerServeEnv makes this binary a ledger; it holds how slow a one.
const ledgerServeEnv = "TURNKEEL_TEST_LEDGER_SERVE"

// arrivalsPath is where a ledger tells what has arrived.
const arrivalsPath = "/arrivals"

// request is what a tool sends.
type request struct {
	Tool, Key string
	Dedupe    bool // the tool is Keyed
}

// ledgerServer records every request that arrives, and does what was asked once
// for each key where the tool is Keyed, else each time.
type ledgerServer struct {
	slow time.Duration

	mu   sync.Mutex
	rows []agenttest.Arrival
	seen map[string]bool
}

// serveLedger makes this process a ledger, if newLedger has started it: then it
// prints its URL, serves until its standard input ends, and never returns.
func serveLedger() {
	text := os.Getenv(ledgerServeEnv)
	if text == "" {
		return
	}
	if err := ledgerProcess(text); err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func ledgerProcess(slow string) error {
	took, err := time.ParseDuration(slow)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	book := &ledgerServer{slow: took, rows: []agenttest.Arrival{}, seen: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /", book.post)
	mux.HandleFunc("GET "+arrivalsPath, book.tell)
	failed := make(chan error, 1)
	go func() { failed <- http.Serve(l, mux) }() //nolint:gosec // no timeouts: its only clients are this test's
	fmt.Printf("http://%s\n", l.Addr())
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(over)
	}()
	select {
	case err := <-failed:
		return err
	case <-over:
		return nil
	}
}

// post takes a tool's request.
func (l *ledgerServer) post(w http.ResponseWriter, r *http.Request) {
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return // the worker died while it wrote: nothing arrived
	}
	l.work(r, in.Key+"before")
	l.take(in) // whether or not the caller still waits
	l.work(r, in.Key+"after")
	_, _ = w.Write([]byte(in.Tool + " ok"))
}

// tell says what has arrived.
func (l *ledgerServer) tell(w http.ResponseWriter, _ *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = json.NewEncoder(w).Encode(l.rows)
}

// work takes a time of its own for each word, at least a quarter of the longest,
// or until the caller is gone.
func (l *ledgerServer) work(r *http.Request, word string) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(word))
	timer := time.NewTimer(l.slow/4 + time.Duration(h.Sum32())%(l.slow*3/4))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

func (l *ledgerServer) take(in request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := in.Dedupe && l.seen[in.Key]
	l.seen[in.Key] = true
	l.rows = append(l.rows, agenttest.Arrival{Key: in.Key, Deduplicated: known})
}

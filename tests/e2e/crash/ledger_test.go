package crash

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
)

// ledger is the world outside: an HTTP service in a process of its own, which
// is neither the test's nor a worker's.
type ledger struct {
	t   *testing.T
	url string
}

// How long a ledger takes at most before the effect, and again after it, so
// that workers die in both halves.
const (
	quick = 150 * time.Millisecond
	slow  = 2 * time.Second // a person has time to do something about the call
)

// newLedger starts the process: this test binary, see serveLedger. It ends
// with its standard input, so also when the test is killed.
func newLedger(t *testing.T, slow time.Duration) *ledger {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^$") //nolint:gosec // itself
	cmd.Env = append(os.Environ(), ledgerServeEnv+"="+slow.String())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the ledger's process: %v", err)
		}
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the ledger did not come up: %v", err)
	}
	return &ledger{t, strings.TrimSpace(url)}
}

// arrivals is every request that has arrived.
func (l *ledger) arrivals() (all []agenttest.Arrival, err error) {
	answer, err := http.Get(l.url + arrivalsPath)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the ledger answered %s", answer.Status)
	}
	return all, json.NewDecoder(answer.Body).Decode(&all)
}

// count is how many requests have arrived.
func (l *ledger) count() int {
	all, err := l.arrivals()
	if err != nil {
		l.t.Error(err)
	}
	return len(all)
}

package lineage

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	sdkworker "go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// What a worker process of a test is told. Its first variable makes the test
// binary one.
const (
	workerEnv  = "TURNKEEL_TEST_WORKER" // task queue
	modelEnv   = "TURNKEEL_TEST_MODEL"
	ledgerEnv  = "TURNKEEL_TEST_LEDGER"
	timeoutEnv = "TURNKEEL_TEST_TIMEOUT"
)

// serveWorker is the main function of a worker process.
func serveWorker() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	timeout, err := time.ParseDuration(os.Getenv(timeoutEnv))
	if err == nil {
		err = turnkeel.Run(ctx, turnkeel.Options{
			TaskQueue: os.Getenv(workerEnv),
			Tools:     toolset(os.Getenv(ledgerEnv), timeout),
			Agents: []contract.Agent{{
				Name: agenttest.AgentName, Model: "openai/scripted", Tools: []string{"all"},
				Endpoint: contract.Endpoint{BaseURL: os.Getenv(modelEnv)},
			}},
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// world is a turn's surroundings: the bench, and the ledger outside.
type world struct {
	*agenttest.Bench
	ledger  *ledger
	timeout time.Duration
}

type worldOptions struct {
	answer   func(arrival, int) reply
	timeout  time.Duration // of each tool call; if zero, a minute
	noWorker bool          // the test runs worker processes
	agent    contract.Agent
}

func newWorld(t *testing.T, s agenttest.Script, o worldOptions) *world {
	t.Helper()
	if o.timeout == 0 {
		o.timeout = time.Minute
	}
	l := newLedger(t, o.answer)
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: toolset(l.url, o.timeout), Script: s, NoWorker: o.noWorker, StopTimeout: 200 * time.Millisecond,
		Agent: o.agent,
	})
	t.Cleanup(l.release) // before the worker stops: nothing is to wait for a hanging call
	return &world{b, l, o.timeout}
}

// process runs a worker as a process of its own. kill ends it as a crash does,
// and returns once it is gone.
func (w *world) process(t *testing.T) (kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this test
	cmd.Env = append(os.Environ(), workerEnv+"="+w.Queue, modelEnv+"="+w.Model.URL(), ledgerEnv+"="+w.ledger.url,
		timeoutEnv+"="+w.timeout.String(), "TEMPORAL_ADDRESS="+server.Address, "TEMPORAL_NAMESPACE="+server.Namespace)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	kill = func() {
		_ = cmd.Process.Kill()
		<-done
	}
	t.Cleanup(kill)
	return kill
}

// serveElsewhere runs a worker of the other task queue.
func (w *world) serveElsewhere(t *testing.T) {
	t.Helper()
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(w.Temporal, elsewhereQueue(w.ledger.url), options)
	if err := turnkeel.Register(worker, turnkeel.Options{
		Tools: toolset(w.ledger.url, w.timeout), Agents: []contract.Agent{{Name: agenttest.AgentName, Model: "openai/scripted"}},
	}); err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Stop)
}

// next waits for the next arrival at the ledger.
func (w *world) next(t *testing.T) arrival {
	t.Helper()
	select {
	case a := <-w.ledger.arrived:
		return a
	case <-t.Context().Done():
		t.Fatal("nothing more arrived at the ledger")
		return arrival{}
	}
}

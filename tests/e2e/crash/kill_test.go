package crash

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// run runs turns against a ledger.
func run(t *testing.T, book *ledger, o agenttest.CrashOptions) agenttest.CrashReport {
	t.Helper()
	o.Ledger, o.Env = book.arrivals, append(o.Env, ledgerEnv+"="+book.url)
	if o.Server.Address == "" {
		o.Server = server
	}
	if len(o.Script.Steps) == 0 {
		o.Script = script(pay)
	}
	report := agenttest.Crash(t, o)
	failed(t, report)
	text := t.Name() + ":\n" + report.String()
	t.Log(text)
	if name := os.Getenv(reportEnv); name != "" {
		appendTo(t, name, text)
	}
	return report
}

// failed looks for calls with an effect that are said to have failed: no tool
// of ours fails.
func failed(t *testing.T, r agenttest.CrashReport) {
	t.Helper()
	for _, out := range r.Outcomes {
		for _, e := range out.Effects {
			if e.Outcome != contract.OutcomeDone && e.Outcome != contract.OutcomeUnknown && e.Class != contract.ClassSafeToRetry {
				t.Errorf("turn %s: %s is %s: %s", out.Turn.ID, e.Tool, e.Outcome, e.Text)
			}
		}
	}
}

// The kill matrix: worker processes are killed at every event of a turn, at
// both edges of a call, and at random.
func TestKillMatrix(t *testing.T) {
	t.Parallel()
	r := run(t, newLedger(t, quick), agenttest.CrashOptions{
		Turns: 8, Kills: *kills, Seed: *seed, Every: 750 * time.Millisecond,
	})
	if r.Kills != *kills || r.AtEvent < r.Kills/2 || r.Events < min(20, *kills/2) || r.Lost.N == 0 {
		t.Errorf("the matrix did not kill as it should:\n%s", r)
	}
}

// The same with the signal that a deploy sends, to workers whose grace is
// shorter than the calls: some are cut.
func TestStopMatrix_ShortGrace(t *testing.T) {
	t.Parallel()
	r := run(t, newLedger(t, quick), agenttest.CrashOptions{
		Kills: *kills / 5, Seed: *seed, Signal: syscall.SIGTERM, StopTimeout: quick,
	})
	if r.Kills != *kills/5 {
		t.Errorf("%d kills", r.Kills)
	}
}

// With the default grace, which is longer than the calls, a deploy cuts none, on
// a server that does not hand tasks to a worker that stops.
func TestStopMatrix(t *testing.T) {
	t.Parallel()
	s := newDevserver(t, "frontend.enableCancelWorkerPollsOnShutdown=true")
	r := run(t, newLedger(t, quick), agenttest.CrashOptions{Server: s.server(), Kills: *kills / 5, Seed: *seed, Signal: syscall.SIGTERM})
	if r.Kills != *kills/5 || r.Calls.Unknown > 0 {
		t.Errorf("%d kills, %d calls are unknown", r.Kills, r.Calls.Unknown)
	}
}

func appendTo(t *testing.T, name, text string) {
	t.Helper()
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the caller's own
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := fmt.Fprintln(file, text); err != nil {
		t.Fatal(err)
	}
}

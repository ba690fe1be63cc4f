package lineage

import (
	"os/exec"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/toolbin"
)

// operator runs the temporal CLI on the turn's first tool call.
func (w *world) operator(t *testing.T, turn *turnkeel.Turn, args ...string) {
	t.Helper()
	cli, err := toolbin.TemporalCLI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	args = append(append([]string{"activity"}, args...),
		"--workflow-id", turn.ID, "--activity-id", contract.CallActivityID(1, 1, 0),
		"--address", server.Address, "--namespace", server.Namespace)
	if out, err := exec.CommandContext(t.Context(), cli, args...).CombinedOutput(); err != nil { //nolint:gosec // a test's own
		t.Fatalf("temporal %q: %v\n%s", args, err, out)
	}
}

// What an operator may do to a running AtMostOnce call: whatever he does, its
// effect arrives once, and nobody is told that it failed.
func TestOperator_OnARunningCall(t *testing.T) {
	t.Parallel()
	type act = func(t *testing.T, w *world, turn *turnkeel.Turn, kill func())
	do := func(args ...string) act {
		return func(t *testing.T, w *world, turn *turnkeel.Turn, _ func()) { w.operator(t, turn, args...) }
	}
	seen := func(t *testing.T, w *world, turn *turnkeel.Turn, _ func()) { // by the worker, in its next heartbeat's answer
		since := time.Time{}
		w.waitPending(t, turn, func(p pending) bool {
			if since.IsZero() {
				since = p.GetLastHeartbeatTime().AsTime()
			}
			return p.GetLastHeartbeatTime().AsTime().Sub(since) > 4*time.Second
		})
	}
	finish := func(_ *testing.T, w *world, _ *turnkeel.Turn, _ func()) { w.ledger.release() }
	// The server may notice the loss while the call is paused, or only after:
	// it drops the timers of a paused activity that fire.
	lose := func(t *testing.T, w *world, _ *turnkeel.Turn, kill func()) {
		kill()
		w.process(t)
	}
	const attempts = "--retry-maximum-attempts"
	for _, c := range []struct {
		name  string
		steps []act
		want  contract.Outcome
	}{
		{"pause", []act{do("pause"), seen, finish}, contract.OutcomeDone},
		{"pause, unpause", []act{do("pause"), seen, do("unpause"), finish}, contract.OutcomeDone},
		{"reset", []act{do("reset"), seen, finish}, contract.OutcomeDone},
		{"reset, more attempts", []act{do("update-options", attempts, "5"), do("reset", "--reset-heartbeats"), seen, finish}, contract.OutcomeDone},
		{"update-options", []act{do("update-options", attempts, "5"), finish}, contract.OutcomeDone},
		{"pause, lost, unpause", []act{do("pause"), lose, do("unpause")}, contract.OutcomeUnknown},
		{"pause, lost, unpause as new", []act{do("pause"), lose, do("unpause", "--reset-attempts", "--reset-heartbeats")}, contract.OutcomeUnknown},
		{"pause, lost, reset", []act{do("pause"), lose, do("reset", "--reset-heartbeats")}, contract.OutcomeUnknown},
		{"more attempts, lost", []act{do("update-options", attempts, "5"), lose}, contract.OutcomeUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, script(calls(call(once, "x"))), worldOptions{
				noWorker: true, answer: func(_ arrival, n int) reply { return reply{Hang: n == 1} },
			})
			kill := w.process(t)
			turn := w.Start("go")
			w.next(t)
			for _, step := range c.steps {
				step(t, w, turn, kill)
			}
			out := w.Wait(turn)
			completed(t, out)
			if e := out.Effects[0]; e.Outcome != c.want {
				t.Errorf("%s, want %s: %s", e.Outcome, c.want, e.Text)
			}
			w.ledger.want(t, "x", 1)
		})
	}
}

// A call that waits for a worker has not started. What an operator does to it
// then leaves the server unable to tell it from one that was lost, where it
// makes the server hand it out anew; such a call is refused, and said to be
// unknown. Repeatable classes just run.
func TestOperator_OnAWaitingCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tool string
		steps      [][]string
		want       contract.Outcome
		arrivals   int
	}{
		{"update-options", elsewhere, [][]string{{"update-options", "--start-to-close-timeout", "30s"}}, contract.OutcomeDone, 1},
		{"pause, unpause", elsewhere, [][]string{{"pause"}, {"unpause"}}, contract.OutcomeUnknown, 0},
		{"reset", elsewhere, [][]string{{"reset"}}, contract.OutcomeUnknown, 0},
		{"keyed pause, unpause", elsewhereKeyed, [][]string{{"pause"}, {"unpause"}}, contract.OutcomeDone, 1},
		{"keyed reset", elsewhereKeyed, [][]string{{"reset"}}, contract.OutcomeDone, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, script(calls(call(c.tool, "x"))), worldOptions{})
			turn := w.Start("go")
			w.waitPending(t, turn, func(p pending) bool { return p.GetActivityType().GetName() == contract.ToolActivity(c.tool) })
			for _, args := range c.steps {
				w.operator(t, turn, args...)
			}
			w.serveElsewhere(t)
			out := w.Wait(turn)
			completed(t, out)
			if e := out.Effects[0]; e.Outcome != c.want {
				t.Errorf("%s, want %s: %s", e.Outcome, c.want, e.Text)
			}
			w.ledger.want(t, "x", c.arrivals)
		})
	}
}

// A pause does not cut a repeatable call either, and a reset of one is told to
// its handler at once.
func TestOperator_ResetOfARepeatableCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(calls(call(keyed, "x"))), worldOptions{
		answer: func(_ arrival, n int) reply { return reply{Hang: n == 1} },
	})
	turn := w.Start("go")
	w.next(t)
	w.operator(t, turn, "reset")
	out := w.Wait(turn)
	completed(t, out)
	if e := out.Effects[0]; e.Outcome != contract.OutcomeDone {
		t.Errorf("%s: %s", e.Outcome, e.Text)
	}
	w.ledger.want(t, "x", 2)
}

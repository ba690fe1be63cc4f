package lineage

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
)

// R08, P05: a finished turn of four calls, reset to every one of its workflow
// tasks: each effect has arrived once, the model has been asked for nothing
// again, and each run says the same as the first.
func TestReset_ToEveryWorkflowTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(
		calls(call(read, "r")), calls(call(once, "a"), call(keyed, "b")), calls(call(once, "c")),
	), worldOptions{})
	first := w.Run("go")
	completed(t, first)
	asked := len(w.Model.Requests())
	for _, task := range w.tasks(t, first.Turn.ID, first.Turn.RunID) {
		out := w.Wait(w.reset(t, first.Turn.ID, first.Turn.RunID, task))
		completed(t, out)
		if diff := cmp.Diff(first.Messages, out.Messages); diff != "" {
			t.Errorf("reset to event %d: %s", task, diff)
		}
	}
	w.asked(t, asked)
	for _, item := range []string{"r", "a", "b", "c"} {
		w.ledger.want(t, item, 1)
	}
}

// Three resets, two of them of one run: B, which charges, is on no path from C.
func TestReset_SiblingsAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(calls(call(read, "gate")), calls(call(once, "charge"))), worldOptions{
		answer: func(a arrival, n int) reply { return reply{Hang: a.Item == "gate" && n == 1} },
	})
	a := w.Start("charge it")
	w.next(t) // A waits at the gate
	task := w.tasks(t, a.ID, a.RunID)[0]
	b := w.reset(t, a.ID, a.RunID, task)
	completed(t, w.Wait(b))
	w.ledger.want(t, "charge", 1)
	c := w.reset(t, a.ID, a.RunID, task)
	completed(t, w.Wait(c))
	d := w.reset(t, a.ID, c.RunID, w.tasks(t, a.ID, c.RunID)[1])
	out := w.Wait(d)
	completed(t, out)
	w.ledger.want(t, "charge", 1)
	w.ledger.want(t, "gate", 2) // A's has no recorded outcome: a read runs again
	w.asked(t, 3)
	if e := out.Effects[1]; e.FromRun != b.RunID || e.Outcome != contract.OutcomeDone {
		t.Errorf("the charge is %s from run %q, want done from %s", e.Outcome, e.FromRun, b.RunID)
	}
}

// C10: a reset to just before the second call of a step, with a signal that is
// applied again.
func TestReset_BetweenTheCallsOfAStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(calls(call(once, "a"), call(once, "b"), call(once, "c"))), worldOptions{
		answer: func(a arrival, _ int) reply { return reply{Hang: a.Item == "b"} },
	})
	turn := w.Start("go")
	w.next(t)
	w.next(t) // b hangs
	if err := w.Temporal.SignalWorkflow(t.Context(), turn.ID, turn.RunID, "message", "3"); err != nil {
		t.Fatal(err)
	}
	w.ledger.release()
	completed(t, w.Wait(turn))
	tasks := w.tasks(t, turn.ID, turn.RunID)
	for _, task := range []int64{tasks[1], tasks[2]} { // after the answer; after a
		completed(t, w.Wait(w.reset(t, turn.ID, turn.RunID, task)))
	}
	for _, item := range []string{"a", "b", "c"} {
		w.ledger.want(t, item, 1)
	}
	w.asked(t, 2)
}

// The reset column of the class table, for a call that was running: it has no
// recorded outcome. The old attempt still runs beside the new run.
func TestReset_WhileACallRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool     string
		arrivals int
		outcome  contract.Outcome
	}{
		{once, 1, contract.OutcomeUnknown},
		{deaf, 1, contract.OutcomeUnknown},
		{keyed, 2, contract.OutcomeDone},
		{read, 2, contract.OutcomeDone},
	} {
		for _, at := range []int{0, 1} { // the task that asked the model; the one that scheduled the call
			t.Run(fmt.Sprint(c.tool, at), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, script(calls(call(c.tool, "x"))), worldOptions{
					answer: func(_ arrival, n int) reply { return reply{Hang: n == 1} },
				})
				turn := w.Start("go")
				w.next(t)
				out := w.Wait(w.reset(t, turn.ID, turn.RunID, w.tasks(t, turn.ID, turn.RunID)[at]))
				completed(t, out)
				if diff := cmp.Diff([]contract.Outcome{c.outcome}, outcomes(out)); diff != "" {
					t.Error(diff)
				}
				w.ledger.release()
				w.ledger.want(t, "x", c.arrivals)
				w.asked(t, 2)
			})
		}
	}
}

// What ended unknown or failed before a reset is that after it, in the same
// words, so the model's later answers stand too.
func TestReset_KeepsWhatWentWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tool string
		reply      reply
		outcome    contract.Outcome
	}{
		{"failed once", once, reply{Status: 500}, contract.OutcomeFailed},
		{"failed keyed", keyed, reply{Status: 500}, contract.OutcomeFailed},
		{"failed read", read, reply{Status: 500}, contract.OutcomeFailed},
		{"unknown once", once, reply{Cut: true}, contract.OutcomeUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, script(calls(call(c.tool, "x")), calls(call(once, "after"))), worldOptions{
				answer: func(a arrival, _ int) reply {
					if a.Item == "x" {
						return c.reply
					}
					return reply{}
				},
			})
			first := w.Run("go")
			completed(t, first)
			for _, task := range w.tasks(t, first.Turn.ID, first.Turn.RunID) {
				out := w.Wait(w.reset(t, first.Turn.ID, first.Turn.RunID, task))
				if diff := cmp.Diff(first.Messages, out.Messages); diff != "" {
					t.Errorf("reset to event %d: %s", task, diff)
				}
				if diff := cmp.Diff([]contract.Outcome{c.outcome, contract.OutcomeDone}, outcomes(out)); diff != "" {
					t.Error(diff)
				}
			}
			w.ledger.want(t, "x", 1)
			w.ledger.want(t, "after", 1)
			w.asked(t, 3)
		})
	}
}

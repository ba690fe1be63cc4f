package lineage

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// The class table of design.md §5, but for its reset column: see
// TestReset_WhileACallRuns. Arrivals are counted outside.
func TestClasses(t *testing.T) {
	t.Parallel()
	const (
		done, failed      = contract.OutcomeDone, contract.OutcomeFailed
		unknown, timedOut = contract.OutcomeUnknown, contract.OutcomeTimedOut
	)
	first := func(r reply) func(arrival, int) reply {
		return func(_ arrival, n int) reply {
			if n == 1 {
				return r
			}
			return reply{}
		}
	}
	for _, c := range []struct {
		column  string
		answer  func(arrival, int) reply
		timeout time.Duration
		want    map[string]contract.Outcome
		arrived map[string]int
	}{
		{
			column: "timeout", answer: first(reply{Hang: true}), timeout: 300 * time.Millisecond,
			want:    map[string]contract.Outcome{once: unknown, keyed: unknown, read: timedOut},
			arrived: map[string]int{once: 1, keyed: 1, read: 1},
		},
		{
			column: "handler error", answer: first(reply{Status: 500, Text: "no"}),
			want:    map[string]contract.Outcome{once: failed, keyed: failed, read: failed},
			arrived: map[string]int{once: 1, keyed: 1, read: 1},
		},
		{ // F01: the effect stands, its answer is lost
			column: "answer lost", answer: first(reply{Cut: true}),
			want:    map[string]contract.Outcome{once: unknown, keyed: done, read: failed},
			arrived: map[string]int{once: 1, keyed: 2, read: 1},
		},
	} {
		for tool, want := range c.want {
			t.Run(c.column+" "+tool, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, script(calls(call(tool, "x"))), worldOptions{answer: c.answer, timeout: c.timeout})
				out := w.Run("go")
				completed(t, out)
				if diff := cmp.Diff([]contract.Outcome{want}, outcomes(out)); diff != "" {
					t.Error(diff)
				}
				w.ledger.want(t, "x", c.arrived[tool])
			})
		}
	}
}

// P05, R02: a worker that dies during a model call leaves no effect; the model
// is asked again, and an answer that is recorded never is.
func TestModelCall_WorkerLost(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	inCall := make(chan struct{}, 1)
	s := script(calls(call(once, "x")))
	s.Hook = hangOnce(2, inCall, hang)
	w := newWorld(t, s, worldOptions{noWorker: true})
	t.Cleanup(func() { close(hang) })
	kill := w.process(t)
	turn := w.Start("go")
	<-inCall // the second step's; the first one's effect has happened
	kill()
	w.process(t)
	out := w.Wait(turn)
	completed(t, out)
	w.ledger.want(t, "x", 1)
	w.asked(t, 3)
}

// F01, second variant: the reply is lost and the whole turn is made again. The
// key is the same, and what is unknown is not repeated.
func TestReplyLost_TurnMadeAgain(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{once, keyed} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, script(calls(call(tool, "x"))), worldOptions{
				answer: func(_ arrival, n int) reply { return reply{Cut: n == 1} },
			})
			first := w.Run("go")
			again := w.Wait(w.reset(t, first.Turn.ID, first.Turn.RunID, w.tasks(t, first.Turn.ID, first.Turn.RunID)[0]))
			completed(t, again)
			if diff := cmp.Diff(outcomes(first), outcomes(again)); diff != "" {
				t.Error(diff)
			}
			want := map[string]int{once: 1, keyed: 2}[tool]
			w.ledger.want(t, "x", want)
		})
	}
}

// C08: the handler ignores its time and finishes just past it. The call is
// unknown, the effect is one, and it is never told as failed.
func TestLateCompletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(calls(call(deaf, "x"))), worldOptions{
		timeout: 300 * time.Millisecond, answer: func(arrival, int) reply { return reply{Hang: true} },
	})
	turn := w.Start("go")
	w.next(t)
	out := w.Wait(turn) // the handler is still at it
	w.ledger.release()
	completed(t, out)
	e := out.Effects[0]
	if e.Outcome != contract.OutcomeUnknown || !strings.Contains(e.Text, "may or may not") || out.Result.Effects.Failed != 0 {
		t.Errorf("%s: %s", e.Outcome, e.Text)
	}
	w.ledger.want(t, "x", 1)
}

// P09, P10: a hundred calls side by side are a hundred executions, each under
// the key that its handler was given, answered in order.
func TestHundredCallsAtOnce(t *testing.T) {
	t.Parallel()
	const n = 100
	var asked []agenttest.ScriptCall
	for i := range n {
		asked = append(asked, call("wide", item(i)))
	}
	w := newWorld(t, script(asked), worldOptions{agent: contract.Agent{
		Limits: contract.Limits{MaxToolCallsPerStep: n, MaxToolConcurrency: 16},
	}})
	out := w.Run("go")
	completed(t, out)
	if len(out.Effects) != n || out.Result.Effects.Done != n {
		t.Fatalf("%d effects, %+v", len(out.Effects), out.Result.Effects)
	}
	keys := map[string]bool{}
	for i, e := range out.Effects {
		arrived := w.ledger.of(item(i))
		if len(arrived) != 1 || arrived[0] != e.Key || keys[e.Key] {
			t.Errorf("%s arrived under %.8q, its key is %.8s", item(i), arrived, e.Key)
		}
		keys[e.Key] = true
		if e.Text != item(i)+" ok" {
			t.Errorf("call %d is answered with %q", i+1, e.Text)
		}
	}
}

// P12: a call that takes longer than the heartbeat timeout is one attempt.
func TestLongCall_IsOneAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(calls(call(keyed, "x"))), worldOptions{
		answer: func(arrival, int) reply { return reply{Hang: true} },
	})
	turn := w.Start("go")
	w.next(t)
	w.waitPending(t, turn, func(p pending) bool {
		return p.GetLastHeartbeatTime().AsTime().Sub(p.GetLastStartedTime().AsTime()) > 4*time.Second
	})
	w.ledger.release()
	out := w.Wait(turn)
	completed(t, out)
	w.ledger.want(t, "x", 1)
	if e := out.Effects[0]; e.Attempts != 1 || e.Outcome != contract.OutcomeDone {
		t.Errorf("%s after %d attempts", e.Outcome, e.Attempts)
	}
}

// T37: a handler that never yields is heartbeated all the same: it outlives the
// heartbeat timeout in its one attempt, and is left behind when its own time is
// over.
func TestT37_HandlerThatNeverYields(t *testing.T) {
	t.Parallel()
	const own = 5 * time.Second
	w := newWorld(t, script(calls(call(deaf, "x"))), worldOptions{
		timeout: own, answer: func(arrival, int) reply { return reply{Hang: true} },
	})
	turn := w.Start("go")
	out := w.Wait(turn) // the handler is still at it
	completed(t, out)
	e := out.Effects[0]
	if e.Outcome != contract.OutcomeUnknown || e.Attempts != 1 || !strings.Contains(e.Text, "tool deaf timed out after 5s") {
		t.Errorf("%s after %d attempts: %s", e.Outcome, e.Attempts, e.Text)
	}
	for _, event := range w.events(t, turn.ID, turn.RunID) {
		a := event.GetActivityTaskScheduledEventAttributes()
		if a.GetActivityType().GetName() == "tool."+deaf && a.GetHeartbeatTimeout().AsDuration() >= own {
			t.Errorf("a heartbeat timeout of %s proves nothing", a.GetHeartbeatTimeout().AsDuration())
		}
	}
	w.ledger.want(t, "x", 1)
}

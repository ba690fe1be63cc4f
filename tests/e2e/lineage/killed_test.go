package lineage

import (
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// T38, T37: the column "worker lost", each class three times: a worker process
// is killed with SIGKILL once the handler has begun and before its effect, after
// the effect and before its answer, and when the result is recorded. The loss is
// noticed by heartbeats, long before the call's own minute is over.
func TestT38_KilledAroundTheEffect(t *testing.T) {
	t.Parallel()
	const done, unknown = contract.OutcomeDone, contract.OutcomeUnknown
	type want struct {
		outcome            contract.Outcome
		attempts, arrivals int
	}
	for when, wants := range map[string]map[string]want{
		"before the effect":    {once: {unknown, 1, 0}, keyed: {done, 2, 1}, read: {done, 2, 1}},
		"after the effect":     {once: {unknown, 1, 1}, keyed: {done, 2, 2}, read: {done, 2, 2}},
		"after it is recorded": {once: {done, 1, 1}, keyed: {done, 1, 1}, read: {done, 1, 1}},
	} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			recorded := when == "after it is recorded"
			inModel, hang := make(chan struct{}, len(wants)), make(chan struct{})
			s := perTool(once, keyed, read)
			if recorded {
				s.Hook = hangTimes(len(wants), 2, inModel, hang)
			}
			w := newWorld(t, s, worldOptions{noWorker: true, answer: func(a arrival, n int) reply {
				return reply{Hang: n == 1 && !recorded && a.Before == (when == "before the effect")}
			}})
			t.Cleanup(func() { close(hang) })
			kill := w.process(t)
			turns := map[string]*turnkeel.Turn{}
			for tool := range wants {
				turns[tool] = w.Start(tool)
			}
			for range wants { // all have come as far as the row says
				w.next(t)
				if when != "before the effect" {
					w.next(t)
				}
				if recorded {
					<-inModel // asked with the result
				}
			}
			kill()
			w.process(t)
			for tool, want := range wants {
				out := w.Wait(turns[tool])
				completed(t, out)
				if e := out.Effects[0]; e.Outcome != want.outcome || e.Attempts != want.attempts {
					t.Errorf("%s: %s after %d attempts, want %+v: %s", tool, e.Outcome, e.Attempts, want, e.Text)
				}
				w.ledger.want(t, announced+tool, want.arrivals)
				w.noticed(t, turns[tool], tool, want.outcome == unknown)
			}
		})
	}
}

// perTool is a script that calls the tool which the user's message names, with
// an item of its own that is announced.
func perTool(tools ...string) agenttest.Script {
	var s agenttest.Script
	for _, tool := range tools {
		steps := script(calls(call(tool, announced+tool))).Steps
		s.Turns = append(s.Turns, agenttest.ScriptTurn{When: tool, Steps: steps})
	}
	return s
}

// noticed checks how the loss of a call's worker became known: by its
// heartbeats, and never by its own timeout.
func (w *world) noticed(t *testing.T, turn *turnkeel.Turn, tool string, final bool) {
	t.Helper()
	lost := 0
	for _, e := range w.events(t, turn.ID, turn.RunID) {
		failure := e.GetActivityTaskTimedOutEventAttributes().GetFailure()
		if failure == nil {
			failure = e.GetActivityTaskStartedEventAttributes().GetLastFailure()
		}
		switch kind := failure.GetTimeoutFailureInfo().GetTimeoutType(); kind {
		case enumspb.TIMEOUT_TYPE_UNSPECIFIED:
		case enumspb.TIMEOUT_TYPE_HEARTBEAT:
			lost++
		default:
			t.Errorf("event %d: %s", e.GetEventId(), kind)
		}
	}
	if final && lost == 0 {
		t.Errorf("%s is unknown, and no heartbeat timeout says why", tool)
	}
}

// P11, T36: a worker process is killed while the call runs, as often as it may
// be started. One start more than allowed never happens, and the call fails
// closed.
func TestClasses_WorkerLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(calls(call(keyed, "x"))), worldOptions{
		noWorker: true, answer: func(arrival, int) reply { return reply{Hang: true} },
	})
	kill := w.process(t)
	turn := w.Start("go")
	for n := 1; n <= tooldefs.DefaultMaxAttemptsKeyed; n++ {
		if a := w.next(t); a.Attempt != n {
			t.Errorf("arrival %d is of attempt %d", n, a.Attempt)
		}
		kill()
		kill = w.process(t)
	}
	out := w.Wait(turn)
	completed(t, out)
	const gaveUp = "gave up after 3 attempts: it may or may not have taken effect"
	if e := out.Effects[0]; e.Outcome != contract.OutcomeUnknown || !strings.Contains(e.Text, gaveUp) {
		t.Errorf("%s: %s", e.Outcome, e.Text)
	}
	w.ledger.want(t, "x", tooldefs.DefaultMaxAttemptsKeyed)
	w.asked(t, 2)
}

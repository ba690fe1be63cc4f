package toolcall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// held is a tool that runs until it is released or its ctx ends.
func held(started, release chan struct{}, change func(*tooldefs.Spec[noteIn, any])) *tooldefs.Tool {
	return note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Uninterruptible = true
		s.Handler = func(ctx context.Context, _ *tooldefs.Call, _ noteIn) (any, error) {
			close(started)
			select {
			case <-release:
				return "the real result", nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		if change != nil {
			change(s)
		}
	})
}

// T42: an interrupt and a cancel let a running call of an uninterruptible tool
// finish and record its real result; what had not started does not start.
func TestT42_UninterruptibleFinishes(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *agenttest.Bench, *turnkeel.Turn){"interrupt": interrupt, "cancel": cancel} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started, release := make(chan struct{}), make(chan struct{})
			b := agenttest.NewBench(t, agenttest.BenchOptions{
				Server: server, Tools: []*tooldefs.Tool{held(started, release, nil)},
				Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{calls(1), calls(2)}}, {Text: "never"}}},
			})
			turn := b.Start("go")
			<-started
			end(t, b, turn)
			close(release)
			out := b.Wait(turn)
			if got := out.Effects[0]; got.Outcome != contract.OutcomeDone || got.Text != "the real result" || got.Attempts != 1 {
				t.Errorf("the running call: %+v", got)
			}
			if got := out.Effects[1]; got.Outcome != contract.OutcomeNotStarted || got.Attempts != 0 {
				t.Errorf("the next call: %+v", got)
			}
			if n := count(out.History, enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED); n != 0 {
				t.Errorf("%d calls were asked to cancel", n)
			}
		})
	}
}

// T42: the timeout of an uninterruptible tool still holds.
func TestT42_UninterruptibleTimesOut(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	tool := held(started, nil, func(s *tooldefs.Spec[noteIn, any]) { s.Effects, s.Timeout = tooldefs.None, 2*time.Second })
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{tool},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{calls(1)}}, {Text: "never"}}},
	})
	turn := b.Start("go")
	<-started
	interrupt(t, b, turn)
	out := b.Wait(turn)
	if e := out.Effects[0]; out.Result.Status != contract.StatusInterrupted || e.Outcome != contract.OutcomeTimedOut || e.Attempts != 1 {
		t.Errorf("%s, %+v", out.Result.Status, e)
	}
}

func interrupt(t *testing.T, b *agenttest.Bench, turn *turnkeel.Turn) {
	t.Helper()
	if err := b.Turns.Interrupt(t.Context(), turn.ID, contract.InterruptRequest{By: "ann", Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
}

// cancel cancels a turn and waits until the turn has seen it.
func cancel(t *testing.T, b *agenttest.Bench, turn *turnkeel.Turn) {
	t.Helper()
	if err := b.Temporal.CancelWorkflow(t.Context(), turn.ID, turn.RunID); err != nil {
		t.Fatal(err)
	}
	for seen := false; !seen; {
		h, err := agenttest.History(t.Context(), b.Temporal, turn.ID, turn.RunID)
		if err != nil {
			t.Fatal(err)
		}
		asked := false
		for _, e := range h.GetEvents() {
			asked = asked || e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED
			seen = seen || asked && e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
		}
	}
}

func count(h *historypb.History, kind enumspb.EventType) int {
	n := 0
	for _, e := range h.GetEvents() {
		if e.GetEventType() == kind {
			n++
		}
	}
	return n
}

// T43: progress reaches a reader while the call runs and is in no history,
// whether the call is done, fails, is run again or runs out of time.
func TestT43_ProgressIsShownAndNotRecorded(t *testing.T) {
	t.Parallel()
	const planted = "planted-progress"
	seen := map[int]chan struct{}{1: make(chan struct{}), 2: make(chan struct{}), 3: make(chan struct{}), 4: make(chan struct{})}
	tool := note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Effects, s.ParallelSafe, s.Timeout = tooldefs.None, tooldefs.Always, 6*time.Second
		s.Handler = func(ctx context.Context, call *tooldefs.Call, in noteIn) (any, error) {
			call.Progress(fmt.Sprint(planted, " ", in.N))
			<-seen[in.N]
			switch {
			case in.N == 2:
				return nil, errors.New("failed")
			case in.N == 3 && call.Attempt() == 1:
				return nil, tooldefs.Transient(errors.New("busy"), 0)
			case in.N == 4:
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return in.N, nil
		}
	})
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{tool},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{calls(1), calls(2), calls(3), calls(4)}}, {Text: "done"}}},
	})
	turn, err := b.Turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent: agenttest.AgentName, Stream: true, Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[int]bool{}
	for e, err := range turn.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if e.Kind != turnkeel.EventProgress {
			continue
		}
		if _, err := fmt.Sscanf(string(e.Progress), `"`+planted+` %d"`, &n); err != nil {
			t.Fatalf("progress %s: %v", e.Progress, err)
		}
		if !shown[n] {
			shown[n] = true
			close(seen[n])
		}
	}
	out := b.Wait(turn)
	if len(shown) != 4 || recorded(t, out, planted) {
		t.Errorf("shown %v, recorded %v", shown, recorded(t, out, planted))
	}
	var outcomes []string
	for _, e := range out.Effects {
		outcomes = append(outcomes, fmt.Sprint(e.Outcome, e.Attempts))
	}
	if got := strings.Join(outcomes, " "); got != "done1 failed1 done2 timed_out1" {
		t.Errorf("outcomes %s", got)
	}
}

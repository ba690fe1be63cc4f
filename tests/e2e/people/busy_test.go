package people

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// R51, R52, R53: a session whose queue never empties goes on in new runs
// nevertheless, and takes the queue along: each message once, in its order,
// and a repeat of one is the same turn.
func TestSession_ContinuesWithAQueue(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hold := payTool(&ledger{}, free, func(s *tooldefs.Spec[payInput, string]) {
		s.Handler = func(context.Context, *tooldefs.Call, payInput) (string, error) {
			<-release
			return "paid", nil
		}
	})
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{hold}, Script: agenttest.Script{
		Hook: func(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
			if r.Messages[len(r.Messages)-1].Content == "t0" {
				return &agenttest.Step{Calls: []agenttest.ScriptCall{pay(1)}}
			}
			return &agenttest.Step{Text: "re " + r.User}
		},
	}})
	session := "session-" + b.Queue
	_, err := b.Temporal.ExecuteWorkflow(t.Context(), startOptions(session, b.Queue), contract.WorkflowSession,
		contract.SessionInput{ID: session, Agent: agenttest.AgentName, TurnsPerRun: 1})
	if err != nil {
		t.Fatal(err)
	}
	const n = 6
	var replies []contract.SendReply
	for i := range n {
		replies = append(replies, send(t, b, turnkeel.Message{Session: session, Text: fmt.Sprint("t", i), MessageID: fmt.Sprint("m", i)}))
	}
	close(release) // the queue is full before the first turn ends
	for i, r := range replies {
		if out := ended(t, b, r.TurnID); r.Position != i+1 || !strings.HasPrefix(out.Result.Text, fmt.Sprint("re t", i)) {
			t.Errorf("message %d: %+v, %+v", i, r, out.Result)
		}
		if again := send(t, b, turnkeel.Message{Session: session, Text: "x", MessageID: fmt.Sprint("m", i)}); again.TurnID != r.TurnID {
			t.Errorf("message %d again: %+v", i, again)
		}
	}
	requests := b.Model.Requests()
	got := said(requests[len(requests)-1])
	for i, at := 0, 0; i < n; i++ {
		next := strings.Index(got[at:], fmt.Sprint("user:t", i))
		if next < 0 || strings.Count(got, fmt.Sprint("user:t", i)) != 1 {
			t.Fatalf("the last turn saw %q", got)
		}
		at += next
	}
	var reply contract.SessionReply
	value, err := b.Temporal.QueryWorkflow(t.Context(), session, "", contract.QueryStatus)
	if err == nil {
		err = value.Get(&reply)
	}
	if err != nil || reply.Runs < n || reply.Turns != n {
		t.Errorf("%+v, %v: want a run for each turn", reply, err)
	}
	replaySession(t, b, session)
}

// R52, C12: a queue that fits no run's input is worked off in the run it came
// to; the session goes on in a new one after that.
func TestSession_QueueTooLargeToCarry(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Script: agenttest.Script{
		Hook: func(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
			<-release
			return &agenttest.Step{Text: "fine"}
		},
	}})
	session := "session-" + b.Queue
	_, err := b.Temporal.ExecuteWorkflow(t.Context(), startOptions(session, b.Queue), contract.WorkflowSession,
		contract.SessionInput{ID: session, Agent: agenttest.AgentName, TurnsPerRun: 1})
	if err != nil {
		t.Fatal(err)
	}
	var last contract.SendReply
	for i := range 4 {
		last = send(t, b, turnkeel.Message{Session: session, Text: strings.Repeat(fmt.Sprint("long ", i), 150_000), MessageID: fmt.Sprint("m", i)})
	}
	close(release)
	ended(t, b, last.TurnID)
	if n := len(b.Model.Requests()); n != 4 {
		t.Errorf("the model was asked %d times, want 4", n)
	}
	for runs := 0; runs < 2; { // it ends the test's time where it hangs
		var reply contract.SessionReply
		if value, err := b.Temporal.QueryWorkflow(t.Context(), session, "", contract.QueryStatus); err == nil {
			_ = value.Get(&reply)
		}
		runs = reply.Runs
	}
}

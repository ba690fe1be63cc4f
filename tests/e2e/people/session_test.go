package people

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

func send(t *testing.T, b *agenttest.Bench, m turnkeel.Message) contract.SendReply {
	t.Helper()
	m.Agent = agenttest.AgentName
	reply, err := b.Turns.Send(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// ended waits for a session's turn.
func ended(t *testing.T, b *agenttest.Bench, turn string) agenttest.Outcome {
	t.Helper()
	begun, err := b.Turns.Sent(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	return b.Wait(begun)
}

func said(r agenttest.ModelRequest) string {
	var parts []string
	for _, m := range r.Messages {
		if m.Role != string(contract.RoleSystem) {
			parts = append(parts, m.Role+":"+m.Content)
		}
	}
	return strings.Join(parts, " | ")
}

func echoScript() agenttest.Script {
	return agenttest.Script{Hook: func(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
		return &agenttest.Step{Text: "re " + r.User}
	}}
}

// R50, R51: a session's turns run one after the other, each with what was said
// before it; the same message id twice is one turn.
func TestSession(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Script: echoScript()})
	session := "session-" + b.Queue
	first := send(t, b, turnkeel.Message{Session: session, Text: "one", MessageID: "m1"})
	second := send(t, b, turnkeel.Message{Session: session, Text: "two", MessageID: "m2"})
	again := send(t, b, turnkeel.Message{Session: session, Text: "one", MessageID: "m1"})
	if first.Position != 1 || second.Position != 2 || again.TurnID != first.TurnID || first.TurnID == second.TurnID {
		t.Errorf("%+v %+v %+v", first, second, again)
	}
	out := ended(t, b, second.TurnID)
	if out.Result.Text != "re two" {
		t.Errorf("%+v", out.Result)
	}
	requests := b.Model.Requests()
	if got, want := said(requests[len(requests)-1]), "user:one | assistant:re one | user:two"; got != want || len(requests) != 2 {
		t.Errorf("after %d requests: %q, want %q", len(requests), got, want)
	}
	replaySession(t, b, session)
}

// replaySession replays the session's own history as any replayer would.
func replaySession(t *testing.T, b *agenttest.Bench, session string) {
	t.Helper()
	for { // a run that has just begun has nothing to replay yet
		history, err := agenttest.History(t.Context(), b.Temporal, session, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(history.GetEvents()) >= 4 { // its first workflow task is completed
			agenttest.Replay(t, history)
			return
		}
	}
}

// R51, R52: a session that continues as new after every turn loses nothing and
// repeats nothing, however messages fall.
func TestSession_ContinuesAsNew(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Script: echoScript()})
	session := "session-" + b.Queue
	_, err := b.Temporal.ExecuteWorkflow(t.Context(), startOptions(session, b.Queue), contract.WorkflowSession,
		contract.SessionInput{ID: session, Agent: agenttest.AgentName, TurnsPerRun: 1})
	if err != nil {
		t.Fatal(err)
	}
	const n = 12
	turns := map[string]bool{}
	var last contract.SendReply
	for i := range n {
		last = send(t, b, turnkeel.Message{Session: session, Text: fmt.Sprint("t", i), MessageID: fmt.Sprint("m", i)})
		turns[last.TurnID] = true
		if again := send(t, b, turnkeel.Message{Session: session, Text: "x", MessageID: fmt.Sprint("m", i)}); again.TurnID != last.TurnID {
			t.Errorf("message %d is two turns", i)
		}
	}
	ended(t, b, last.TurnID)
	if len(turns) != n || last.Position != n {
		t.Errorf("%d turns, last %+v", len(turns), last)
	}
	requests := b.Model.Requests()
	if len(requests) != n {
		t.Errorf("the model was asked %d times, want %d", len(requests), n)
	}
	if got := said(requests[len(requests)-1]); !strings.HasPrefix(got, "user:t0 | assistant:re t0 | user:t1") || strings.Count(got, "user:") != n {
		t.Errorf("the last turn saw %q", got)
	}
	replaySession(t, b, session)
}

// R50, F05: a message may interrupt the running turn, or be refused while one
// runs; the conversation goes on with a legal transcript.
func TestSession_Busy(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{payTool(l)}, Script: agenttest.Script{
		Turns: []agenttest.ScriptTurn{{When: "pay", Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(1), pay(2)}}, {Text: "paid"}}}},
		Steps: []agenttest.Step{{Text: "fine"}},
	}})
	session := "session-" + b.Queue
	busy := send(t, b, turnkeel.Message{Session: session, Text: "pay"})
	pendings(t, b, busy.TurnID, 2)
	if _, err := b.Turns.Send(t.Context(), turnkeel.Message{Session: session, Text: "hm", WhileBusy: contract.BusyReject}); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("not refused: %v", err)
	}
	next := send(t, b, turnkeel.Message{Session: session, Text: "never mind", WhileBusy: contract.BusyInterrupt})
	if out := ended(t, b, busy.TurnID); out.Result.Status != contract.StatusInterrupted {
		t.Errorf("%+v", out.Result)
	}
	if out := ended(t, b, next.TurnID); out.Result.Text != "fine" {
		t.Errorf("%+v", out.Result)
	}
	if n := len(l.arrivals()); n != 0 {
		t.Errorf("%d arrivals", n)
	}
	replaySession(t, b, session)
}

// R54: resetting a session to its beginning starts no turn twice.
func TestSession_Reset(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Script: echoScript()})
	session := "session-" + b.Queue
	for i := range 3 {
		ended(t, b, send(t, b, turnkeel.Message{Session: session, Text: fmt.Sprint("t", i), MessageID: fmt.Sprint("m", i)}).TurnID)
	}
	described, err := b.Temporal.DescribeWorkflow(t.Context(), session, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: server.Namespace, Reason: "test", RequestId: "reset-" + session, WorkflowTaskFinishEventId: 4,
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: session, RunId: described.WorkflowExecution.RunID},
	})
	if err != nil {
		t.Fatal(err)
	}
	after := send(t, b, turnkeel.Message{Session: session, Text: "t3", MessageID: "m3"})
	ended(t, b, after.TurnID)
	requests := b.Model.Requests()
	if len(requests) != 4 {
		t.Errorf("the model was asked %d times, want 4", len(requests))
	}
	if got := said(requests[len(requests)-1]); strings.Count(got, "user:") != 4 {
		t.Errorf("after the reset the turn saw %q", got)
	}
}

// Canceling a session ends it with its turn.
func TestSession_Cancel(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{payTool(&ledger{})}, Script: agenttest.Script{
		Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(1)}}, {Text: "paid"}},
	}})
	session := "session-" + b.Queue
	turn := send(t, b, turnkeel.Message{Session: session, Text: "pay"})
	pendings(t, b, turn.TurnID, 1)
	if err := b.Turns.Cancel(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := b.Temporal.GetWorkflow(ctx, session, "").Get(ctx, nil); err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Errorf("the session ended with %v", err)
	}
	if out := ended(t, b, turn.TurnID); out.Result.Status != contract.StatusCanceled {
		t.Errorf("%+v", out.Result)
	}
}

// R08, R50: a session that was reset waits for the turn that it started before,
// and canceling it ends that turn all the same.
func TestSession_CancelAfterReset(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{payTool(&ledger{})}, Script: agenttest.Script{
		Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(1)}}, {Text: "paid"}},
	}})
	session := "session-" + b.Queue
	turn := send(t, b, turnkeel.Message{Session: session, Text: "pay"})
	pendings(t, b, turn.TurnID, 1)
	described, err := b.Temporal.DescribeWorkflow(t.Context(), session, "")
	if err != nil {
		t.Fatal(err)
	}
	reset, err := b.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: server.Namespace, Reason: "test", RequestId: "reset-" + session, WorkflowTaskFinishEventId: 4,
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: session, RunId: described.WorkflowExecution.RunID},
	})
	if err != nil {
		t.Fatal(err)
	}
	for waits := false; !waits && t.Context().Err() == nil; {
		described, err := b.Temporal.DescribeWorkflow(t.Context(), session, reset.GetRunId())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range described.RawResponse.GetPendingActivities() {
			waits = waits || p.GetActivityType().GetName() == contract.ActivityAwaitTurn
		}
	}
	if err := b.Turns.Cancel(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	if err := b.Temporal.GetWorkflow(t.Context(), session, "").Get(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Errorf("the session ended with %v", err)
	}
	if out := ended(t, b, turn.TurnID); out.Result.Status != contract.StatusCanceled {
		t.Errorf("%+v", out.Result)
	}
	replaySession(t, b, session)
}

// C04, R50: a message that comes while a canceled session lets its turn finish
// is refused, not taken and lost.
func TestSession_SendWhileItEnds(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	slow := payTool(&ledger{}, free, func(s *tooldefs.Spec[payInput, string]) {
		s.Uninterruptible = true
		s.Handler = func(context.Context, *tooldefs.Call, payInput) (string, error) {
			close(started)
			<-release
			return "paid", nil
		}
	})
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{slow}, Script: agenttest.Script{
		Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(1)}}, {Text: "paid"}},
	}})
	session := "session-" + b.Queue
	turn := send(t, b, turnkeel.Message{Session: session, Text: "pay"})
	<-started
	if err := b.Turns.Cancel(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	_, err := b.Turns.Send(t.Context(), turnkeel.Message{Session: session, Agent: agenttest.AgentName, Text: "more"})
	close(release)
	if err == nil || !strings.Contains(err.Error(), "ending") {
		t.Errorf("a message to a session that ends was answered with %v", err)
	}
	ended(t, b, turn.TurnID)
	if err := b.Temporal.GetWorkflow(t.Context(), session, "").Get(t.Context(), nil); err == nil {
		t.Error("the session was not canceled")
	}
}

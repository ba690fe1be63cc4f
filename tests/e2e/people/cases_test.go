package people

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type transferInput struct {
	To  string `json:"to"`
	Amt int    `json:"amt"`
}

// F02, P02: an approval is one of the arguments that were shown: the call that
// the model then makes with others is asked about, and the old answer is none
// to it, whatever id the call has. Two approvals are two executions.
func TestApproval_BindsToTheArguments(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var ran []string
	transfer := tooldefs.Define(tooldefs.Spec[transferInput, string]{
		Name: "transfer", Description: "Transfers.", Approval: tooldefs.Always,
		Handler: func(_ context.Context, _ *tooldefs.Call, in transferInput) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			ran = append(ran, fmt.Sprint(in.To, in.Amt))
			return "done", nil
		},
	})
	call := func(id, args string) agenttest.ScriptCall {
		return agenttest.ScriptCall{ID: id, Name: "transfer", Raw: args}
	}
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{transfer}, Script: agenttest.Script{Steps: []agenttest.Step{
		{Calls: []agenttest.ScriptCall{call("c1", `{ "to":"A", "amt":5.0 }`)}},
		{Calls: []agenttest.ScriptCall{call("c1", `{"to":"B","amt":5}`)}},
		{Calls: []agenttest.ScriptCall{call("c1", `{"amt":7,"to":"C"}`), call("c2", `{"to":"C","amt":7}`)}},
		{Text: "done"},
	}}})
	turn := b.Start("go")
	first := pendings(t, b, turn.ID, 1)[0]
	if first.Args != `{"amt":5,"to":"A"}` {
		t.Errorf("shown: %s", first.Args)
	}
	decide(t, b, turn.ID, first, true)
	second := first
	for second.Key == first.Key && t.Context().Err() == nil {
		second = pendings(t, b, turn.ID, 1)[0]
	}
	if second.Args != `{"amt":5,"to":"B"}` || second.Digest != first.Digest {
		t.Errorf("shown: %+v", second)
	}
	if reply := decide(t, b, turn.ID, first, true); reply.Held || reply.Decision.Key != first.Key { // the old answer again
		t.Errorf("%+v", reply)
	}
	if now := pendings(t, b, turn.ID, 1)[0]; now.Key != second.Key {
		t.Errorf("the old approval was taken for %+v", now)
	}
	decide(t, b, turn.ID, second, false)
	both := pendings(t, b, turn.ID, 2)
	if both[0].Key == both[1].Key {
		t.Error("two calls, one key")
	}
	decide(t, b, turn.ID, both[0], true)
	decide(t, b, turn.ID, both[1], true)
	if out := b.Wait(turn); out.Result.Effects.Done != 3 {
		t.Errorf("%+v", out.Effects)
	}
	if got := strings.Join(ran, " "); got != "A5 C7 C7" {
		t.Errorf("executed: %s", got)
	}
}

// F03, R05, R21: of a step with a call that is denied, one that is free, one
// with invalid arguments and one of an unknown tool each has its one message,
// in order; the free one does not wait for the decision and runs once. While
// it is parked the turn has no activity and no timer.
func TestApproval_PartlyRejectedStep(t *testing.T) {
	t.Parallel()
	l, free := &ledger{}, &ledger{}
	pays := payTool(l, func(s *tooldefs.Spec[payInput, string]) { s.ParallelSafe = tooldefs.Always })
	looks := payTool(free, func(s *tooldefs.Spec[payInput, string]) {
		s.Name, s.Approval, s.ParallelSafe = "look", nil, tooldefs.Always
	})
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{pays, looks}, Script: agenttest.Script{Steps: []agenttest.Step{
		{Calls: []agenttest.ScriptCall{
			{ID: "c1", Name: "pay", Args: map[string]any{"cents": 1}}, {ID: "c2", Name: "look", Args: map[string]any{"cents": 2}},
			{ID: "c3", Name: "pay", Raw: `{"cents":"x"}`}, {ID: "c4", Name: "nope"},
		}},
		{Text: "done"},
	}}})
	turn := b.Start("go")
	p := pendings(t, b, turn.ID, 1)[0]
	for len(free.arrivals()) == 0 && t.Context().Err() == nil { // it goes on meanwhile
		pendings(t, b, turn.ID, 1)
	}
	parked(t, b, turn)
	decide(t, b, turn.ID, p, false)
	b.Wait(turn)
	if len(free.arrivals()) != 1 || len(l.arrivals()) != 0 {
		t.Errorf("arrivals %v and %v", free.arrivals(), l.arrivals())
	}
	messages := b.Model.Requests()[1].Messages
	var answered []string
	for _, m := range messages {
		if m.Role == string(contract.RoleTool) {
			answered = append(answered, m.ToolCallID)
		}
	}
	if strings.Join(answered, " ") != "c1 c2 c3 c4" {
		t.Errorf("answered: %v", answered)
	}
	if denied := messages[len(messages)-4].Content; !strings.Contains(denied, "not executed") || !strings.Contains(denied, "ann") {
		t.Errorf("the model reads %q", denied)
	}
}

// parked waits until nothing of the turn runs, and checks that it has no timer.
func parked(t *testing.T, b *agenttest.Bench, turn *turnkeel.Turn) {
	t.Helper()
	for t.Context().Err() == nil {
		described, err := b.Temporal.DescribeWorkflow(t.Context(), turn.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(described.RawResponse.GetPendingActivities()) == 0 && described.RawResponse.GetPendingWorkflowTask() == nil {
			break
		}
	}
	history, err := agenttest.History(t.Context(), b.Temporal, turn.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range history.GetEvents() {
		if e.GetEventType() == enumspb.EVENT_TYPE_TIMER_STARTED {
			t.Errorf("a timer runs: %v", e)
		}
	}
}

// F05, R40, R50: an interruption that meets one call done, one running and one
// not started leaves each with its own words, and the conversation goes on with
// a legal transcript. What the cut call returns later is no second message.
func TestInterrupt_InTheMiddle(t *testing.T) {
	t.Parallel()
	running, release := make(chan struct{}), make(chan struct{})
	returned := make(chan struct{})
	step := tooldefs.Define(tooldefs.Spec[payInput, string]{
		Name: "step", Description: "Takes its time.", ParallelSafe: tooldefs.Always,
		Handler: func(_ context.Context, _ *tooldefs.Call, in payInput) (string, error) {
			if in.Cents == 2 { // deaf: it does not hear that it is cut
				close(running)
				<-release
				defer close(returned)
			}
			return "late or not", nil
		},
	})
	var calls []agenttest.ScriptCall
	for cents := 1; cents <= 3; cents++ {
		calls = append(calls, agenttest.ScriptCall{ID: fmt.Sprint("c", cents), Name: "step", Args: map[string]any{"cents": cents}})
	}
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{step}, Agent: contract.Agent{Limits: contract.Limits{MaxToolConcurrency: 1}},
		Script: agenttest.Script{
			Turns: []agenttest.ScriptTurn{{When: "go", Steps: []agenttest.Step{{Calls: calls}, {Text: "never"}}}},
			Steps: []agenttest.Step{{Text: "fine"}},
		},
	})
	session := "session-" + b.Queue
	cut := send(t, b, turnkeel.Message{Session: session, Text: "go"})
	<-running
	if err := b.Turns.Interrupt(t.Context(), cut.TurnID, contract.InterruptRequest{By: "ann"}); err != nil {
		t.Fatal(err)
	}
	if out := ended(t, b, cut.TurnID); out.Result.Status != contract.StatusInterrupted {
		t.Errorf("%+v", out.Result)
	}
	ended(t, b, send(t, b, turnkeel.Message{Session: session, Text: "and now?"}).TurnID)
	close(release)
	<-returned
	ended(t, b, send(t, b, turnkeel.Message{Session: session, Text: "and later?"}).TurnID)
	for _, r := range b.Model.Requests()[1:] {
		words := map[string][]string{}
		for _, m := range r.Messages {
			if m.Role == string(contract.RoleTool) {
				words[m.ToolCallID] = append(words[m.ToolCallID], m.Content)
			}
		}
		for id, want := range map[string]string{"c1": "late or not", "c2": "interrupted while it ran; it may have taken effect", "c3": "not started"} {
			if got := words[id]; len(got) != 1 || !strings.Contains(got[0], want) {
				t.Errorf("after %q call %s has %q, want one with %q", r.User, id, got, want)
			}
		}
	}
}

// R11: who leaves early harms nothing, and a second client reads the same turn
// from its beginning to its end.
func TestEvents_LeftEarly(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{payTool(&ledger{})}, Script: agenttest.Script{
		Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(1)}}, {Text: "done"}},
	}})
	turn := b.Start("go")
	for _, err := range turn.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		break // at the first
	}
	lost, lose := context.WithCancel(t.Context())
	defer lose()
	for e, err := range turn.Events(lost) {
		if err != nil {
			break
		}
		if e.Kind == turnkeel.EventWaiting {
			lose() // the connection, say
		}
	}
	other := turnkeel.NewClient(server.Dial(t), turnkeel.ClientOptions{Namespace: server.Namespace}).Turn(t.Context(), turn.ID, "")
	var kinds []string
	for e, err := range other.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == turnkeel.EventWaiting {
			decide(t, b, turn.ID, *e.Pending, true)
		}
		kinds = append(kinds, string(e.Kind))
	}
	if want := "step answer waiting decided tool_started tool_finished step answer done"; strings.Join(kinds, " ") != want {
		t.Errorf("%v\nwant %s", kinds, want)
	}
	if result, err := other.Result(t.Context()); err != nil || result.Text != "done" {
		t.Errorf("%+v %v", result, err)
	}
	b.Wait(turn)
}

package people

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// ledger counts arrivals by key, as a system outside would.
type ledger struct {
	mu   sync.Mutex
	keys []string
}

func (l *ledger) add(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys = append(l.keys, key)
}

func (l *ledger) arrivals() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.keys...)
}

type payInput struct {
	Cents int `json:"cents"`
}

func payTool(l *ledger, change ...func(*tooldefs.Spec[payInput, string])) *tooldefs.Tool {
	spec := tooldefs.Spec[payInput, string]{
		Name: "pay", Description: "Pays.", Approval: tooldefs.Always,
		Handler: func(_ context.Context, call *tooldefs.Call, _ payInput) (string, error) {
			l.add(call.IdempotencyKey())
			return "paid", nil
		},
	}
	for _, c := range change {
		c(&spec)
	}
	return tooldefs.Define(spec)
}

func pay(cents int) agenttest.ScriptCall {
	return agenttest.ScriptCall{Name: "pay", Args: map[string]any{"cents": cents}}
}

// pendings waits until the turn asks for n calls.
func pendings(t *testing.T, b *agenttest.Bench, turn string, n int) []contract.Pending {
	t.Helper()
	for {
		status, err := b.Turns.Status(t.Context(), turn)
		if err == nil && len(status.Pending) == n {
			return status.Pending
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%d calls wait, want %d (%v)", len(status.Pending), n, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func decide(t *testing.T, b *agenttest.Bench, turn string, p contract.Pending, approve bool) contract.DecideReply {
	t.Helper()
	reply, err := b.Turns.Decide(t.Context(), turn, contract.DecideRequest{Key: p.Key, Digest: p.Digest, Approve: approve, By: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// R20, R22, R24, P01, P02, P03, F02, F03: calls of one step that need a yes are
// asked at once and decided one by one; each call is answered, in order.
func TestApproval(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{payTool(l)}, Script: agenttest.Script{
		Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(1), pay(1), pay(2), {Name: "nope"}, {Name: "pay", Raw: `{"cents":"x"}`}}}, {Text: "done"}},
	}})
	turn := b.Start("pay")
	waiting := pendings(t, b, turn.ID, 3)
	decide(t, b, turn.ID, waiting[2], false)
	decide(t, b, turn.ID, waiting[0], true)
	decide(t, b, turn.ID, waiting[1], true)
	out := b.Wait(turn)
	var got []string
	for _, e := range out.Effects {
		got = append(got, e.Tool+":"+string(e.Outcome))
	}
	if want := "pay:done pay:done pay:denied nope:invalid pay:invalid"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if keys := l.arrivals(); len(keys) != 2 || keys[0] == keys[1] {
		t.Errorf("arrivals %v", keys)
	}
	if out.Effects[2].Text == "" || !strings.Contains(out.Effects[2].Text, "ann denied it") {
		t.Errorf("the model reads %q", out.Effects[2].Text)
	}
	for i, want := range []string{"approved", "approved", "denied"} { // the effect log says who decided
		if d := out.Effects[i].Approval; d == nil || d.Verdict != want || d.By != "ann" || d.Identity == "" || d.At.IsZero() {
			t.Errorf("call %d was decided by %+v, want %s by ann", i+1, d, want)
		}
	}
}

// R21, R25: a parked turn is found by its search attributes, survives the loss
// of its worker's memory, and its expiry is exact and told apart from a no.
func TestApproval_ParkedFoundAndExpired(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, NoWorker: true,
		Tools:  []*tooldefs.Tool{payTool(l, func(s *tooldefs.Spec[payInput, string]) { s.ApprovalTimeout = 4 * time.Second })},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(7)}}, {Text: "nobody came"}}},
	})
	stop := b.StartWorker()
	turn := b.Start("pay")
	pendings(t, b, turn.ID, 1)
	query := "TurnkeelPending > 0 AND WorkflowId = '" + turn.ID + "'"
	for n := 0; n == 0; {
		found, err := b.Temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: server.Namespace, Query: query})
		if err != nil {
			t.Fatal(err)
		}
		n = len(found.GetExecutions())
	}
	stop() // parked turns need no worker
	b.StartWorker()
	out := b.Wait(turn)
	if e := out.Effects[0]; e.Outcome != contract.OutcomeExpired || !strings.Contains(e.Text, "within 4s") || len(l.arrivals()) != 0 {
		t.Errorf("%+v, arrivals %v", e, l.arrivals())
	}
}

// R22: a reset to before the plan re-applies the decision before anything is
// asked: it is held, is not lost, and lets exactly that call run.
func TestApproval_ResetBeforeThePlan(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{payTool(l)}, Script: agenttest.Script{
		Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(5)}}, {Text: "done"}},
	}})
	turn := b.Start("pay")
	decide(t, b, turn.ID, pendings(t, b, turn.ID, 1)[0], true)
	b.Wait(turn)
	// The first workflow task is before the plan.
	reset, err := b.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:                 server.Namespace,
		WorkflowExecution:         &commonpb.WorkflowExecution{WorkflowId: turn.ID, RunId: turn.RunID},
		Reason:                    "test",
		RequestId:                 "reset-" + turn.ID,
		WorkflowTaskFinishEventId: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	out := b.Wait(b.Turns.Turn(t.Context(), turn.ID, reset.GetRunId()))
	if out.Err != nil || out.Result.Status != contract.StatusCompleted || out.Effects[0].Outcome != contract.OutcomeDone {
		t.Fatalf("%+v %v %+v", out.Result, out.Err, out.Effects)
	}
	if n := len(l.arrivals()); n != 1 {
		t.Errorf("%d arrivals after a reset, want 1", n)
	}
}

// R40, R41, F05, C06: an interruption reaches the running tool and ends the turn
// with a legal transcript.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	slow := tooldefs.Define(tooldefs.Spec[payInput, string]{
		Name: "slow", Description: "Takes its time.", ParallelSafe: tooldefs.Always,
		Handler: func(ctx context.Context, _ *tooldefs.Call, _ payInput) (string, error) {
			close(started)
			<-ctx.Done()
			return "", ctx.Err()
		},
	})
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{slow, payTool(&ledger{})}, Script: agenttest.Script{
		Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{{Name: "slow", Args: map[string]any{"cents": 1}}, pay(2)}}, {Text: "never"}},
	}})
	turn := b.Start("go")
	<-started
	if err := b.Turns.Interrupt(t.Context(), turn.ID, contract.InterruptRequest{By: "ann", Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	out := b.Wait(turn)
	if out.Result.Status != contract.StatusInterrupted || out.Effects[0].Outcome != contract.OutcomeInterrupted || out.Effects[1].Outcome != contract.OutcomeNotStarted {
		t.Errorf("%+v %+v", out.Result, out.Effects)
	}
}

// R11: a turn is followed as typed events, by any number of readers, its text
// and progress included when it streams.
func TestEvents(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	work := tooldefs.Define(tooldefs.Spec[payInput, string]{
		Name: "work", Description: "Works.",
		Handler: func(_ context.Context, call *tooldefs.Call, _ payInput) (string, error) {
			call.Progress(map[string]int{"done": 40})
			<-release
			return "worked", nil
		},
	})
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{work}, Script: agenttest.Script{Steps: []agenttest.Step{
		{Calls: []agenttest.ScriptCall{{Name: "work", Args: map[string]any{"cents": 1}}}},
		{Text: "one two three four five six", ChunkDelay: contract.Duration(150 * time.Millisecond)},
	}}})
	turn, err := b.Turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent: agenttest.AgentName, Stream: true, Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	var said strings.Builder
	released := false
	for e, err := range b.Turns.Turn(t.Context(), turn.ID, "").Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case turnkeel.EventText:
			said.WriteString(e.Text)
			continue
		case turnkeel.EventProgress:
			if string(e.Progress) != `{"done":40}` || released {
				t.Errorf("progress %s", e.Progress)
			}
			released = true
			close(release)
		default:
		}
		kinds = append(kinds, string(e.Kind))
	}
	if want := "step answer tool_started progress tool_finished step answer done"; strings.Join(kinds, " ") != want {
		t.Errorf("%v\nwant %s", kinds, want)
	}
	const whole = "one two three four five six"
	if text := said.String(); len(text) < 8 || len(text) > len(whole) || whole[:len(text)] != text {
		t.Errorf("text while it came: %q", text)
	}
	b.Wait(turn)
}

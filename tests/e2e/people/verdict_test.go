package people

import (
	"context"
	"errors"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// R08, R22, T50, P13: a verdict on an unknown outcome stands: the same one again
// gets the first answer and another is refused. A run that a reset makes takes
// it over, although it comes there before the call is even planned.
func TestResolve_StandsAndSurvivesAReset(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	lost := func(s *tooldefs.Spec[payInput, string]) {
		s.Approval, s.OnUnknown = nil, tooldefs.AskHuman
		s.Handler = func(_ context.Context, call *tooldefs.Call, _ payInput) (string, error) {
			l.add(call.IdempotencyKey())
			return "", tooldefs.Unknown(errors.New("the line went dead"))
		}
	}
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{payTool(l, lost), askTool()}, Script: agenttest.Script{
		Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(5), {Name: "ask", Args: map[string]any{"cents": 1}}}}, {Text: "done"}},
	}})
	turn := b.Start("pay")
	waiting := pendings(t, b, turn.ID, 2)
	unknown, gated := waiting[0], waiting[1]
	if unknown.Kind != contract.PendingUnknown {
		unknown, gated = gated, unknown
	}
	say := func(v contract.Verdict, by string) (contract.ResolveReply, error) {
		return b.Turns.Resolve(t.Context(), turn.ID, contract.ResolveRequest{Key: unknown.Key, Verdict: v, By: by, Value: "receipt 7"})
	}
	first, err := say(contract.VerdictHappened, "ann")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := say(contract.VerdictHappened, "ann"); err != nil || !again.At.Equal(first.At) {
		t.Errorf("%+v, %v; first %+v", again, err, first)
	}
	if _, err := say(contract.VerdictDidNotHappen, "eve"); err == nil || !strings.Contains(err.Error(), "happened by ann") {
		t.Errorf("another verdict: %v", err)
	}
	decide(t, b, turn.ID, gated, true)
	b.Wait(turn)
	reset, err := b.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: server.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: turn.ID, RunId: turn.RunID},
		Reason: "test", RequestId: "reset-" + turn.ID, WorkflowTaskFinishEventId: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	out := b.Wait(b.Turns.Turn(t.Context(), turn.ID, reset.GetRunId()))
	if e := out.Effects[0]; e.Outcome != contract.OutcomeDone || e.How != "resolved" || e.Resolution == nil || e.Resolution.By != "ann" || len(l.arrivals()) != 1 {
		t.Errorf("%+v, arrivals %v", e, l.arrivals())
	}
}

// askTool is a second tool that waits for a yes, and keeps the turn open.
func askTool() *tooldefs.Tool {
	return payTool(&ledger{}, func(s *tooldefs.Spec[payInput, string]) { s.Name = "ask" })
}

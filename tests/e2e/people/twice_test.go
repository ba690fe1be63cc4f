package people

import (
	"testing"

	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// C05: an approval that is sent three times, under two update ids, and again
// when the turn has continued as new, is one decision: each time the answer is
// the first one's, the opposite is refused, and the call runs once.
func TestApproval_SentAgain(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{payTool(l)},
		Script: agenttest.Script{Steps: []agenttest.Step{
			{Calls: []agenttest.ScriptCall{pay(1)}}, {Calls: []agenttest.ScriptCall{pay(2)}}, {Text: "done"},
		}},
	})
	turn, err := b.Turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent: agenttest.AgentName, StepsPerRun: 1,
		Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	first := pendings(t, b, turn.ID, 1)[0]
	send := func(id string, approve bool) (reply contract.DecideReply, err error) {
		handle, err := b.Temporal.UpdateWorkflow(t.Context(), sdkclient.UpdateWorkflowOptions{
			WorkflowID: turn.ID, UpdateID: id, UpdateName: contract.UpdateDecide, WaitForStage: sdkclient.WorkflowUpdateStageCompleted,
			Args: []any{contract.DecideRequest{Key: first.Key, Digest: first.Digest, Approve: approve, By: "ann"}},
		})
		if err == nil {
			err = handle.Get(t.Context(), &reply)
		}
		return reply, err
	}
	want, err := send("u1", true)
	want.Decision.Used = false
	if err != nil {
		t.Fatal(err)
	}
	again := func(id string) {
		t.Helper()
		got, err := send(id, true)
		got.Decision.Used = false // it says whether the call has begun meanwhile
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; the first was answered %+v", id, got, err, want)
		}
	}
	again("u1")
	again("u2")
	second := first
	for second.Key == first.Key { // until the next run asks for the next call
		second = pendings(t, b, turn.ID, 1)[0]
	}
	again("u1")
	again("u3")
	if _, err := send("u4", false); err == nil {
		t.Error("the opposite was taken")
	}
	decide(t, b, turn.ID, second, true)
	if _, err := turn.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	if keys := l.arrivals(); len(keys) != 2 || keys[0] != first.Key || keys[1] != second.Key {
		t.Errorf("arrivals %v", keys)
	}
}

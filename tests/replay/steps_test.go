package replay

import (
	"errors"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	updatepb "go.temporal.io/api/update/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

func (k *keeper) bench(o agenttest.BenchOptions) *agenttest.Bench {
	k.Helper()
	o.Server = server
	return agenttest.NewBench(k.T, o)
}

// start starts a turn of the bench's agent.
func (k *keeper) start(b *agenttest.Bench, in contract.TurnInput) *turnkeel.Turn {
	k.Helper()
	if in.Agent == "" {
		in.Agent = agenttest.AgentName
	}
	in.Messages = []contract.Message{{Role: contract.RoleUser, Content: "pay"}}
	turn, err := b.Turns.Start(k.Context(), turnkeel.TurnRequest{Input: in})
	if err != nil {
		k.Fatal(err)
	}
	return turn
}

// parked waits until n calls wait for a person.
func (k *keeper) parked(b *agenttest.Bench, id string, n int) []contract.Pending {
	k.Helper()
	for {
		status, err := b.Turns.Status(k.Context(), id)
		if err == nil && len(status.Pending) == n {
			return status.Pending
		}
		select {
		case <-k.Context().Done():
			k.Fatalf("%d calls of %s wait, want %d (%v)", len(status.Pending), id, n, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (k *keeper) decide(b *agenttest.Bench, id string, p contract.Pending, approve bool) {
	k.Helper()
	if _, err := b.Turns.Decide(k.Context(), id, contract.DecideRequest{Key: p.Key, Digest: p.Digest, Approve: approve, By: "ann"}); err != nil {
		k.Fatal(err)
	}
}

// end waits for a workflow's end, whatever it is.
func (k *keeper) end(b *agenttest.Bench, id, run string) {
	k.Helper()
	_ = b.Temporal.GetWorkflow(k.Context(), id, run).Get(k.Context(), nil)
	if err := k.Context().Err(); err != nil {
		k.Fatal(err)
	}
}

// reset makes a new run from a task's end, and gives its id.
func (k *keeper) reset(b *agenttest.Bench, id, run string, event int64) string {
	k.Helper()
	reply, err := b.Temporal.ResetWorkflowExecution(k.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: server.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: run},
		Reason: "corpus", RequestId: "reset-" + id, WorkflowTaskFinishEventId: event,
	})
	if err != nil {
		k.Fatal(err)
	}
	return reply.GetRunId()
}

func (k *keeper) send(b *agenttest.Bench, m turnkeel.Message) contract.SendReply {
	k.Helper()
	m.Session, m.Agent = "session-"+b.Queue, agenttest.AgentName
	reply, err := b.Turns.Send(k.Context(), m)
	if err != nil {
		k.Fatal(err)
	}
	return reply
}

// fired waits until a run's timer has fired.
func (k *keeper) fired(b *agenttest.Bench, id string) {
	k.Helper()
	it := b.Temporal.GetWorkflowHistory(k.Context(), id, "", true, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		if err != nil {
			k.Fatal(err)
		}
		if e.GetEventType() == enumspb.EVENT_TYPE_TIMER_FIRED {
			return
		}
	}
	k.Fatal("the history ended without a timer")
}

// late sends a decision that no worker is there for, and returns once the
// server holds it.
func (k *keeper) late(b *agenttest.Bench, id string, p contract.Pending) {
	k.Helper()
	go func() {
		_, _ = b.Temporal.UpdateWorkflow(k.Context(), sdkclient.UpdateWorkflowOptions{
			WorkflowID: id, UpdateName: contract.UpdateDecide, UpdateID: "late", WaitForStage: sdkclient.WorkflowUpdateStageAccepted,
			Args: []any{contract.DecideRequest{Key: p.Key, Digest: p.Digest, Approve: true, By: "ann"}},
		})
	}()
	for {
		_, err := b.Temporal.WorkflowService().PollWorkflowExecutionUpdate(k.Context(), &workflowservice.PollWorkflowExecutionUpdateRequest{
			Namespace: server.Namespace,
			UpdateRef: &updatepb.UpdateRef{WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id}, UpdateId: "late"},
		})
		var unknown *serviceerror.NotFound
		if err == nil {
			return
		}
		if !errors.As(err, &unknown) {
			k.Fatal(err)
		}
	}
}

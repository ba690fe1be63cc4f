package people

import (
	"errors"
	"strings"
	"testing"
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
	"github.com/turnkeel/turnkeel/tooldefs"
)

// expiring is a bench whose pay waits 4 seconds for its yes.
func expiring(t *testing.T, l *ledger) *agenttest.Bench {
	t.Helper()
	return agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, NoWorker: true,
		Tools:  []*tooldefs.Tool{payTool(l, func(s *tooldefs.Spec[payInput, string]) { s.ApprovalTimeout = 4 * time.Second })},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(7)}}, {Text: "done"}}},
	})
}

// askedFor is a turn whose pay is asked about.
func askedFor(t *testing.T, b *agenttest.Bench) (*turnkeel.Turn, contract.Pending) {
	t.Helper()
	turn := b.Start("pay")
	return turn, pendings(t, b, turn.ID, 1)[0]
}

// fired waits until the run's history has the event of a timer that is over.
func fired(t *testing.T, b *agenttest.Bench, id, run string) {
	t.Helper()
	it := b.Temporal.GetWorkflowHistory(t.Context(), id, run, true, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.GetEventType() == enumspb.EVENT_TYPE_TIMER_FIRED {
			return
		}
	}
	t.Fatal("the history ended without a timer")
}

// R22, R24, P13: an approval that comes after the expiry is refused also when
// no worker was there to see the question expire.
func TestApproval_LateWithoutAWorker(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	b := expiring(t, l)
	stop := b.StartWorker()
	turn, p := askedFor(t, b)
	stop()
	fired(t, b, turn.ID, turn.RunID)
	answered := late(t, b, turn.ID, contract.UpdateDecide, contract.DecideRequest{Key: p.Key, Digest: p.Digest, Approve: true, By: "ann"})
	b.StartWorker()
	out := b.Wait(turn)
	if e := out.Effects[0]; e.Outcome != contract.OutcomeExpired || len(l.arrivals()) != 0 {
		t.Errorf("%+v, arrivals %v", e, l.arrivals())
	}
	if err := <-answered; err == nil || !strings.Contains(err.Error(), "expired") && !strings.Contains(err.Error(), "ended") {
		t.Errorf("a late approval was answered with %v", err)
	}
}

// late sends an update that no worker is there for, and returns once the
// server holds it. How it was answered follows.
func late(t *testing.T, b *agenttest.Bench, id, name string, request any) <-chan error {
	t.Helper()
	answered := make(chan error, 1)
	ref := "late-" + name + id
	go func() {
		handle, err := b.Temporal.UpdateWorkflow(t.Context(), sdkclient.UpdateWorkflowOptions{
			WorkflowID: id, UpdateName: name, UpdateID: ref, Args: []any{request}, WaitForStage: sdkclient.WorkflowUpdateStageCompleted,
		})
		if err == nil {
			err = handle.Get(t.Context(), nil)
		}
		answered <- err
	}()
	for {
		_, err := b.Temporal.WorkflowService().PollWorkflowExecutionUpdate(t.Context(), &workflowservice.PollWorkflowExecutionUpdateRequest{
			Namespace: server.Namespace,
			UpdateRef: &updatepb.UpdateRef{WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id}, UpdateId: ref},
		})
		var unknown *serviceerror.NotFound
		switch {
		case err == nil:
			return answered
		case !errors.As(err, &unknown):
			t.Fatal(err)
		}
	}
}

// R08, R22: a decision that was in time is honoured by a run that a reset made
// after the expiry: Temporal applies it again, and the question's timer is due.
func TestApproval_ResetAfterTheExpiry(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	b := expiring(t, l)
	stop := b.StartWorker()
	turn, p := askedFor(t, b)
	// A task between question and answer, to reset to.
	if _, err := b.Turns.Decide(t.Context(), turn.ID, contract.DecideRequest{Key: "another", Digest: "call", Approve: true, By: "ann"}); err != nil {
		t.Fatal(err)
	}
	decide(t, b, turn.ID, p, true)
	var tasks []int64
	for _, e := range b.Wait(turn).History.GetEvents() {
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			tasks = append(tasks, e.GetEventId())
		}
	}
	stop()
	reset, err := b.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: server.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: turn.ID, RunId: turn.RunID},
		Reason: "test", RequestId: "reset-" + turn.ID, WorkflowTaskFinishEventId: tasks[2],
	})
	if err != nil {
		t.Fatal(err)
	}
	fired(t, b, turn.ID, reset.GetRunId()) // both come in the new run's first task
	b.StartWorker()
	out := b.Wait(b.Turns.Turn(t.Context(), turn.ID, reset.GetRunId()))
	if e := out.Effects[0]; e.Outcome != contract.OutcomeDone || len(l.arrivals()) != 1 {
		t.Errorf("%+v, arrivals %v", e, l.arrivals())
	}
}

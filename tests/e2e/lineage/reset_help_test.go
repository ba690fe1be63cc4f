package lineage

import (
	"crypto/rand"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// reset resets a run to a workflow task, by its completed event, and gives the
// turn in its new run.
func (w *world) reset(t *testing.T, turnID, runID string, eventID int64) *turnkeel.Turn {
	t.Helper()
	response, err := w.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:         server.Namespace,
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: turnID, RunId: runID},
		Reason:            "test", RequestId: rand.Text(), WorkflowTaskFinishEventId: eventID,
	})
	if err != nil {
		t.Fatalf("reset to event %d: %v", eventID, err)
	}
	return w.Turns.Turn(t.Context(), turnID, response.GetRunId())
}

// tasks are the completed events of a run's workflow tasks.
func (w *world) tasks(t *testing.T, turnID, runID string) []int64 {
	t.Helper()
	var ids []int64
	for _, e := range w.events(t, turnID, runID) {
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			ids = append(ids, e.GetEventId())
		}
	}
	return ids
}

func (w *world) events(t *testing.T, turnID, runID string) []*historypb.HistoryEvent {
	t.Helper()
	var events []*historypb.HistoryEvent
	it := w.Temporal.GetWorkflowHistory(t.Context(), turnID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// completed checks that a turn came to its end.
func completed(t *testing.T, out agenttest.Outcome) {
	t.Helper()
	if out.Err != nil || out.Result.Status != contract.StatusCompleted {
		t.Errorf("run %s: %+v, %v", out.Turn.RunID, out.Result, out.Err)
	}
}

// asked checks how often the model was asked.
func (w *world) asked(t *testing.T, times int) {
	t.Helper()
	if n := len(w.Model.Requests()); n != times {
		t.Errorf("the model was asked %d times, want %d", n, times)
	}
}

// outcomes are the outcomes of a turn's calls, in order.
func outcomes(out agenttest.Outcome) []contract.Outcome {
	var list []contract.Outcome
	for _, e := range out.Effects {
		list = append(list, e.Outcome)
	}
	return list
}

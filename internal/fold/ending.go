package fold

import (
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/turnkeel/turnkeel/contract"
)

// end reads the events that close a run. A result that is not ours, or is
// missing, leaves Result nil: what can be known then comes from the events.
func (r *Run) end(e *historypb.HistoryEvent, at time.Time) error {
	var detail *commonpb.Payloads
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
		r.Status = contract.StatusCompleted
		detail = e.GetWorkflowExecutionCompletedEventAttributes().GetResult()
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
		r.Status = contract.StatusFailed
		f := e.GetWorkflowExecutionFailedEventAttributes().GetFailure()
		r.Result = &contract.TurnResult{Status: r.Status, Reason: f.GetMessage()}
		if app := f.GetApplicationFailureInfo(); app.GetType() == contract.ErrTurnFailed {
			detail = app.GetDetails()
		}
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:
		r.Status = contract.StatusCanceled
		detail = e.GetWorkflowExecutionCanceledEventAttributes().GetDetails()
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:
		r.Status = contract.StatusTimedOut
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
		r.Status = contract.StatusCanceled
		r.Result = &contract.TurnResult{Status: r.Status, Reason: "terminated: " +
			e.GetWorkflowExecutionTerminatedEventAttributes().GetReason()}
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
		r.ContinuedAs = e.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	default:
		return nil
	}
	r.Closed = at
	if r.Type != contract.WorkflowTurn || len(detail.GetPayloads()) == 0 {
		return nil
	}
	var result contract.TurnResult
	if err := r.dc.FromPayloads(detail, &result); err != nil {
		return err
	}
	r.Result, r.Status = &result, result.Status
	return nil
}

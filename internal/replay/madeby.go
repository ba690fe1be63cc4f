package replay

import (
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
)

// recordedBy is the end of the events that a task recorded: those that its
// commands made, and the updates that it took and answered, which do not name
// it but stand among them.
func recordedBy(events []*historypb.HistoryEvent, task int) int {
	end := task + 1
	for ; end < len(events); end++ {
		switch events[end].GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED:
			continue
		default:
		}
		if madeBy(events[end]) != events[task].GetEventId() {
			return end
		}
	}
	return end
}

// byTask are the attributes of an event that a workflow task's command made.
type byTask interface{ GetWorkflowTaskCompletedEventId() int64 }

// madeBy is the id of the WorkflowTaskCompleted event that made an event, 0
// for one that came from outside.
func madeBy(e *historypb.HistoryEvent) int64 {
	for _, attributes := range []byTask{
		e.GetActivityTaskScheduledEventAttributes(), e.GetActivityTaskCancelRequestedEventAttributes(),
		e.GetTimerStartedEventAttributes(), e.GetTimerCanceledEventAttributes(), e.GetMarkerRecordedEventAttributes(),
		e.GetStartChildWorkflowExecutionInitiatedEventAttributes(),
		e.GetSignalExternalWorkflowExecutionInitiatedEventAttributes(),
		e.GetRequestCancelExternalWorkflowExecutionInitiatedEventAttributes(),
		e.GetUpsertWorkflowSearchAttributesEventAttributes(), e.GetWorkflowPropertiesModifiedEventAttributes(),
		e.GetNexusOperationScheduledEventAttributes(), e.GetNexusOperationCancelRequestedEventAttributes(),
		e.GetWorkflowExecutionCompletedEventAttributes(), e.GetWorkflowExecutionFailedEventAttributes(),
		e.GetWorkflowExecutionCanceledEventAttributes(), e.GetWorkflowExecutionContinuedAsNewEventAttributes(),
	} {
		if id := attributes.GetWorkflowTaskCompletedEventId(); id != 0 {
			return id
		}
	}
	return 0
}

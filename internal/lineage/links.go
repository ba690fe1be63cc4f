package lineage

import (
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
)

// Links are the other runs that a run's history names, and where it left them.
type Links struct {
	// Continues is the run that continued as new into this one, ContinuedAs the
	// one that this one continued into. Empty if there is none.
	Continues   string
	ContinuedAs string

	// Resets are the resets on this run's path, oldest first: a run made by
	// resetting a run that itself came from a reset has two.
	Resets []Reset
}

// Reset is one `temporal workflow reset`, as the run that it made records it.
type Reset struct {
	Base    string // the run that was reset
	New     string // the run that it made
	EventID int64  // of the new run's event that says so: all before it are copies
	Reason  string // as the operator gave it, in Temporal's words
}

// add reads one event and says whether it is a reset.
func (l *Links) add(e *historypb.HistoryEvent) bool {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
		l.Continues = e.GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED:
		a := e.GetWorkflowTaskFailedEventAttributes()
		if a.GetCause() == enumspb.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW {
			l.Resets = append(l.Resets, Reset{a.GetBaseRunId(), a.GetNewRunId(), e.GetEventId(), a.GetFailure().GetMessage()})
			return true
		}
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
		l.ContinuedAs = e.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
		l.ContinuedAs = e.GetWorkflowExecutionCompletedEventAttributes().GetNewExecutionRunId()
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
		l.ContinuedAs = e.GetWorkflowExecutionFailedEventAttributes().GetNewExecutionRunId()
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:
		l.ContinuedAs = e.GetWorkflowExecutionTimedOutEventAttributes().GetNewExecutionRunId()
	default:
	}
	return false
}

// runs are all runs named, in no particular order, maybe more than once.
func (l *Links) runs() []string {
	ids := []string{l.Continues, l.ContinuedAs}
	for _, r := range l.Resets {
		ids = append(ids, r.Base, r.New)
	}
	return ids
}

// Origin is the reset that made the run of that id, nil if none did.
func (l *Links) Origin(runID string) *Reset {
	for i := len(l.Resets) - 1; i >= 0; i-- {
		if l.Resets[i].New == runID {
			return &l.Resets[i]
		}
	}
	return nil
}

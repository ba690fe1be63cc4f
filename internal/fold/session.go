package fold

import (
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"github.com/turnkeel/turnkeel/contract"
)

// Session is what the history of a session's run says of the conversation. It
// is given the events in order, by [Session.Add].
type Session struct {
	Input contract.SessionInput

	// Said are the transcripts that make up the conversation so far, oldest
	// first: what the run began with, then what each ended turn added.
	Said []contract.Packed

	// Lost counts ended turns whose messages are not known.
	Lost int

	turns map[int64]bool // scheduled event ids of awaited turns
	dc    converter.DataConverter
}

// NewSession is an empty session, its payloads read through dc; nil is the
// SDK's default. It is not safe for concurrent use.
func NewSession(dc converter.DataConverter) *Session {
	if dc == nil {
		dc = converter.GetDefaultDataConverter()
	}
	return &Session{turns: map[int64]bool{}, dc: dc}
}

// Starts says that the event starts the turn of that id: what was said before
// it is complete.
func Starts(e *historypb.HistoryEvent, turnID string) bool {
	a := e.GetStartChildWorkflowExecutionInitiatedEventAttributes()
	return a != nil && a.GetWorkflowId() == turnID
}

// Add takes the next event in.
func (s *Session) Add(e *historypb.HistoryEvent) error {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
		if err := s.dc.FromPayloads(e.GetWorkflowExecutionStartedEventAttributes().GetInput(), &s.Input); err != nil {
			return err
		}
		if c := s.Input.Carried; c != nil && (len(c.Transcript.Gzip) > 0 || c.Transcript.Blob != "") {
			s.Said = append(s.Said, c.Transcript)
		}
	case enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED:
		return s.ended(e.GetChildWorkflowExecutionCompletedEventAttributes().GetResult())
	case enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED:
		return s.ended(detailsOf(e.GetChildWorkflowExecutionFailedEventAttributes().GetFailure()))
	case enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED:
		return s.ended(e.GetChildWorkflowExecutionCanceledEventAttributes().GetDetails())
	case enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED, enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT:
		s.Lost++
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == contract.ActivityAwaitTurn {
			s.turns[e.GetEventId()] = true
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		if a := e.GetActivityTaskCompletedEventAttributes(); s.turns[a.GetScheduledEventId()] {
			return s.ended(a.GetResult())
		}
	default:
	}
	return nil
}

// ended takes in what an ended turn added.
func (s *Session) ended(result *commonpb.Payloads) error {
	var turn contract.TurnResult
	if len(result.GetPayloads()) > 0 {
		if err := s.dc.FromPayloads(result, &turn); err != nil {
			return err
		}
	}
	if turn.Messages == nil {
		s.Lost++
		return nil
	}
	s.Said = append(s.Said, *turn.Messages)
	return nil
}

// detailsOf finds the details of a failed turn's own error.
func detailsOf(f *failurepb.Failure) *commonpb.Payloads {
	for ; f != nil; f = f.GetCause() {
		if app := f.GetApplicationFailureInfo(); app.GetType() == contract.ErrTurnFailed {
			return app.GetDetails()
		}
	}
	return nil
}

package lineage

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// Run is one run of a lineage.
type Run struct {
	RunID string
	Fold  *fold.Run
	Links Links

	// Began is when the run began: for one made by a reset the time of the reset,
	// since its first event is its base's.
	Began time.Time

	// ResetTo is the newest run that a reset of this one made, as the server
	// tells it beside the history. Empty if unknown.
	ResetTo string

	// Attempts are the starts so far of what is pending now, by activity id:
	// history does not hold them yet.
	Attempts map[string]int

	tools []string         // activity ids of tool calls, in order of scheduling
	spans map[int64]*span  // by scheduled event id
	byID  map[string]*span // by activity id
	dc    converter.DataConverter
}

// span is where an activity stands in the history.
type span struct{ scheduled, closed int64 }

// NewRun is an empty run; events are given to it by [Run.Add]. runID may be
// empty when it is not known: the history says it then. Payloads are read
// through dc, nil meaning the SDK's default.
func NewRun(runID string, dc converter.DataConverter) *Run {
	if dc == nil {
		dc = converter.GetDefaultDataConverter()
	}
	return &Run{RunID: runID, Fold: fold.New(dc), spans: map[int64]*span{}, byID: map[string]*span{}, dc: dc}
}

// Add reads the next event.
func (r *Run) Add(e *historypb.HistoryEvent) error {
	if err := r.Fold.Add(e); err != nil {
		return err
	}
	if r.Links.add(e) || e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED {
		r.Began = e.GetEventTime().AsTime()
	}
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		a := e.GetActivityTaskScheduledEventAttributes()
		s := &span{scheduled: e.GetEventId()}
		r.spans[e.GetEventId()], r.byID[a.GetActivityId()] = s, s
		if _, ok := contract.ToolOfActivity(a.GetActivityType().GetName()); ok {
			r.tools = append(r.tools, a.GetActivityId())
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		r.close(e, e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId())
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		r.close(e, e.GetActivityTaskFailedEventAttributes().GetScheduledEventId())
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		r.close(e, e.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId())
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
		r.close(e, e.GetActivityTaskCanceledEventAttributes().GetScheduledEventId())
	default:
	}
	return nil
}

func (r *Run) close(e *historypb.HistoryEvent, scheduled int64) {
	if s := r.spans[scheduled]; s != nil {
		s.closed = e.GetEventId()
	}
}

// finish settles the run's own id once all events are read: a run made by a
// reset is named by its reset, any other by its start.
func (r *Run) finish() {
	if r.RunID != "" {
		return
	}
	r.RunID = r.Fold.RunID
	if n := len(r.Links.Resets); n > 0 {
		r.RunID = r.Links.Resets[n-1].New
	}
}

// FromHistory is the one run that a saved history holds.
func FromHistory(events []*historypb.HistoryEvent, dc converter.DataConverter) (*Run, error) {
	r := NewRun("", dc)
	for _, e := range events {
		if err := r.Add(e); err != nil {
			return nil, err
		}
	}
	r.finish()
	return r, nil
}

// Copied says that the activity was scheduled and closed before the reset that
// made this run: it is its base's, not this run's. One that the reset found
// running is this run's too, since it was handed out again.
func (r *Run) Copied(activityID string) bool {
	origin, s := r.Links.Origin(r.RunID), r.byID[activityID]
	return origin != nil && s != nil && s.closed != 0 && s.closed < origin.EventID
}

package fold

import (
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/turnkeel/turnkeel/contract"
)

// Run is what one workflow run's events say.
type Run struct {
	WorkflowID string
	RunID      string
	FirstRunID string
	Type       string
	TaskQueue  string

	Input   contract.TurnInput
	Started time.Time
	Closed  time.Time // zero while it runs

	// Steps are the model calls in order, the one under way included.
	Steps []*Step

	// Status is how the run stands by its events; Result is what it returned,
	// also as the detail of a failed or canceled execution, else nil.
	// A run that continued as new is running: the turn goes on.
	Status contract.Status
	Result *contract.TurnResult

	Events int   // how many events were folded
	Bytes  int64 // their size on the wire
	LastID int64 // event id of the last one

	ContinuedFrom string // the run that this one continues
	ContinuedAs   string // the run that continues this one

	agent   *contract.Agent // of the first answer, or carried
	base    base
	said    said
	wireIDs map[string]bool
	heard   heard
	carries map[int]contract.CarryInput // by step: what packed the transcript for the next run

	plans     []*codePlan // calls that code asked for, as scheduled
	codePlans []*codePlan // those that the gates answered, as they came
	codeEnd   *codeKeys   // how keys stood when the effects were last asked for
	before    *Run        // the run that this one continues, if it is known
	lastAt    time.Time   // of the last event

	activities map[string]*Activity // by activity id
	scheduled  map[int64]*Activity  // by scheduled event id
	dc         converter.DataConverter
}

// Step is one model call and what its calls came to.
type Step struct {
	Input  contract.CallModelInput
	Model  *Activity
	Answer *contract.CallModelResult // nil until it is recorded
}

// Activity is one scheduled activity.
type Activity struct {
	ID        string
	Type      string
	Scheduled time.Time
	Started   time.Time // of the last attempt; zero until the activity closes
	Closed    time.Time // zero while it runs
	Attempts  int       // zero while it runs: starts are recorded at the close

	State   State
	Failure *failurepb.Failure // of failed, timed-out and canceled ones

	step   *Step // the step whose model call it is; nil for other activities
	input  *commonpb.Payloads
	result *commonpb.Payloads
}

// State is how an activity closed.
type State string

// The states. An open activity may be waiting, running or between attempts:
// its history does not say.
const (
	StateOpen      State = "open"
	StateCompleted State = "completed"
	StateFailed    State = "failed"
	StateTimedOut  State = "timed_out"
	StateCanceled  State = "canceled"
)

// New is an empty fold; events are given to it by [Run.Add] in order, from the
// first. Payloads are read through dc, nil meaning the SDK's default. It is
// not safe for concurrent use.
func New(dc converter.DataConverter) *Run {
	if dc == nil {
		dc = converter.GetDefaultDataConverter()
	}
	return &Run{
		Status:     contract.StatusRunning,
		wireIDs:    map[string]bool{},
		carries:    map[int]contract.CarryInput{},
		activities: map[string]*Activity{},
		scheduled:  map[int64]*Activity{},
		dc:         dc,
	}
}

// Build folds a run's events, in order from the first. A history that stops
// anywhere is fine; one that does not begin at its beginning is an error.
func Build(events []*historypb.HistoryEvent, dc converter.DataConverter) (*Run, error) {
	r := New(dc)
	for _, e := range events {
		if err := r.Add(e); err != nil {
			return nil, err
		}
	}
	if r.Type == "" {
		return nil, fmt.Errorf("the history has %d events and no start", len(events))
	}
	return r, nil
}

// Add folds the next event.
func (r *Run) Add(e *historypb.HistoryEvent) error {
	if err := r.add(e); err != nil {
		return fmt.Errorf("event %d (%s): %w", e.GetEventId(), e.GetEventType(), err)
	}
	return nil
}

// Scheduled is the activity that the event of that id scheduled, nil if none.
func (r *Run) Scheduled(eventID int64) *Activity { return r.scheduled[eventID] }

// Activity is the activity of that id, nil when the run has none.
func (r *Run) Activity(id string) *Activity { return r.activities[id] }

func (r *Run) add(e *historypb.HistoryEvent) error {
	r.Events++
	r.Bytes += int64(proto.Size(e))
	r.LastID = e.GetEventId()
	at := e.GetEventTime().AsTime()
	r.lastAt = at
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
		return r.start(e)
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		return r.schedule(e.GetEventId(), at, e.GetActivityTaskScheduledEventAttributes())
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED:
		a := e.GetActivityTaskStartedEventAttributes()
		if act := r.scheduled[a.GetScheduledEventId()]; act != nil {
			act.Started, act.Attempts = at, int(a.GetAttempt())
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		a := e.GetActivityTaskCompletedEventAttributes()
		return r.completed(a.GetScheduledEventId(), at, a.GetResult())
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		a := e.GetActivityTaskFailedEventAttributes()
		r.closed(a.GetScheduledEventId(), at, StateFailed, a.GetFailure())
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		a := e.GetActivityTaskTimedOutEventAttributes()
		r.closed(a.GetScheduledEventId(), at, StateTimedOut, a.GetFailure())
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
		a := e.GetActivityTaskCanceledEventAttributes()
		r.closed(a.GetScheduledEventId(), at, StateCanceled, nil)
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED:
		// A reset run begins with a copy of another one's events, its start
		// included; this is where it says which run it is itself.
		a := e.GetWorkflowTaskFailedEventAttributes()
		if a.GetCause() == enumspb.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW && a.GetNewRunId() != "" {
			r.RunID = a.GetNewRunId()
		}
	default:
		r.hear(e, at)
		return r.end(e, at)
	}
	return nil
}

func (r *Run) start(e *historypb.HistoryEvent) error {
	a := e.GetWorkflowExecutionStartedEventAttributes()
	r.Type, r.TaskQueue = a.GetWorkflowType().GetName(), a.GetTaskQueue().GetName()
	r.WorkflowID = a.GetWorkflowId()
	r.FirstRunID, r.RunID = a.GetFirstExecutionRunId(), a.GetOriginalExecutionRunId()
	r.ContinuedFrom = a.GetContinuedExecutionRunId()
	r.Started = e.GetEventTime().AsTime()
	if r.Type != contract.WorkflowTurn {
		return nil
	}
	return r.dc.FromPayloads(a.GetInput(), &r.Input)
}

func (r *Run) schedule(eventID int64, at time.Time, a *historypb.ActivityTaskScheduledEventAttributes) error {
	act := &Activity{
		ID: a.GetActivityId(), Type: a.GetActivityType().GetName(),
		Scheduled: at, State: StateOpen, input: a.GetInput(),
	}
	r.activities[act.ID], r.scheduled[eventID] = act, act
	switch act.Type {
	case contract.ActivityCallModel:
		act.step = &Step{Model: act}
		r.Steps = append(r.Steps, act.step)
		return r.dc.FromPayloads(act.input, &act.step.Input)
	case contract.ActivityPlanCall:
		return r.planned(act)
	case contract.ActivityCarry:
		var in contract.CarryInput
		err := r.dc.FromPayloads(act.input, &in)
		r.carries[in.Step] = in
		return err
	}
	return nil
}

func (r *Run) completed(scheduledID int64, at time.Time, result *commonpb.Payloads) error {
	act := r.closed(scheduledID, at, StateCompleted, nil)
	if act == nil {
		return nil
	}
	act.result = result
	if act.Type == contract.ActivityPlanCall {
		return r.answered(act, result)
	}
	if act.step == nil {
		return nil
	}
	answer := &contract.CallModelResult{}
	if err := r.dc.FromPayloads(result, answer); err != nil {
		return err
	}
	act.step.Answer = answer
	if r.agent == nil {
		r.agent = answer.Agent
	}
	for _, c := range answer.Calls {
		r.wireIDs[c.WireID] = true
	}
	return nil
}

func (r *Run) closed(scheduledID int64, at time.Time, state State, f *failurepb.Failure) *Activity {
	act := r.scheduled[scheduledID]
	if act != nil {
		act.State, act.Closed, act.Failure = state, at, f
	}
	return act
}

package turnkeel

import (
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	updatepb "go.temporal.io/api/update/v1"
	"go.temporal.io/sdk/converter"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// maxEventText bounds the text of a tool's result in an event, in runes.
const maxEventText = 2_000

// eventOf is what a history event means to a reader, if anything.
func eventOf(run *fold.Run, e *historypb.HistoryEvent) (Event, bool) {
	var event Event
	var ok bool
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		event, ok = scheduled(run, run.Scheduled(e.GetEventId()))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		event, ok = closed(run, run.Scheduled(e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		event, ok = closed(run, run.Scheduled(e.GetActivityTaskFailedEventAttributes().GetScheduledEventId()))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		event, ok = closed(run, run.Scheduled(e.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId()))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
		event, ok = closed(run, run.Scheduled(e.GetActivityTaskCanceledEventAttributes().GetScheduledEventId()))
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
		event, ok = decided(run, e.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest().GetInput())
	default:
		return Event{}, false
	}
	event.Time = e.GetEventTime().AsTime()
	return event, ok
}

func scheduled(run *fold.Run, act *fold.Activity) (Event, bool) {
	switch {
	case act == nil:
		return Event{}, false
	case act.Type == contract.ActivityCallModel:
		return Event{Kind: EventStep, Activity: act.ID, Step: stepOf(run)}, true
	}
	tool, ok := contract.ToolOfActivity(act.Type)
	if !ok {
		return Event{}, false
	}
	e := Event{Kind: EventToolStarted, Activity: act.ID, Step: stepOf(run), Tool: tool}
	if in, err := run.ToolInput(act); err == nil {
		e.Args, e.Key = in.Args, in.Key
	}
	return e, true
}

// decided is what a person said of a call. After a reset what was said before
// comes without its words, and is not told again.
func decided(run *fold.Run, said *updatepb.Input) (Event, bool) {
	dc := converter.GetDefaultDataConverter()
	e := Event{Kind: EventDecided, Step: stepOf(run)}
	switch said.GetName() {
	case contract.UpdateDecide:
		var r contract.DecideRequest
		if dc.FromPayloads(said.GetArgs(), &r) != nil {
			return e, false
		}
		e.Key, e.By, e.Text, e.Verdict = r.Key, r.By, r.Comment, fold.VerdictDenied
		if r.Approve {
			e.Verdict = fold.VerdictApproved
		}
	case contract.UpdateResolve:
		var r contract.ResolveRequest
		if dc.FromPayloads(said.GetArgs(), &r) != nil {
			return e, false
		}
		e.Key, e.By, e.Text, e.Verdict = r.Key, r.By, r.Comment, string(r.Verdict)
	default:
		return e, false
	}
	e.Text = contract.BoundText(e.Text, maxEventText)
	return e, true
}

func closed(run *fold.Run, act *fold.Activity) (Event, bool) {
	if act == nil {
		return Event{}, false
	}
	e := Event{
		Activity: act.ID, Step: stepOf(run), Attempt: act.Attempts,
		Took: act.Closed.Sub(act.Scheduled), Failed: act.State != fold.StateCompleted,
	}
	if act.Type == contract.ActivityCallModel {
		return answered(run, act, e), true
	}
	tool, ok := contract.ToolOfActivity(act.Type)
	if !ok {
		return Event{}, false
	}
	e.Kind, e.Tool = EventToolFinished, tool
	if in, err := run.ToolInput(act); err == nil {
		e.Args, e.Key = in.Args, in.Key
	}
	text, err := run.EntryText(contract.Entry{Ref: act.ID})
	if err != nil {
		text = string(act.State)
	}
	e.Text = contract.BoundText(text, maxEventText)
	return e, true
}

func answered(run *fold.Run, act *fold.Activity, e Event) Event {
	e.Kind = EventAnswer
	if e.Failed {
		e.Text = string(act.State)
		if why := act.Failure.GetMessage(); why != "" { // who cuts a call off needs none
			e.Text = contract.BoundText(e.Text+": "+why, maxEventText)
		}
		return e
	}
	if answer := run.Steps[len(run.Steps)-1].Answer; answer != nil {
		e.Text, e.Calls, e.Tokens = answer.Content, len(answer.Calls), answer.Usage.Total()
	}
	return e
}

func stepOf(run *fold.Run) int {
	if len(run.Steps) == 0 {
		return 0
	}
	return run.Steps[len(run.Steps)-1].Input.Step
}

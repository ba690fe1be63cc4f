package turnkeel

import (
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// notRun are the calls of which a history event says that they never began:
// those that a gate stopped, with the answer that asks for them, and others,
// such as one whose question nobody answered in time, once the workflow says
// what it made of them. A call may come twice.
func notRun(run *fold.Run, e *historypb.HistoryEvent) []Event {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		act := run.Scheduled(e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId())
		if act != nil && act.Type == contract.ActivityCallModel {
			return unrun(run, len(run.Steps)-1, e)
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		switch e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() {
		case contract.ActivityCallModel: // says what became of the calls before it
			return unrun(run, len(run.Steps)-2, e)
		case contract.ActivityCarry:
			return unrun(run, len(run.Steps)-1, e)
		}
	default:
		if !run.Closed.IsZero() {
			return unrun(run, len(run.Steps)-1, e)
		}
	}
	return nil
}

// unrun are the calls of a step that have no activity and a word on what became
// of them.
func unrun(run *fold.Run, step int, e *historypb.HistoryEvent) []Event {
	if step < 0 {
		return nil
	}
	var events []Event
	for i, effect := range run.StepEffects(step) {
		known := effect.Problem != "" || !effect.Derived
		if effect.Activity != "" || !known || effect.Outcome == contract.OutcomeDone {
			continue
		}
		args := effect.Args
		if args == "" { // it could not be parsed
			args = run.Steps[step].Answer.Calls[i].Raw
		}
		events = append(events, Event{
			Kind: EventToolNotRun, Time: e.GetEventTime().AsTime(), Step: effect.Step, Ordinal: effect.Ordinal,
			Tool: effect.Tool, Args: args, Key: effect.Key,
			Outcome: effect.Outcome, Problem: effect.Problem, Rule: effect.Rule, Text: effect.Text,
		})
	}
	return events
}

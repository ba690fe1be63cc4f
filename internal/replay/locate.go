package replay

import (
	"fmt"
	"sort"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
)

// completedTasks are the places of the WorkflowTaskCompleted events.
func completedTasks(events []*historypb.HistoryEvent) []int {
	var at []int
	for i, e := range events {
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			at = append(at, i)
		}
	}
	return at
}

// locate finds the first workflow task that the code would do otherwise: by
// replaying shorter and shorter beginnings, since the SDK's error names no
// event. said is that error, which tells which of a task's events it means.
func (c *Checker) locate(f Finding, events []*historypb.HistoryEvent, said string) *Where {
	tasks := completedTasks(events)
	n := sort.Search(len(tasks), func(n int) bool { return c.replay(f, events[:recordedBy(events, tasks[n])]) != nil })
	if n == len(tasks) { // every beginning replays: the difference is in how it ends
		last := events[len(events)-1]
		return &Where{Event: last.GetEventId(), Type: last.GetEventType().String(), What: what(last)}
	}
	task := events[tasks[n]]
	recorded := events[tasks[n]+1 : recordedBy(events, tasks[n])]
	w := &Where{Event: task.GetEventId(), Type: task.GetEventType().String(), What: "in which nothing else was recorded", Task: task.GetEventId()}
	for n > 0 && c.fails(f, events[:tasks[n]+1]) {
		n--
	}
	w.Reset = events[tasks[n]].GetEventId()
	if found := mentioned(recorded, said); found != nil {
		w.Event, w.Type, w.What = found.GetEventId(), found.GetEventType().String(), what(found)
	}
	return w
}

// differs is in the SDK's error for commands other than the recorded ones. The
// error has no type of its own.
const differs = "TMPRL1100"

// fails says that the code fails in the last task itself, by what was recorded
// before it: a reset to it would fail again, whatever it does.
func (c *Checker) fails(f Finding, events []*historypb.HistoryEvent) bool {
	err := c.replay(f, events)
	return err != nil && !strings.Contains(err.Error(), differs)
}

// mentioned is the event that the error speaks of, else the first one.
func mentioned(recorded []*historypb.HistoryEvent, said string) *historypb.HistoryEvent {
	for _, e := range recorded {
		if id := idOf(e); id != "" && strings.Contains(said, e.GetEventType().String()) && strings.Contains(said, ":"+id+",") {
			return e
		}
	}
	if len(recorded) == 0 {
		return nil
	}
	return recorded[0]
}

// idOf is the id by which the workflow's code named what the event records.
func idOf(e *historypb.HistoryEvent) string {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		return e.GetActivityTaskScheduledEventAttributes().GetActivityId()
	case enumspb.EVENT_TYPE_TIMER_STARTED:
		return e.GetTimerStartedEventAttributes().GetTimerId()
	case enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
		return e.GetStartChildWorkflowExecutionInitiatedEventAttributes().GetWorkflowId()
	default:
		return ""
	}
}

// what says in words what an event records.
func what(e *historypb.HistoryEvent) string {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		return fmt.Sprintf("activity %s, %s", idOf(e), e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName())
	case enumspb.EVENT_TYPE_TIMER_STARTED:
		return "timer " + idOf(e)
	case enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
		return fmt.Sprintf("child workflow %s, %s", idOf(e), e.GetStartChildWorkflowExecutionInitiatedEventAttributes().GetWorkflowType().GetName())
	case enumspb.EVENT_TYPE_MARKER_RECORDED:
		return "marker " + e.GetMarkerRecordedEventAttributes().GetMarkerName()
	default:
		return ""
	}
}

package agenttest

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/turnkeel/turnkeel/internal/fold"
)

// lost are the times from the end of a process to the next start of each
// attempt that it had under way or, where there was none, to the recorded end
// of the call. Those of first attempts are in once; those of later ones are in
// again, since retries wait longer each time, and so are those of which a second
// attempt went to a process that ended before it could begin it.
func (r *crashRun) lost(runs []*fold.Run) (once, again []time.Duration) {
	activities := map[string]*fold.Run{}
	for _, run := range runs {
		activities[run.RunID] = run
	}
	next := map[crashReport]time.Time{} // the start of each attempt, without its time
	for _, p := range r.fleet.processes() {
		for _, s := range p.starts {
			next[attemptOf(s, 0)] = s.At
		}
	}
	for _, p := range r.fleet.processes() {
		for _, s := range p.starts {
			at, unseen := r.again(s, next, activities[s.Run])
			switch {
			case p.ended.IsZero() || !at.After(p.ended):
			case unseen || s.Attempt > 1:
				again = append(again, at.Sub(p.ended))
			default:
				once = append(once, at.Sub(p.ended))
			}
		}
	}
	return once, again
}

// attemptOf names an attempt, so many after that of s.
func attemptOf(s crashReport, later int32) crashReport {
	return crashReport{Run: s.Run, Activity: s.Activity, Attempt: s.Attempt + later}
}

// again is when an attempt that was lost was made good, zero if it was not
// lost, and whether another was lost unseen in between.
func (r *crashRun) again(s crashReport, starts map[crashReport]time.Time, run *fold.Run) (at time.Time, unseen bool) {
	for later := int32(1); later <= 3; later++ {
		if at, ok := starts[attemptOf(s, later)]; ok {
			return at, later > 1
		}
	}
	if run == nil {
		return time.Time{}, false
	}
	act := run.Activity(s.Activity)
	if act == nil || act.State != fold.StateTimedOut && act.Attempts == int(s.Attempt) {
		return time.Time{}, false // it is this attempt that was recorded
	}
	return act.Closed, act.Attempts > int(s.Attempt)
}

// stalled are the times that turns stood because a workflow task was lost with
// its process, or waited in the queue of a dead one.
func (r *crashRun) stalled() []time.Duration {
	var all []time.Duration
	for _, turn := range r.turns {
		var scheduled, lost time.Time
		var worker string
		for _, e := range turn.events {
			switch e.GetEventType() {
			case enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED:
				scheduled = e.GetEventTime().AsTime()
			case enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED:
				if !lost.IsZero() {
					all = append(all, e.GetEventTime().AsTime().Sub(lost))
				}
				lost, worker = time.Time{}, e.GetWorkflowTaskStartedEventAttributes().GetIdentity()
			case enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
				if lost.IsZero() {
					lost = r.lostSince(e, scheduled, worker)
				}
			}
		}
	}
	return all
}

// lostSince is when the wait began that a timed-out workflow task stands for.
func (r *crashRun) lostSince(e *historypb.HistoryEvent, scheduled time.Time, worker string) time.Time {
	if e.GetWorkflowTaskTimedOutEventAttributes().GetTimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START {
		return scheduled
	}
	if ended := r.fleet.ended(worker); !ended.IsZero() {
		return ended
	}
	return scheduled
}

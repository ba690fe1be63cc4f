package fold

import (
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/turnkeel/turnkeel/contract"
)

// derive reads the outcome from the events, when the workflow has not said. It
// judges an activity's end as a turn does.
func (r *Run) derive(e *Effect, c contract.PlannedCall) {
	e.Derived = true
	act := r.activities[e.Activity]
	switch {
	case c.Problem != nil:
		e.Outcome, e.Text = contract.OutcomeInvalid, contract.BoundText(c.Problem.Text, effectTextRunes)
		if c.Problem.Kind == contract.ProblemPolicy {
			e.Outcome = contract.OutcomeDenied
		}
	case act == nil:
		e.Outcome = contract.OutcomeNotStarted
	case act.State == StateOpen && r.Closed.IsZero():
		e.Outcome = OutcomeOpen
	default:
		e.Outcome = r.endOf(act, e.Class)
		r.deriveReconciled(e)
		if e.Text == "" && (act.State == StateCompleted || act.State == StateFailed) {
			r.quote(e, act.ID)
		}
	}
}

// quote shows what an activity recorded.
func (r *Run) quote(e *Effect, activityID string) {
	if text, err := r.EntryText(contract.Entry{Ref: activityID}); err == nil {
		e.Text = contract.BoundText(text, effectTextRunes)
	}
}

// endOf is what is known of a call by the end of its last activity.
func (r *Run) endOf(act *Activity, class contract.Class) contract.Outcome {
	switch act.State {
	case StateCompleted:
		return contract.OutcomeDone
	case StateCanceled:
		return contract.OutcomeInterrupted
	case StateTimedOut:
		if act.Failure.GetTimeoutFailureInfo().GetTimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START {
			return contract.OutcomeNotExecuted
		}
		return lost(class)
	case StateFailed:
		return r.failedEnd(act, class)
	default: // the run ended while it was open
		return contract.OutcomeUnknown
	}
}

// failedEnd is what a failed activity's last attempt says.
func (r *Run) failedEnd(act *Activity, class contract.Class) contract.Outcome {
	f := act.Failure
	for f != nil && f.GetApplicationFailureInfo() == nil {
		f = f.GetCause()
	}
	switch f.GetApplicationFailureInfo().GetType() {
	case contract.ErrToolTransient:
		return lost(class)
	case contract.ErrSDKNotRegistered:
		if class == contract.ClassKeyed && act.Attempts > 1 {
			return contract.OutcomeUnknown // the start before may have acted
		}
		return contract.OutcomeNotExecuted
	}
	return r.failedOutcome(act)
}

// lost is a call whose last allowed attempt ended without a word that settles
// it.
func lost(class contract.Class) contract.Outcome {
	if class == contract.ClassSafeToRetry {
		return contract.OutcomeFailed
	}
	return contract.OutcomeUnknown
}

// failedOutcome is what a failed activity's own detail says.
func (r *Run) failedOutcome(act *Activity) contract.Outcome {
	if detail, ok := r.toolFailure(act.Failure); ok && detail.Outcome != "" {
		return detail.Outcome
	}
	return contract.OutcomeUnknown
}

// deriveReconciled takes in what the tool's own look at the world says of the
// call's last start.
func (r *Run) deriveReconciled(e *Effect) {
	if e.Outcome != contract.OutcomeUnknown {
		return
	}
	starts := 0
	for r.activities[contract.CallActivityID(e.Step, e.Ordinal, starts)] != nil {
		starts++
	}
	act := r.activities[contract.ReconcileActivityID(e.Step, e.Ordinal, starts-1)]
	if act == nil || act.State != StateCompleted {
		return
	}
	var found contract.ReconcileResult
	if r.dc.FromPayloads(act.result, &found) != nil {
		return
	}
	switch found.Verdict {
	case contract.VerdictHappened:
		e.Outcome, e.How = contract.OutcomeDone, contract.HowReconciled
		r.quote(e, act.ID) // text and json have the names of a result's
	case contract.VerdictDidNotHappen:
		e.Outcome, e.How = contract.OutcomeNotExecuted, contract.HowReconciled
		e.Text = contract.TextDidNotHappen(e.Tool, "a check of the outside world")
	}
}

// deriveDecided takes in what people said of a call, or failed to say in time,
// where the workflow's own word is missing.
func (r *Run) deriveDecided(e *Effect, run *contract.RunPlan) {
	switch {
	case !e.Derived || run == nil:
	case e.Activity == "" && e.Approval != nil && e.Approval.Verdict == VerdictDenied:
		e.Outcome, e.Text = contract.OutcomeDenied, contract.TextDenied(e.Tool, e.Approval.By, e.Approval.Comment)
	case e.Activity == "" && e.Outcome == contract.OutcomeNotStarted && e.Approval == nil && r.expired(e, run):
		e.Outcome, e.Text = contract.OutcomeExpired, contract.TextExpired(e.Tool, run.Approval.Timeout)
	case e.Resolution != nil && e.Outcome == contract.OutcomeUnknown:
		r.resolve(e)
	}
}

// expired says that a question outlived its time: it was asked once the plan
// was there, and its timer, if nothing else, is an event.
func (r *Run) expired(e *Effect, run *contract.RunPlan) bool {
	plan := r.activities[e.Plan]
	return run.Approval != nil && run.Approval.Timeout > 0 && plan != nil &&
		!r.lastAt.Before(plan.Closed.Add(run.Approval.Timeout.Std()))
}

func (r *Run) resolve(e *Effect) {
	e.How = contract.HowResolved
	switch contract.Verdict(e.Resolution.Verdict) {
	case contract.VerdictHappened:
		e.Outcome, e.Text = contract.OutcomeDone, contract.TextResolved(e.Tool, e.Resolution.By, e.Resolution.Value)
	case contract.VerdictDidNotHappen:
		e.Outcome, e.Text = contract.OutcomeNotExecuted, contract.TextDidNotHappen(e.Tool, e.Resolution.By)
	}
}

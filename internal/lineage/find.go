package lineage

import (
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// Find is one recorded execution of a tool call in another run.
type Find struct {
	RunID      string // the run that recorded it first
	ActivityID string

	// Outcome is what is known: done, failed, timed_out, not_executed, or
	// unknown for everything else, a call without a recorded outcome included.
	Outcome contract.Outcome

	// Result is the recorded result, of a done call only.
	Result contract.ToolResult

	// Kind is the error type of a failed or timed-out call.
	Kind string

	// Text is what the model was shown, whole and without the workflow's notes;
	// empty where nothing was recorded.
	Text string

	// Cleared says that the call was itself a start after an unknown outcome had
	// been settled as "did not happen".
	Cleared bool
}

// finds are the tool calls of a run, by key.
func (r *Run) finds() (map[string][]Find, error) {
	said := map[string]fold.Effect{} // by the last activity of a call
	for _, e := range r.Fold.Effects() {
		if e.Activity != "" {
			said[e.Activity] = e
		}
	}
	finds := map[string][]Find{}
	for _, id := range r.tools {
		act := r.Fold.Activity(id)
		in, err := r.Fold.ToolInput(act)
		if err != nil {
			return nil, err
		}
		f := Find{RunID: r.RunID, ActivityID: id, Outcome: contract.OutcomeUnknown, Cleared: in.Cleared != ""}
		if err := r.recorded(&f, act); err != nil {
			return nil, err
		}
		if e, ok := said[id]; ok && !e.Derived {
			r.told(&f, e.Entry)
		}
		finds[in.Key] = append(finds[in.Key], f)
	}
	return finds, nil
}

// recorded reads what the activity itself recorded.
func (r *Run) recorded(f *Find, act *fold.Activity) error {
	switch act.State {
	case fold.StateCompleted:
		result, err := r.Fold.ToolResult(act)
		if err != nil {
			return err
		}
		f.Outcome, f.Result = contract.OutcomeDone, result
		if result.FromRun != "" {
			f.RunID = result.FromRun
		}
		f.Result.FromRun = f.RunID
	case fold.StateFailed, fold.StateTimedOut:
		r.failed(f, act)
	default: // open, or canceled: nothing says what it did
	}
	return nil
}

// failed reads an activity's failure. Definite are only the handler's own word
// and what certainly did nothing in a first attempt.
func (r *Run) failed(f *Find, act *fold.Activity) {
	if act.Failure.GetTimeoutFailureInfo().GetTimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START {
		f.Outcome = contract.OutcomeNotExecuted
		return
	}
	app := applicationFailure(act.Failure)
	if app == nil {
		return
	}
	var detail contract.ToolFailure
	if err := r.dc.FromPayloads(app.GetApplicationFailureInfo().GetDetails(), &detail); err == nil {
		f.Text = detail.Text
		if detail.FromRun != "" {
			f.RunID = detail.FromRun
		}
	}
	switch kind := app.GetApplicationFailureInfo().GetType(); kind {
	case contract.ErrToolFailed:
		f.Outcome, f.Kind = contract.OutcomeFailed, kind
	case contract.ErrToolTimedOut:
		f.Outcome, f.Kind = contract.OutcomeTimedOut, kind
	case contract.ErrToolNotExecuted, contract.ErrSDKNotRegistered:
		if act.Attempts <= 1 {
			f.Outcome = contract.OutcomeNotExecuted
		}
	default: // a refusal of our own wrapper is no word on the effect
	}
}

// told adds the workflow's own words on a call: what the model was shown when
// the activity itself recorded no text, and that a repeatable call gave up.
func (r *Run) told(f *Find, entry contract.Entry) {
	if entry.How != "" || f.Outcome == contract.OutcomeDone {
		return // it became known otherwise, and would have to again
	}
	entry.Note = ""
	text, err := r.Fold.EntryText(entry)
	if err != nil {
		return
	}
	f.Text = text
	if f.Outcome == contract.OutcomeUnknown && entry.Outcome == contract.OutcomeFailed {
		f.Outcome, f.Kind = contract.OutcomeFailed, contract.ErrToolFailed
	}
}

func applicationFailure(f *failurepb.Failure) *failurepb.Failure {
	for f != nil && f.GetApplicationFailureInfo() == nil {
		f = f.GetCause()
	}
	return f
}

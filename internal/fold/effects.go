package fold

import (
	"time"

	"github.com/turnkeel/turnkeel/contract"
)

// Effect is one line of the effect log: one call of the turn, or of a workflow
// of a user's own.
type Effect struct {
	Ordinal  int              `json:"ordinal"`
	Step     int              `json:"step"` // 0 of a call that code made
	Tool     string           `json:"tool"`
	Args     string           `json:"args,omitempty"`
	Class    contract.Class   `json:"class,omitempty"`
	Effects  contract.Effects `json:"effects,omitempty"`
	Key      string           `json:"key"`
	Outcome  contract.Outcome `json:"outcome"`
	Attempts int              `json:"attempts,omitempty"`
	Activity string           `json:"activity,omitempty"`

	Scheduled *time.Time `json:"scheduled,omitempty"`
	Closed    *time.Time `json:"closed,omitempty"`

	// How says how the outcome became known, when it is not the activity's own
	// word: see [contract.Entry.How].
	How string `json:"how,omitempty"`

	// Rule is the policy rule that decided on the call, empty without one.
	Rule string `json:"rule,omitempty"`

	// Approval is a person's word on a call that waited for it, Resolution one
	// on what became of a call. Nil while, and where, nobody said anything.
	Approval *Decision `json:"approval,omitempty"`

	// LaterApprovals are the words on the questions that followed: each time its
	// tool had changed since, the call was asked about anew. Class, Effects and
	// Rule are those of the last question.
	LaterApprovals []Decision `json:"later_approvals,omitempty"`

	Resolution *Decision `json:"resolution,omitempty"`

	// FromRun is the earlier run that recorded it, after a reset: the call was
	// not made again.
	FromRun string `json:"from_run,omitempty"`

	// Truncated says that the result was too large for the history and stands
	// there cut; it had ResultBytes, and Blob, if set, is where the whole is.
	Truncated   bool   `json:"truncated,omitempty"`
	ResultBytes int    `json:"result_bytes,omitempty"`
	Blob        string `json:"blob,omitempty"`

	// Text is what the model was shown, cut to one screen.
	Text string `json:"text,omitempty"`

	// Derived says that the history has no word of the workflow on this call:
	// the outcome is read from the events alone. So is that of every call that
	// code made, since its workflow tells it to the code and to nobody else.
	Derived bool `json:"derived,omitempty"`

	// Entry is the workflow's own word, unless Derived.
	Entry contract.Entry `json:"-"`

	// Problem is the gate that stopped the call where it was planned, empty if
	// none did: it never ran, and Text says why.
	Problem contract.ProblemKind `json:"problem,omitempty"`

	// Plan is the activity that recorded the planned call.
	Plan string `json:"-"`
}

// OutcomeOpen is a call whose activity has not closed.
const OutcomeOpen contract.Outcome = "open"

const effectTextRunes = 400

// Effects is the effect log of the run, in the order of the calls: those of its
// model's answers, then those that its code made.
func (r *Run) Effects() []Effect {
	var log []Effect
	people := r.listen()
	for i := range r.Steps {
		log = append(log, r.stepEffects(i, people)...)
	}
	return append(log, r.codeEffects(people)...)
}

// StepEffects are the lines of one step, by its place in Steps, one for each
// call of its answer in order. Where calls of several steps have the same key,
// only [Run.Effects] knows which one a person's word is about.
func (r *Run) StepEffects(step int) []Effect { return r.stepEffects(step, r.listen()) }

func (r *Run) stepEffects(step int, people *listener) []Effect {
	s := r.Steps[step]
	if s.Answer == nil {
		return nil
	}
	var log []Effect
	entries := r.entriesOf(step)
	for j, c := range s.Answer.Calls {
		e, drifts := r.effectOf(c, s.Input.Step, s.Input.Ordinal+j, s.Model.ID)
		if j < len(entries) {
			r.decided(&e, entries[j])
		} else {
			r.derive(&e, c)
		}
		people.say(&e, c.Run, drifts)
		r.deriveDecided(&e, c.Run)
		log = append(log, e)
	}
	return log
}

// effectOf is what the plan and the call's activities say of it, as it was
// asked about last. drifts are what workers had in place of the definition that
// it was planned by.
func (r *Run) effectOf(c contract.PlannedCall, step, ordinal int, plan string) (e Effect, drifts []contract.ToolFailure) {
	e = Effect{Ordinal: ordinal, Step: step, Tool: c.ToolName(), Args: c.Args, Plan: plan}
	if c.Run != nil {
		e.Class, e.Effects, e.Rule = c.Run.Class, c.Run.Effects, c.Run.Rule
	}
	if c.Problem != nil {
		e.Rule, e.Problem = c.Problem.Rule, c.Problem.Kind
	}
	drifts = r.activityOf(&e)
	if c.Run != nil && c.Run.Approval != nil {
		e.redefine(drifts)
	}
	return e, drifts
}

// entriesOf is the workflow's word on the calls of a step: in the next model
// call's input or, for the last step, in the turn's result or in what was
// packed for the run that continues it.
func (r *Run) entriesOf(step int) []contract.Entry {
	if step+1 < len(r.Steps) {
		return r.Steps[step+1].Input.Entries
	}
	if carry, ok := r.carries[r.Steps[step].Input.Step]; ok {
		return carry.Entries
	}
	if r.Result != nil {
		return r.Result.Tail
	}
	return nil
}

func (r *Run) decided(e *Effect, entry contract.Entry) {
	e.Entry, e.Outcome, e.How = entry, entry.Outcome, entry.How
	if entry.Key != "" {
		e.Key = entry.Key
	}
	if text, err := r.EntryText(entry); err == nil {
		e.Text = contract.BoundText(text, effectTextRunes)
	}
}

// redefine tells of a call that was asked about anew as it was asked about last.
func (e *Effect) redefine(drifts []contract.ToolFailure) {
	for _, d := range drifts {
		if d.Now != nil {
			e.Class, e.Effects, e.Rule = d.Now.Class, d.Now.Effects, d.Now.Rule
		}
	}
}

// activityOf fills what the call's last activity says of it. It gives what
// workers had in place of the definition that the call was planned by.
func (r *Run) activityOf(e *Effect) (drifts []contract.ToolFailure) {
	for again := 0; ; again++ {
		act := r.activities[contract.CallActivityID(e.Step, e.Ordinal, again)]
		if act == nil {
			return drifts
		}
		if detail, ok := r.toolFailure(act.Failure); ok && detail.Drift != "" {
			drifts = append(drifts, detail)
		}
		e.Activity = act.ID
		e.Attempts += act.Attempts
		if e.Scheduled == nil {
			e.Scheduled = &act.Scheduled
		}
		e.Closed = nil
		if !act.Closed.IsZero() {
			e.Closed = &act.Closed
		}
		if in, err := r.ToolInput(act); err == nil {
			e.Key = in.Key
		}
		e.FromRun = r.fromRun(act)
		e.Truncated, e.ResultBytes, e.Blob = r.cutOf(act)
	}
}

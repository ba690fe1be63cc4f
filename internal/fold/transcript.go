package fold

import "github.com/turnkeel/turnkeel/contract"

// Transcript is all that was said in the run so far, the last step included,
// and what the run began with. Tool results are whole. A call whose outcome is
// not known yet is answered by a note in brackets.
func (r *Run) Transcript() ([]contract.Message, error) {
	if err := r.readBase(); err != nil {
		return nil, err
	}
	messages := append([]contract.Message{}, r.base.messages...)
	for i, s := range r.Steps {
		if s.Answer == nil {
			continue
		}
		entries := r.entriesOf(i)
		if len(entries) != len(s.Answer.Calls) {
			entries = r.openEntries(s)
		}
		said, err := r.stepMessages(s, entries, 0)
		if err != nil {
			return nil, err
		}
		messages = append(messages, said...)
	}
	return messages, nil
}

// openEntries stands in for the workflow's word on a step that is under way.
func (r *Run) openEntries(s *Step) []contract.Entry {
	entries := make([]contract.Entry, len(s.Answer.Calls))
	for i, c := range s.Answer.Calls {
		act := r.lastOf(s.Input.Step, s.Input.Ordinal+i)
		switch {
		case c.Problem != nil:
			entries[i] = contract.Entry{Text: c.Problem.Text, Outcome: contract.OutcomeInvalid}
		case act != nil && act.State == StateCompleted:
			entries[i] = contract.Entry{Ref: act.ID, Outcome: contract.OutcomeDone}
		case act != nil && act.State == StateFailed && saysSo(r.failedOutcome(act)):
			entries[i] = contract.Entry{Ref: act.ID, Outcome: r.failedOutcome(act)}
		default:
			entries[i] = contract.Entry{Text: "[no result yet]", Outcome: OutcomeOpen}
		}
	}
	return entries
}

// saysSo says that an outcome is the handler's own word: the workflow takes
// it as it stands, where it may schedule others again or judge them.
func saysSo(o contract.Outcome) bool {
	return o == contract.OutcomeFailed || o == contract.OutcomeTimedOut
}

// lastOf is the activity of a call that was scheduled last, nil when none was.
// A call that was not executed is scheduled again under the next id.
func (r *Run) lastOf(step, ordinal int) *Activity {
	var last *Activity
	for again := 0; ; again++ {
		act := r.activities[contract.CallActivityID(step, ordinal, again)]
		if act == nil {
			return last
		}
		last = act
	}
}

package fold

import (
	"fmt"

	"github.com/turnkeel/turnkeel/contract"
)

// base is what was said before the run's own first step. A continued run's
// whole transcript is carried, its input's messages included; another run has
// its base, plain or packed, and then its messages.
type base struct {
	known    bool
	agent    *contract.Agent // carried; nil in a run that is not continued
	messages []contract.Message
	before   int // how many of them were said before the turn
	wireIDs  map[string]bool
}

// packed is where the run's input carries a transcript, nil if nowhere.
func (r *Run) packed() *contract.Packed {
	switch {
	case r.Input.Carried != nil:
		return &r.Input.Carried.Transcript
	case r.Input.BaseOf != nil && len(r.Steps) > 0 && r.Steps[0].Answer != nil:
		return r.Steps[0].Answer.Base // of an older history
	default:
		return r.Input.BasePacked
	}
}

// BaseBlob is the reference of the blob that the run's transcript begins with,
// "" when there is none or it was given already. The fold reads no blob: who
// has the store gives it to [Run.SetBase]. Without it [Run.Prompt] and
// [Run.Transcript] are errors; the effect log needs none.
func (r *Run) BaseBlob() string {
	if p := r.packed(); p != nil && !r.base.known && len(p.Gzip) == 0 {
		return p.Blob
	}
	return ""
}

// SetBase gives the fold the content of the blob that [Run.BaseBlob] names.
func (r *Run) SetBase(packed []byte) error {
	t, err := Unpack(packed)
	if err != nil {
		return err
	}
	r.useBase(&t)
	return nil
}

// SessionBase says which session's history holds what was said before the turn,
// nil when that is known, or nothing was said. The fold reads no other history:
// who can gives it to [Run.SetMessages]. Without it it is as with a blob.
func (r *Run) SessionBase() *contract.BaseRef {
	if r.base.known || r.saidBefore() == 0 {
		return nil
	}
	return r.Input.BaseOf
}

// saidBefore is how many messages the first step of a session's turn was asked
// with, 0 until it is recorded.
func (r *Run) saidBefore() int {
	if r.Input.BaseOf == nil || r.Input.Carried != nil || len(r.Steps) == 0 || r.Steps[0].Answer == nil {
		return 0
	}
	return r.Steps[0].Answer.BaseSaid
}

// SetMessages gives the fold what was said before a session's turn. It is an
// error when the turn was asked with another number of messages.
func (r *Run) SetMessages(messages []contract.Message) error {
	if n := r.saidBefore(); n > 0 && n != len(messages) {
		return fmt.Errorf("session %s has %d messages of before the turn, which was asked with %d", r.Input.BaseOf.WorkflowID, len(messages), n)
	}
	r.useBase(&contract.PackedTranscript{Messages: messages})
	return nil
}

// NewMessages leaves out of the turn's messages those that were said before
// it.
func (r *Run) NewMessages(messages []contract.Message) []contract.Message {
	return messages[min(r.base.before, len(messages)):]
}

// Before is how many of the turn's messages were said before it.
func (r *Run) Before() int { return r.base.before }

// readBase makes the base known: from the input, or from what it carries.
func (r *Run) readBase() error {
	if r.base.known {
		return nil
	}
	p := r.packed()
	switch {
	case p == nil && r.saidBefore() > 0:
		return fmt.Errorf("the transcript begins in the history of session %s, which was not given", r.Input.BaseOf.WorkflowID)
	case p == nil:
		r.useBase(nil)
		return nil
	case len(p.Gzip) > 0:
		if err := r.SetBase(p.Gzip); err != nil {
			return fmt.Errorf("what the run's input carries: %w", err)
		}
		return nil
	case p.Blob != "":
		return fmt.Errorf("the transcript begins in the blob %s, which was not given", p.Blob)
	default:
		return fmt.Errorf("the run's input says that it carries a transcript, and carries none")
	}
}

func (r *Run) useBase(t *contract.PackedTranscript) {
	b := base{known: true, wireIDs: map[string]bool{}}
	switch {
	case t != nil && r.Input.Carried != nil:
		b.agent, b.messages, b.before = t.Agent, t.Messages, t.Base
	case t != nil:
		b.messages, b.before = append(append(b.messages, t.Messages...), r.Input.Messages...), len(t.Messages)
	default:
		b.messages, b.before = append(append(b.messages, r.Input.Base...), r.Input.Messages...), len(r.Input.Base)
	}
	for _, m := range b.messages {
		for _, c := range m.ToolCalls {
			b.wireIDs[c.ID] = true
		}
	}
	r.base = b
}

// Agent is the resolved agent that the turn's first step recorded, nil before
// that. A continued run carries it.
func (r *Run) Agent() *contract.Agent {
	if r.agent == nil && r.Input.Carried != nil && r.readBase() == nil {
		r.agent = r.base.agent
	}
	return r.agent
}

// UsedWireID says whether a call of the turn, or of what it begins with, has
// that wire id already.
func (r *Run) UsedWireID(id string) bool {
	return r.wireIDs[id] || r.readBase() == nil && r.base.wireIDs[id]
}

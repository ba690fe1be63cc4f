package fold

import (
	"bytes"
	"encoding/json"
	"fmt"

	failurepb "go.temporal.io/api/failure/v1"

	"github.com/turnkeel/turnkeel/contract"
)

// Agent is the resolved agent that the first step recorded, nil before that.
func (r *Run) Agent() *contract.Agent {
	for _, s := range r.Steps {
		if s.Answer != nil && s.Answer.Agent != nil {
			return s.Answer.Agent
		}
	}
	return nil
}

// Prompt is the transcript that the model call of in.Step is to see, without
// the system message: base, the user's messages, and for each earlier step
// the assistant message followed by one tool message a call. Tool results
// are whole here; who sends them cuts them.
//
// It is an error when something the input refers to is not in the history:
// then the history is not this run's.
func (r *Run) Prompt(in contract.CallModelInput) ([]contract.Message, error) {
	messages := append([]contract.Message{}, r.Input.Base...)
	messages = append(messages, r.Input.Messages...)
	for i, s := range r.Steps {
		if s.Input.Step >= in.Step {
			break
		}
		if s.Answer == nil {
			return nil, fmt.Errorf("step %d has no recorded answer", s.Input.Step)
		}
		entries := in.Entries
		if s.Input.Step+1 < in.Step {
			if i+1 >= len(r.Steps) {
				return nil, fmt.Errorf("step %d is not in the history", s.Input.Step+1)
			}
			entries = r.Steps[i+1].Input.Entries
		}
		answered, err := r.stepMessages(s, entries)
		if err != nil {
			return nil, err
		}
		messages = append(messages, answered...)
	}
	return messages, nil
}

// stepMessages is the assistant message of a step and its tool messages. A
// step always stands whole: each call is answered exactly once, in order.
func (r *Run) stepMessages(s *Step, entries []contract.Entry) ([]contract.Message, error) {
	if len(entries) != len(s.Answer.Calls) {
		return nil, fmt.Errorf("step %d has %d calls and %d entries", s.Input.Step, len(s.Answer.Calls), len(entries))
	}
	messages := []contract.Message{s.Answer.Message()}
	for i, c := range s.Answer.Calls {
		text, err := r.EntryText(entries[i])
		if err != nil {
			return nil, fmt.Errorf("step %d, call %s: %w", s.Input.Step, c.Name, err)
		}
		messages = append(messages, contract.Message{Role: contract.RoleTool, ToolCallID: c.WireID, Content: text})
	}
	return messages, nil
}

// EntryText is what an entry stands for, whole.
func (r *Run) EntryText(e contract.Entry) (string, error) {
	text := e.Text
	if e.Ref != "" {
		var err error
		if text, err = r.recordedText(e.Ref); err != nil {
			return "", err
		}
	}
	if e.Note != "" {
		text += "\n" + e.Note
	}
	return text, nil
}

// recordedText is the result or the typed error that an activity recorded.
func (r *Run) recordedText(id string) (string, error) {
	act := r.activities[id]
	switch {
	case act == nil:
		return "", fmt.Errorf("activity %s is not in the history", id)
	case act.State == StateCompleted:
		result, err := r.ToolResult(act)
		if err != nil {
			return "", fmt.Errorf("result of activity %s: %w", id, err)
		}
		return ResultText(result)
	case act.Failure != nil:
		return r.failureText(act)
	default:
		return "", fmt.Errorf("activity %s is %s and recorded no text", id, act.State)
	}
}

func (r *Run) failureText(act *Activity) (string, error) {
	f := act.Failure
	for f != nil && f.GetApplicationFailureInfo() == nil {
		f = f.GetCause()
	}
	if f == nil {
		return contract.BoundText(act.Failure.GetMessage(), contract.MaxErrorText), nil
	}
	if detail, ok := r.toolFailure(f); ok {
		return detail.Text, nil
	}
	return contract.BoundText(f.GetMessage(), contract.MaxErrorText), nil
}

// toolFailure is our own detail of a tool's typed error.
func (r *Run) toolFailure(f *failurepb.Failure) (contract.ToolFailure, bool) {
	details := f.GetApplicationFailureInfo().GetDetails()
	if len(details.GetPayloads()) == 0 {
		return contract.ToolFailure{}, false
	}
	var detail contract.ToolFailure
	err := r.dc.FromPayloads(details, &detail)
	return detail, err == nil && detail.Text != ""
}

// ToolInput is a tool activity's input.
func (r *Run) ToolInput(act *Activity) (contract.ToolInput, error) {
	var in contract.ToolInput
	err := r.dc.FromPayloads(act.input, &in)
	return in, err
}

// ToolResult is a completed tool activity's result.
func (r *Run) ToolResult(act *Activity) (contract.ToolResult, error) {
	var out contract.ToolResult
	err := r.dc.FromPayloads(act.result, &out)
	return out, err
}

// ResultText is a tool's result as the model reads it: a string as it is, any
// other value as compact JSON. The data converter writes <, > and & of JSON
// values as escapes; they are put back here, so the model sees plain text.
func ResultText(result contract.ToolResult) (string, error) {
	if len(result.JSON) == 0 {
		return result.Text, nil
	}
	var b bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(result.JSON))
	dec.UseNumber() // every digit stays
	var v any
	if err := dec.Decode(&v); err != nil {
		return "", err
	}
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// Transcript is all that was said in the run so far, the last step included.
// A call whose outcome is not known yet is answered by a note in brackets.
func (r *Run) Transcript() ([]contract.Message, error) {
	messages := append([]contract.Message{}, r.Input.Base...)
	messages = append(messages, r.Input.Messages...)
	for i, s := range r.Steps {
		if s.Answer == nil {
			continue
		}
		entries := r.entriesOf(i)
		if len(entries) != len(s.Answer.Calls) {
			entries = r.openEntries(s)
		}
		said, err := r.stepMessages(s, entries)
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
	for i := range entries {
		id := contract.CallActivityID(s.Input.Step, s.Input.Ordinal+i, 0)
		if act := r.activities[id]; act != nil && act.State == StateCompleted {
			entries[i] = contract.Entry{Ref: id, Outcome: contract.OutcomeDone}
			continue
		}
		entries[i] = contract.Entry{Text: "[no result yet]", Outcome: OutcomeOpen}
	}
	return entries
}

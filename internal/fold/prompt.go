package fold

import (
	"bytes"
	"fmt"
	"strings"

	failurepb "go.temporal.io/api/failure/v1"

	"github.com/turnkeel/turnkeel/contract"
)

// Prompt is the transcript that the model call of in.Step is to see, without
// the system message: base, the user's messages, and for each earlier step
// the assistant message followed by one tool message a call. Tool results are
// cut to maxResultChars runes, or whole when that is 0.
//
// The list is the caller's, what its messages point to is shared. Messages of
// steps that a later step has settled are put together once: on a fold that
// grows, each call with the same maxResultChars costs what is new and a copy
// of the list.
//
// It is an error when something the input refers to is not in the history:
// then the history is not this run's.
func (r *Run) Prompt(in contract.CallModelInput, maxResultChars int) ([]contract.Message, error) {
	last := in.Step - 1 - r.firstStep() // the place of the step whose entries in carries
	switch {
	case last < -1:
		return nil, fmt.Errorf("step %d is in an earlier run", in.Step)
	case last >= len(r.Steps):
		return nil, fmt.Errorf("step %d is not in the history", in.Step-1)
	}
	if err := r.settle(last, maxResultChars); err != nil {
		return nil, err
	}
	settled := r.said.upTo(last)
	if last < 0 {
		return append(make([]contract.Message, 0, len(settled)), settled...), nil
	}
	said, err := r.stepMessages(r.Steps[last], in.Entries, maxResultChars)
	if err != nil {
		return nil, err
	}
	messages := make([]contract.Message, 0, len(settled)+len(said))
	return append(append(messages, settled...), said...), nil
}

// stepMessages is the assistant message of a step and its tool messages. A
// step always stands whole: each call is answered exactly once, in order.
func (r *Run) stepMessages(s *Step, entries []contract.Entry, maxResultChars int) ([]contract.Message, error) {
	if s.Answer == nil {
		return nil, fmt.Errorf("step %d has no recorded answer", s.Input.Step)
	}
	if len(entries) != len(s.Answer.Calls) {
		return nil, fmt.Errorf("step %d has %d calls and %d entries", s.Input.Step, len(s.Answer.Calls), len(entries))
	}
	messages := []contract.Message{s.Answer.Message()}
	for i, c := range s.Answer.Calls {
		text, err := r.EntryText(entries[i])
		if err != nil {
			return nil, fmt.Errorf("step %d, call %s: %w", s.Input.Step, c.Name, err)
		}
		messages = append(messages, contract.Message{Role: contract.RoleTool, ToolCallID: c.WireID, Content: cut(text, maxResultChars)})
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
		return ResultText(result), nil
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
		return r.failureMessage(act.Failure), nil
	}
	if detail, ok := r.toolFailure(f); ok {
		return detail.Text, nil
	}
	return r.failureMessage(f), nil
}

// failureMessage is a failure's message, also where the client's failure
// converter has put it among the encoded attributes.
func (r *Run) failureMessage(f *failurepb.Failure) string {
	message := f.GetMessage()
	if encoded := f.GetEncodedAttributes(); encoded != nil {
		var attributes struct {
			Message string `json:"message"`
		}
		if err := r.dc.FromPayload(encoded, &attributes); err == nil {
			message = attributes.Message
		}
	}
	return contract.BoundText(message, contract.MaxErrorText)
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
// other value as the JSON that is recorded, compact and in its own order. The
// data converter writes <, > and & of JSON strings as escapes; they are put back
// here, so the model sees plain text.
func ResultText(result contract.ToolResult) string {
	if len(result.JSON) == 0 {
		return result.Text
	}
	return plainJSON(result.JSON)
}

// plainJSON is a JSON text with <, > and & in place of their escapes. It walks
// over the text and decodes nothing: a worker that sees a turn for the first
// time reads all results of it, and they have megabytes.
func plainJSON(text []byte) string {
	var b strings.Builder
	b.Grow(len(text))
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			b.Write(text)
			return b.String()
		}
		b.Write(text[:at])
		text = text[at:]
		if plain, ok := escapedHTML(text); ok {
			b.WriteByte(plain)
			text = text[len(`\u003c`):]
			continue
		}
		b.Write(text[:2]) // with what is escaped: it may be a backslash
		text = text[2:]
	}
}

// escapedHTML is the character whose escape a text begins with.
func escapedHTML(text []byte) (plain byte, ok bool) {
	if len(text) < len(`\u003c`) {
		return 0, false
	}
	switch string(text[:len(`\u003c`)]) {
	case `\u003c`:
		return '<', true
	case `\u003e`:
		return '>', true
	case `\u0026`:
		return '&', true
	default:
		return 0, false
	}
}

package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
)

// maxAnswer bounds text, reasoning and arguments together, in bytes.
const maxAnswer = 8 << 20

// assembly puts an answer together from its chunks.
type assembly struct {
	text, reasoning, refusal strings.Builder
	calls                    callList
	extra                    privateFields
	usage                    contract.Usage
	finish, model, id        string
	chunk                    chunk // decoded into again and again
}

// add takes in one chunk and returns its text.
func (a *assembly) add(raw []byte) (string, error) {
	c := &a.chunk
	clear(c.Choices[:cap(c.Choices)])
	c.Choices, c.Usage = c.Choices[:0], c.Usage[:0]
	if err := json.Unmarshal(raw, c); err != nil {
		return "", &Error{Kind: KindInterrupted, Message: "a chunk of the stream has an unknown shape: " + excerpt(raw)}
	}
	if c.ID != "" {
		a.id = string(c.ID)
	}
	if c.Model != "" {
		a.model = string(c.Model)
	}
	var words string
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			continue // we ask for one choice
		}
		if d := ch.delta(a.empty()); d != nil {
			words += a.delta(d)
		}
		if ch.FinishReason != "" {
			a.finish = string(ch.FinishReason)
		}
		if u, ok := usage(ch.Usage); ok {
			a.usage = u
		}
	}
	if u, ok := usage(c.Usage); ok {
		a.usage = u
	}
	if a.text.Len()+a.reasoning.Len()+a.calls.size > maxAnswer {
		return words, &Error{Kind: KindTooLarge, Message: "the answer is larger than 8 MiB"}
	}
	return words, nil
}

// delta is the choice's delta. A whole message counts only where no delta
// came before: some servers repeat everything at the end.
func (c choice) delta(first bool) *delta {
	if c.Delta != nil || !first {
		return c.Delta
	}
	return c.Message
}

func (a *assembly) delta(d *delta) string {
	words, thoughts := d.content()
	words = clean(words)
	a.text.WriteString(words)
	a.reasoning.WriteString(clean(d.reasoning() + thoughts))
	a.refusal.WriteString(clean(string(d.Refusal)))
	for i, f := range d.ToolCalls {
		a.calls.add(f, i)
	}
	if d.FunctionCall != nil {
		a.calls.add(fragment{Function: *d.FunctionCall}, 0)
	}
	a.calls.size += a.extra.add(d.privateFields)
	return words
}

// empty says that nothing of an answer has come yet.
func (a *assembly) empty() bool {
	return a.text.Len() == 0 && a.reasoning.Len() == 0 && a.refusal.Len() == 0 && len(a.calls.list) == 0
}

// balanced says that what came can be a whole answer: there is something,
// and all arguments parse.
func (a *assembly) balanced() bool {
	for _, c := range a.calls.list {
		if args := bytes.TrimSpace(c.args); len(args) > 0 && !json.Valid(args) {
			return false
		}
	}
	return a.text.Len() > 0 || a.refusal.Len() > 0 || len(a.calls.list) > 0
}

// answer is the whole answer; limit is the output limit that was asked for.
func (a *assembly) answer(limit int) Answer {
	out := Answer{
		Text: a.text.String(), Reasoning: a.reasoning.String(), Refusal: a.refusal.String(),
		Calls: a.calls.all(), Extra: a.extra.object(),
		Usage: a.usage, FinishReason: a.finish, Model: a.model, RequestID: a.id,
	}
	out.Truncated = finishOf(a.finish) == finishTruncated || limit > 0 && spent(a.usage) >= limit
	return out
}

// spent is the output as a limit counts it. Servers report a cut answer as
// tool_calls or stop; the count tells. Some count reasoning beside completion,
// not in it, which shows when there is more of it.
func spent(u contract.Usage) int {
	if u.ReasoningTokens > u.CompletionTokens {
		return u.CompletionTokens + u.ReasoningTokens
	}
	return u.CompletionTokens
}

func isPresent(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

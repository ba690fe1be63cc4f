package effect

import (
	"strconv"

	"github.com/turnkeel/turnkeel/contract"
)

const promptTag = "turnkeel/prompt/v1"

// PromptDigest names what a model call answers: 64 hex digits. With the scope
// it is the call's identity. messages are the transcript without the system
// message, with tool results cut to what the model reads of them; wrapUp is
// [contract.CallModelInput.WrapUp].
func PromptDigest(step int, messages []contract.Message, wrapUp string) string {
	parts := []string{promptTag, strconv.Itoa(step), wrapUp, strconv.Itoa(len(messages))}
	for _, m := range messages {
		parts = append(parts, string(m.Role), m.Content, m.ToolCallID, m.Reasoning, m.Extra, strconv.Itoa(len(m.ToolCalls)))
		for _, c := range m.ToolCalls {
			parts = append(parts, c.ID, c.Name, c.Args, c.Extra)
		}
	}
	return hash(parts...)
}

package activities

import (
	"encoding/json"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/mask"
	"github.com/turnkeel/turnkeel/internal/wire"
)

// An answer is recorded, too. An endpoint may say the key that it was sent, and
// a model what it was told.

// maskedAnswer is an answer without the values; what [Activities.plan] makes of
// its calls is masked there.
func maskedAnswer(m mask.Mask, answer wire.Answer) wire.Answer {
	for _, text := range []*string{&answer.Text, &answer.Reasoning, &answer.Refusal, &answer.Extra, &answer.FinishReason, &answer.Model, &answer.RequestID} {
		*text = maskedJSON(m, *text)
	}
	return answer
}

// maskedJSON is text without the values; JSON stays JSON.
func maskedJSON(m mask.Mask, text string) string {
	if m.Empty() || !json.Valid([]byte(text)) {
		return m.Text(text)
	}
	return string(m.JSON([]byte(text)))
}

// maskedCall is a call without the values, and whether its name or arguments
// held one: such a call would do something else than was meant.
func maskedCall(m mask.Mask, c contract.ToolCall) (masked contract.ToolCall, held bool) {
	masked = c
	for _, text := range []*string{&masked.ID, &masked.Name, &masked.Args, &masked.Extra} {
		*text = maskedJSON(m, *text)
	}
	return masked, masked.Name != c.Name || masked.Args != c.Args
}

// textSecretInCall tells the model why a call with a value in it does not run.
const textSecretInCall = "its arguments held the value of an environment variable of the worker, in whose place its name stands now in brackets; " +
	"leave it out: a tool that needs it has it"

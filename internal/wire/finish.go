package wire

import "strings"

type finishKind int

const (
	finishNormal finishKind = iota
	finishTruncated
	finishRefused
	finishFailed
	finishBadCall
)

// finishes lists what is not a normal end, in lower case. Everything else is:
// whether there are calls decides, not the word.
var finishes = map[string]finishKind{
	"length":       finishTruncated,
	"max_tokens":   finishTruncated,
	"model_length": finishTruncated, // Mistral

	"content_filter":     finishRefused,
	"safety":             finishRefused, // Gemini
	"recitation":         finishRefused,
	"prohibited_content": finishRefused,
	"blocklist":          finishRefused,
	"sensitive":          finishRefused, // Zhipu

	"error":                        finishFailed, // OpenRouter
	"abort":                        finishFailed, // vLLM
	"network_error":                finishFailed, // Zhipu
	"insufficient_system_resource": finishFailed, // DeepSeek

	"malformed_function_call": finishBadCall, // Gemini
}

// finishError is the error that a finish_reason stands for, if any.
func (a *assembly) finishError() error {
	reason := strings.ToLower(a.finish)
	if i := strings.LastIndex(reason, ": "); i >= 0 {
		reason = reason[i+2:]
	}
	switch finishes[reason] {
	case finishRefused:
		return &Error{Kind: KindRefused, Message: "the endpoint's content filter stopped the answer (finish_reason " + a.finish + ")"}
	case finishFailed:
		return &Error{Kind: KindInterrupted, Message: "the endpoint gave up in the middle of the answer (finish_reason " + a.finish + ")"}
	case finishBadCall:
		return &Error{Kind: KindBadGeneration, Message: "the model wrote a tool call that its endpoint could not read (finish_reason " + a.finish + ")"}
	}
	return nil
}

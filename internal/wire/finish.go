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

	"max_output_tokens":             finishTruncated,
	"max_tokens_reached":            finishTruncated,
	"model_context_window_exceeded": finishTruncated, // Anthropic
	"incomplete":                    finishTruncated,

	"content_filter":       finishRefused,
	"safety":               finishRefused, // Gemini
	"recitation":           finishRefused,
	"prohibited_content":   finishRefused,
	"blocklist":            finishRefused,
	"sensitive":            finishRefused, // Zhipu
	"spii":                 finishRefused, // Gemini
	"language":             finishRefused,
	"image_safety":         finishRefused,
	"guardrail_intervened": finishRefused, // Bedrock
	"content_filtered":     finishRefused,
	"refusal":              finishRefused, // Anthropic

	"error":                        finishFailed, // OpenRouter
	"abort":                        finishFailed, // vLLM
	"network_error":                finishFailed, // Zhipu
	"insufficient_system_resource": finishFailed, // DeepSeek
	"aborted":                      finishFailed,
	"cancelled":                    finishFailed,
	"canceled":                     finishFailed,
	"timeout":                      finishFailed,
	"server_error":                 finishFailed,

	"malformed_function_call": finishBadCall, // Gemini
	"unexpected_tool_call":    finishBadCall,
}

// finishOf sorts a finish_reason; Gemini's endpoint puts words before it.
func finishOf(reason string) finishKind {
	reason = strings.ToLower(strings.TrimSpace(reason))
	if i := strings.LastIndex(reason, ": "); i >= 0 {
		reason = reason[i+2:]
	}
	return finishes[reason]
}

// finishError is the error that a finish_reason stands for, if any.
func (a *assembly) finishError() error {
	switch finishOf(a.finish) {
	case finishRefused:
		return &Error{Kind: KindRefused, Message: "the endpoint's content filter stopped the answer (finish_reason " + a.finish + ")"}
	case finishFailed:
		return &Error{Kind: KindInterrupted, Message: "the endpoint gave up in the middle of the answer (finish_reason " + a.finish + ")"}
	case finishBadCall:
		return &Error{Kind: KindBadGeneration, Message: "the model wrote a tool call that its endpoint could not read (finish_reason " + a.finish + ")"}
	}
	return nil
}

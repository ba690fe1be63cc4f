package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// statusError is the error of a response that is not 2xx. Its status decides
// whether another attempt may help; the text only sorts what will not.
func statusError(resp *http.Response, body []byte, baseURL string) *Error {
	f := readFault(body)
	e := &Error{
		Status: resp.StatusCode, Message: f.message, Generation: f.generation,
		RetryAfter: max(retryAfter(resp.Header, time.Now()), f.retryAfter),
		RequestID:  requestID(resp.Header),
	}
	switch resp.Header.Get("X-Should-Retry") {
	case "true", "false":
		should := resp.Header.Get("X-Should-Retry") == "true"
		e.should = &should
	}
	e.Kind = classify(resp.StatusCode, f, e.RetryAfter > 0)
	if e.Message == "" {
		e.Message = resp.Status
	}
	if e.Kind == KindNotAnEndpoint {
		hint := "no chat completions at " + plainURL(baseURL) + "; check base_url (for most servers it ends in /v1)"
		if to := resp.Header.Get("Location"); to != "" {
			hint += "; it redirects to " + plainURL(to)
		}
		e.Message = hint + ": " + e.Message
	}
	return e
}

// frameError is the error that a frame of a 200 stream, or a 200 JSON body,
// holds; nil when it holds none. named says that its event field is "error".
func frameError(frame []byte, named bool) *Error {
	if named {
		return streamError(frame)
	}
	if bytes.Contains(frame, []byte(`"choices"`)) && !bytes.Contains(frame, []byte(`"error"`)) {
		return nil // nearly every frame
	}
	var top object
	switch {
	case bytes.HasPrefix(frame, []byte("[")):
		var list []object
		if json.Unmarshal(frame, &list) != nil || len(list) == 0 {
			return nil
		}
		top = list[0]
	case json.Unmarshal(frame, &top) != nil:
		return nil
	}
	switch raw := top["error"]; string(raw) {
	case "", "null", `""`, "{}", "false", "[]":
	default:
		return streamError(frame)
	}
	if isPresent(top["choices"]) || isPresent(top["usage"]) {
		return nil
	}
	if scalar(top["object"]) == "error" || scalar(top["type"]) == "error" || isPresent(top["detail"]) || isPresent(top["message"]) {
		return streamError(frame)
	}
	return nil
}

// streamError is an error that came with status 200. One that names no
// status, and whose words say nothing, may pass.
func streamError(frame []byte) *Error {
	f := readFault(frame)
	status := f.status
	if status == 0 {
		status = wordStatus(f)
	}
	e := &Error{Status: f.status, Message: f.message, RetryAfter: f.retryAfter, Generation: f.generation}
	e.Kind = classify(status, f, f.retryAfter > 0)
	return e
}

// wordStatus is the status that an error's code or type stands for.
func wordStatus(f fault) int {
	words := strings.ToLower(f.code + " " + f.kind)
	for _, w := range []struct {
		word   string
		status int
	}{
		{"rate_limit", 429}, {"resource_exhausted", 429}, {"too_many_requests", 429}, {"insufficient_quota", 429},
		{"overloaded", 529},
		{"authentication", 401}, {"invalid_api_key", 401}, {"unauthenticated", 401}, {"permission", 403},
		{"invalid_request", 400}, {"invalid_argument", 400}, {"bad_request", 400}, {"badrequest", 400},
		{"tool_use_failed", 400}, {"content_filter", 400}, {"content_policy", 400}, {"context_length", 400},
		{"not_found", 404},
	} {
		if strings.Contains(words, w.word) {
			return w.status
		}
	}
	return http.StatusBadGateway
}

// classify sorts an error by its status, and by its words where one status
// stands for several kinds. waits says that the endpoint named a time after
// which to come back.
func classify(status int, f fault, waits bool) Kind {
	words := strings.ToLower(f.code + " " + f.kind + " " + f.message)
	switch {
	case status == 429:
		return classifyLimit(words, waits)
	case status == 401:
		return KindAuth
	case status == 402:
		return KindQuota
	case badGeneration(words) || f.generation != "":
		return KindBadGeneration
	case status == 403 || status == 451:
		return classifyForbidden(words)
	case status == 413 && anyOf(words, "rate_limit", "per minute", "tpm"): // Groq
		return KindRateLimited
	case tooLong(words):
		return KindContextTooLong
	case status == 503 || status == 529:
		return KindOverloaded
	case status == 501 || status == 505 || status == 405 || status >= 300 && status < 400:
		return KindNotAnEndpoint
	case status == 408 || status == 409 || status == 425 || status >= 500:
		return KindUnavailable
	case status == 413:
		return KindContextTooLong
	case status == 404:
		if anyOf(words, "model", "deployment", "no endpoints found") {
			return KindBadRequest
		}
		return KindNotAnEndpoint
	case refused(words):
		return KindRefused
	case noKey(words):
		return KindAuth
	case noMoney(words):
		return KindQuota
	}
	return KindBadRequest
}

// classifyLimit tells a rate, which passes, from a budget that is used up.
func classifyLimit(words string, waits bool) Kind {
	if anyOf(words, "insufficient_quota") || !waits && anyOf(words, "billing", "insufficient balance", "credit balance", "out of credits") {
		return KindQuota
	}
	return KindRateLimited
}

func classifyForbidden(words string) Kind {
	switch {
	case noMoney(words):
		return KindQuota
	case refused(words) || anyOf(words, "moderation", "flagged"): // OpenRouter
		return KindRefused
	}
	return KindAuth
}

// badGeneration recognises that the endpoint could not read what its own model
// wrote as a tool call.
func badGeneration(words string) bool {
	return anyOf(words,
		"tool_use_failed", "output_parse_failed", "tool call validation failed", // Groq
		"error parsing tool call",                            // Ollama, as a 500
		"failed to parse input at pos",                       // llama.cpp, as a 500
		"malformed_function_call", "malformed function call") // Gemini
}

func refused(words string) bool {
	return anyOf(words, "content_policy", "content_filter", "content management policy", "responsibleai", "content_moderation", "data_inspection_failed")
}

func noKey(words string) bool {
	return anyOf(words, "api key not valid", "incorrect api key", "invalid api key", "invalid_api_key", "api_key_invalid")
}

func noMoney(words string) bool {
	return anyOf(words, "insufficient_quota", "insufficient balance", "credit balance", "out of credits", "key limit exceeded", "billing_hard_limit")
}

// tooLong recognises that the transcript does not fit, in the words of the
// servers we know.
func tooLong(words string) bool {
	if anyOf(words, "string too long", "string_above_max_length", "took too long", "taking too long", "too long to respond") {
		return false // one field, a tool's name for example; or time
	}
	return anyOf(words,
		"context_length", "context length", "context window", "context size", "exceed_context", "context_window",
		"maximum context", "too long", "too many input tokens", "too many tokens", "maximum number of tokens allowed",
		"reduce the length of the", "exceeds the model's maximum", "max_prompt_tokens", "prompt exceeds",
		"maximum prompt length",                                   // xAI
		"max_seq_len", "max_model_len", "max_new_tokens` must be", // vLLM, SiliconFlow, TGI
		"exceeded model token limit", // Moonshot
		"range of input length",      // DashScope
		"tokens_limit_reached",       // GitHub Models
		"request_too_large",          // Anthropic
		"when context the overflows") // LM Studio
}

func anyOf(words string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(words, p) {
			return true
		}
	}
	return false
}

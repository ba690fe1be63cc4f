package scripted

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"unicode/utf8"
)

// Sizes of the pieces an answer is streamed in, in bytes: small enough that
// names, numbers and escapes fall apart.
const (
	textPiece = 12
	argsPiece = 7
)

type fields = map[string]any

// models serves GET /v1/models.
func (m *Model) models(w http.ResponseWriter, _ *http.Request) {
	name := m.script.Model
	if name == "" {
		name = "scripted"
	}
	writeJSON(w, http.StatusOK, fields{"object": "list", "data": []fields{
		{"id": name, "object": "model", "created": 0, "owned_by": "turnkeel"},
	}})
}

// elsewhere answers every other path.
func (m *Model) elsewhere(w http.ResponseWriter, r *http.Request) {
	m.fault(fmt.Errorf("%s %s: the server has POST /v1/chat/completions and GET /v1/models", r.Method, r.URL.Path))
	refuse(w, StepFailure{Status: http.StatusNotFound, Message: "Not Found"})
}

// chat serves POST /v1/chat/completions.
func (m *Model) chat(w http.ResponseWriter, r *http.Request) {
	req, illegal := ReadRequest(r)
	number, before := m.record(req)
	var step Step
	if illegal == nil {
		step, illegal = m.step(r.Context(), req)
	}
	w.Header().Set("X-Request-Id", "req_"+strconv.Itoa(number))
	if illegal != nil {
		m.fault(fmt.Errorf("request %d: %w", number, illegal))
		refuse(w, StepFailure{Status: http.StatusBadRequest, Message: "illegal request: " + illegal.Error(), Code: "illegal_request"})
		return
	}
	fault := StepFailure{}
	if before < len(step.Failures) {
		fault = step.Failures[before]
	}
	a := answer{step: step, request: req, model: m.script.Model}
	if a.model == "" {
		a.model = req.Model
	}
	a.serve(r.Context(), w, fault)
}

// refuse answers with an error in OpenAI's shape.
func refuse(w http.ResponseWriter, f StepFailure) {
	for name, value := range f.Headers {
		w.Header().Set(name, value)
	}
	if f.Body != "" {
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		if f.Status != 0 {
			w.WriteHeader(f.Status)
		}
		_, _ = io.WriteString(w, f.Body)
		return
	}
	message, code := f.Message, any(nil)
	if message == "" {
		message = http.StatusText(f.Status)
	}
	if f.Code != "" {
		code = f.Code
	}
	writeJSON(w, f.Status, fields{"error": fields{"message": message, "type": "scripted_error", "param": nil, "code": code}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// answer is a step as the answer to a request.
type answer struct {
	step    Step
	request Request
	model   string
}

func (a answer) usage() fields {
	u := a.step.usage(len(a.request.Body))
	return fields{
		"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
		"prompt_tokens_details":     fields{"cached_tokens": u.Cached},
		"completion_tokens_details": fields{"reasoning_tokens": u.Reasoning},
	}
}

func (a answer) callID(i int) string {
	if id := a.step.Calls[i].ID; id != "" {
		return id
	}
	return fmt.Sprintf("call_%d_%d", a.request.Step, i+1)
}

// whole is the answer that is not streamed.
func (a answer) whole() fields {
	message := fields{"role": "assistant", "content": nil}
	if a.step.Text != "" || len(a.step.Calls) == 0 {
		message["content"] = a.step.Text
	}
	if a.step.Reasoning != "" {
		message["reasoning_content"] = a.step.Reasoning
	}
	var calls []fields
	for i, c := range a.step.Calls {
		args, _ := c.arguments()
		calls = append(calls, fields{"id": a.callID(i), "type": "function", "function": fields{"name": c.Name, "arguments": args}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return fields{
		"id": "chatcmpl-scripted", "object": "chat.completion", "created": 0, "model": a.model,
		"choices": []fields{{"index": 0, "message": message, "finish_reason": a.step.FinishReason()}},
		"usage":   a.usage(),
	}
}

// chunks are the answer's chunks, usage included if it was asked for.
func (a answer) chunks() []fields {
	var all []fields
	add := func(delta fields, finish any) {
		all = append(all, fields{
			"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": a.model,
			"choices": []fields{{"index": 0, "delta": delta, "finish_reason": finish}},
		})
	}
	add(fields{"role": "assistant", "content": ""}, nil)
	for _, piece := range pieces(a.step.Reasoning, textPiece) {
		add(fields{"reasoning_content": piece}, nil)
	}
	for _, piece := range pieces(a.step.Text, textPiece) {
		add(fields{"content": piece}, nil)
	}
	for i, c := range a.step.Calls {
		call := func(f fields) { add(fields{"tool_calls": []fields{f}}, nil) }
		call(fields{"index": i, "id": a.callID(i), "type": "function", "function": fields{"name": c.Name, "arguments": ""}})
		args, _ := c.arguments()
		for _, piece := range pieces(args, argsPiece) {
			call(fields{"index": i, "function": fields{"arguments": piece}})
		}
	}
	add(fields{}, a.step.FinishReason())
	if a.request.includeUsage {
		all = append(all, fields{
			"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": a.model,
			"choices": []fields{}, "usage": a.usage(),
		})
	}
	return all
}

// frames are the frames of the streamed answer, [DONE] included.
func (a answer) frames() ([]string, error) {
	var all []string
	for _, c := range a.chunks() {
		data, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		all = append(all, "data: "+string(data))
	}
	return append(all, "data: [DONE]"), nil
}

// pieces cuts s into pieces of about size bytes, never inside a rune.
func pieces(s string, size int) []string {
	var all []string
	for len(s) > size {
		n := size
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		all = append(all, s[:n])
		s = s[n:]
	}
	if s != "" {
		all = append(all, s)
	}
	return all
}

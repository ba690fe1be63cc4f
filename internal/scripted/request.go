package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel/contract"
)

// Request is a chat request as it came in.
type Request struct {
	At     time.Time
	Header http.Header
	Body   []byte

	Model    string
	Messages []Message
	Tools    []RequestTool
	Stream   bool

	User string // the latest user message
	Step int    // which step is due after it, from 1

	includeUsage bool
}

// Message is a message of a chat request.
type Message struct {
	Role       string `json:"role"`
	Content    string `json:"-"`
	ToolCalls  []Call `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`

	RawContent json.RawMessage `json:"content"` // nil: there was none
}

// Call is a tool call of an assistant message.
type Call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string  `json:"name"`
		Arguments *string `json:"arguments"` // nil: there were none
	} `json:"function"`
}

// RequestTool is a tool that a chat request offers.
type RequestTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// ReadRequest reads a chat request and says what is illegal about it. What
// could be read is returned in any case.
func ReadRequest(r *http.Request) (Request, error) {
	out := Request{At: time.Now(), Header: r.Header.Clone()}
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	out.Body = body
	if err != nil {
		return out, fmt.Errorf("the body was cut: %w", err)
	}
	var in struct {
		Model             string          `json:"model"`
		Messages          []Message       `json:"messages"`
		Tools             *[]RequestTool  `json:"tools"`
		ToolChoice        json.RawMessage `json:"tool_choice"`
		ParallelToolCalls json.RawMessage `json:"parallel_tool_calls"`
		Stream            bool            `json:"stream"`
		StreamOptions     *struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(&in); err != nil {
		return out, fmt.Errorf("the body is not a chat request: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return out, errors.New("there is more after the JSON of the request")
	}
	out.Model, out.Messages, out.Stream = in.Model, in.Messages, in.Stream
	if in.Tools != nil {
		out.Tools = *in.Tools
	}
	out.includeUsage = in.StreamOptions != nil && in.StreamOptions.IncludeUsage
	contentErr := out.readContents()
	out.place()
	switch {
	case contentErr != nil:
		return out, contentErr
	case in.Model == "":
		return out, errors.New("model is missing")
	case in.Tools != nil && len(*in.Tools) == 0:
		return out, errors.New("tools is an empty list: leave it out")
	case in.Tools == nil && (in.ToolChoice != nil || in.ParallelToolCalls != nil):
		return out, errors.New("tool_choice or parallel_tool_calls without tools")
	case in.StreamOptions != nil && !in.Stream:
		return out, errors.New("stream_options without stream")
	}
	return out, out.check()
}

// readContents reads each content: a string, null, or a list of text parts.
func (r *Request) readContents() error {
	for i := range r.Messages {
		m := &r.Messages[i]
		if len(m.RawContent) == 0 || string(m.RawContent) == "null" {
			continue
		}
		if json.Unmarshal(m.RawContent, &m.Content) == nil {
			continue
		}
		var parts []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal(m.RawContent, &parts); err != nil {
			return fmt.Errorf("messages[%d]: content is neither a string nor a list of parts", i)
		}
		for _, p := range parts {
			m.Content += p.Text
		}
	}
	return nil
}

// reask says that the message asks again for the same step.
func (m Message) reask() bool {
	return m.Role == "user" && strings.HasPrefix(m.Content, contract.ReaskPrefix)
}

// identity is the request without what asks again: how often the model was
// asked for the same thing counts, whatever words it was asked with.
func (r *Request) identity() []byte {
	var body map[string]json.RawMessage
	var messages []json.RawMessage
	if json.Unmarshal(r.Body, &body) != nil || json.Unmarshal(body["messages"], &messages) != nil || len(messages) != len(r.Messages) {
		return r.Body
	}
	kept := []json.RawMessage{}
	for i, raw := range messages {
		if !r.Messages[i].reask() {
			kept = append(kept, raw)
		}
	}
	all, err := json.Marshal(kept)
	if err != nil {
		return r.Body
	}
	body["messages"] = all
	out, err := json.Marshal(body)
	if err != nil {
		return r.Body
	}
	return out
}

// place finds the latest user message and which step is due.
func (r *Request) place() {
	r.Step = 1
	for _, m := range r.Messages {
		switch {
		case m.reask():
		case m.Role == "user":
			r.User, r.Step = m.Content, 1
		case m.Role == "assistant":
			r.Step++
		}
	}
}

package scripted

import (
	"encoding/json"
	"fmt"
	"strings"
)

// check says what an endpoint that is strict would refuse.
func (r *Request) check() error {
	if len(r.Messages) == 0 {
		return fmt.Errorf("messages is empty")
	}
	names := map[string]bool{}
	for i, t := range r.Tools {
		if err := t.check(); err != nil {
			return fmt.Errorf("tools[%d]: %w", i, err)
		}
		if names[t.Function.Name] {
			return fmt.Errorf("tools[%d]: there are two tools named %s", i, t.Function.Name)
		}
		names[t.Function.Name] = true
	}
	var open []string         // ids of the calls that are still to be answered
	used := map[string]bool{} // ids since the latest user message
	for i, m := range r.Messages {
		if len(open) > 0 && m.Role != "tool" {
			return fmt.Errorf("messages[%d]: a message of %q where the answer to the call %s is due", i, m.Role, open[0])
		}
		if m.Role == "user" {
			clear(used)
		}
		var err error
		if open, err = m.check(open, used); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the calls %s are not answered", strings.Join(open, ", "))
	}
	if last := r.Messages[len(r.Messages)-1]; last.Role == "assistant" {
		return fmt.Errorf("the last message is the assistant's: there is nothing to answer")
	}
	return nil
}

// check checks one message and returns the calls that are open after it.
func (m Message) check(open []string, used map[string]bool) ([]string, error) {
	if len(m.ToolCalls) > 0 && m.Role != "assistant" {
		return nil, fmt.Errorf("tool_calls in a message of %q", m.Role)
	}
	switch m.Role {
	case "system", "developer", "user":
		return nil, m.checkContent()
	case "tool":
		return m.checkAnswer(open)
	case "assistant":
		return m.checkCalls(used)
	}
	return nil, fmt.Errorf("unknown role %q", m.Role)
}

// checkContent wants a content; it may be empty.
func (m Message) checkContent() error {
	if len(m.RawContent) == 0 || string(m.RawContent) == "null" {
		return fmt.Errorf("content of a message of %q is missing", m.Role)
	}
	return nil
}

func (m Message) checkAnswer(open []string) ([]string, error) {
	switch {
	case m.ToolCallID == "":
		return nil, fmt.Errorf("tool_call_id is missing")
	case len(open) == 0:
		return nil, fmt.Errorf("an answer to %s, which is no open call of the message before", m.ToolCallID)
	case m.ToolCallID != open[0]:
		return nil, fmt.Errorf("an answer to %s where %s is due: answers stand in the order of the calls", m.ToolCallID, open[0])
	}
	return open[1:], m.checkContent()
}

func (m Message) checkCalls(used map[string]bool) ([]string, error) {
	if len(m.ToolCalls) == 0 {
		return nil, m.checkContent()
	}
	var open []string
	for i, c := range m.ToolCalls {
		switch {
		case c.ID == "":
			return nil, fmt.Errorf("tool_calls[%d]: id is missing", i)
		case used[c.ID]:
			return nil, fmt.Errorf("tool_calls[%d]: the id %s stands twice in this turn", i, c.ID)
		case c.Type != "function":
			return nil, fmt.Errorf("tool_calls[%d]: type is %q, not function", i, c.Type)
		case c.Function.Name == "":
			return nil, fmt.Errorf("tool_calls[%d]: the function has no name", i)
		case c.Function.Arguments == nil:
			return nil, fmt.Errorf("tool_calls[%d]: arguments are missing", i)
		case !isObject([]byte(*c.Function.Arguments)):
			return nil, fmt.Errorf("tool_calls[%d]: arguments are not a JSON object: %.100q", i, *c.Function.Arguments)
		}
		used[c.ID] = true
		open = append(open, c.ID)
	}
	return open, nil
}

func (t RequestTool) check() error {
	switch {
	case t.Type != "function":
		return fmt.Errorf("type is %q, not function", t.Type)
	case t.Function.Name == "":
		return fmt.Errorf("the function has no name")
	case !isObject(t.Function.Parameters):
		return fmt.Errorf("parameters of %s are not a JSON object", t.Function.Name)
	}
	var schema struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(t.Function.Parameters, &schema); err != nil || schema.Type != "object" {
		return fmt.Errorf(`parameters of %s are not a schema of "type":"object"`, t.Function.Name)
	}
	return nil
}

// isObject says whether text is exactly one JSON object.
func isObject(text []byte) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(text, &fields) == nil && fields != nil
}

package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/turnkeel/turnkeel/contract"
)

// patch adds to go-openai's JSON what its structs cannot hold: empty strings,
// a temperature of 0, provider-private fields, an empty reasoning text.
type patch struct {
	messages    []contract.Message
	temperature *float64
	echo        string
}

type object = map[string]json.RawMessage

func (p patch) apply(body []byte) ([]byte, error) {
	var request object
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	var messages []object
	if err := json.Unmarshal(request["messages"], &messages); err != nil || len(messages) != len(p.messages) {
		return nil, fmt.Errorf("encode messages: %d became %d (%w)", len(p.messages), len(messages), err)
	}
	for i, m := range p.messages {
		if err := p.message(messages[i], m); err != nil {
			return nil, fmt.Errorf("encode message %d: %w", i, err)
		}
	}
	var err error
	if request["messages"], err = marshal(messages); err != nil {
		return nil, err
	}
	if p.temperature != nil {
		if request["temperature"], err = marshal(*p.temperature); err != nil {
			return nil, err
		}
	}
	return marshal(request)
}

func (p patch) message(out object, m contract.Message) error {
	asks := m.Role == contract.RoleAssistant && len(m.ToolCalls) > 0
	if _, has := out["content"]; !has && !asks {
		out["content"] = json.RawMessage(`""`)
	}
	if _, has := out["reasoning_content"]; !has && asks && p.echo == "even_empty" {
		out["reasoning_content"] = json.RawMessage(`""`)
	}
	merge(out, m.Extra)
	if !asks {
		return nil
	}
	var calls []object
	if err := json.Unmarshal(out["tool_calls"], &calls); err != nil {
		return err
	}
	for i, call := range m.ToolCalls {
		merge(calls[i], call.Extra)
	}
	raw, err := marshal(calls)
	out["tool_calls"] = raw
	return err
}

// merge adds the fields of a provider-private object. It never replaces one
// of ours; an extra that is no object is left out.
func merge(out object, extra string) {
	if extra == "" {
		return
	}
	var fields object
	if json.Unmarshal([]byte(extra), &fields) != nil {
		return
	}
	for name, value := range fields {
		if _, ours := out[name]; !ours {
			out[name] = value
		}
	}
}

// marshal encodes without escaping <, > and &, so that private fields keep
// their bytes.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

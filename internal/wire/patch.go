package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/wire/providers"
)

// patch adds to go-openai's JSON what its structs cannot hold (empty strings,
// a temperature of 0, provider-private fields, an empty reasoning text), and
// takes from it what the endpoint does not take.
type patch struct {
	messages    []contract.Message // as they are sent
	temperature *float64
	settings    providers.Settings
	echo        string // of reasoning text
	parallel    string // "true" or "false"; "" is not sent
	bytes       int    // of messages and tools
}

type object = map[string]json.RawMessage

// estimate is the prompt's size in tokens, at four bytes each: too small for
// most texts, so that who compares does not cry wolf.
func (p *patch) estimate() int { return p.bytes / 4 }

func (p *patch) apply(body []byte) ([]byte, error) {
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
	p.bytes = len(request["messages"]) + len(request["tools"])
	if p.temperature != nil {
		if request["temperature"], err = marshal(*p.temperature); err != nil {
			return nil, err
		}
	}
	p.options(request)
	return marshal(request)
}

// options applies the quirks to the request's own fields.
func (p *patch) options(request object) {
	if p.settings.Stream == "off" {
		delete(request, "stream")
		delete(request, "stream_options")
	}
	if p.settings.StreamUsage == "omit" {
		delete(request, "stream_options")
	}
	if p.settings.TokenLimit == "max_completion_tokens" {
		if limit, ok := request["max_tokens"]; ok {
			request["max_completion_tokens"] = limit
			delete(request, "max_tokens")
		}
	}
	// Without tools, endpoints refuse whatever speaks of them.
	if _, tools := request["tools"]; tools && p.parallel != "" && p.settings.ParallelOption != "omit" {
		request["parallel_tool_calls"] = json.RawMessage(p.parallel)
	}
}

func (p *patch) message(out object, m contract.Message) error {
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
	// Only the first call of an answer carries a signature.
	if _, signed := calls[0]["extra_content"]; !signed && p.settings.MissingSignature == "google" {
		calls[0]["extra_content"] = json.RawMessage(`{"google":{"thought_signature":"skip_thought_signature_validator"}}`)
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

package wire

import (
	"bytes"
	"encoding/json"
)

// privateFields are what providers put on messages and calls beyond OpenAI's
// fields and want back: byte for byte where it came whole.
type privateFields struct {
	ExtraContent     json.RawMessage `json:"extra_content"`            // Gemini
	ReasoningDetails json.RawMessage `json:"reasoning_details"`        // OpenRouter
	ThinkingBlocks   json.RawMessage `json:"thinking_blocks"`          // LiteLLM
	ProviderSpecific json.RawMessage `json:"provider_specific_fields"` // LiteLLM
}

// add takes in the fields of a chunk and says how many bytes they are.
func (p *privateFields) add(q privateFields) int {
	join(&p.ExtraContent, q.ExtraContent)
	join(&p.ReasoningDetails, q.ReasoningDetails)
	join(&p.ThinkingBlocks, q.ThinkingBlocks)
	join(&p.ProviderSpecific, q.ProviderSpecific)
	return len(q.ExtraContent) + len(q.ReasoningDetails) + len(q.ThinkingBlocks) + len(q.ProviderSpecific)
}

// object is the fields as one JSON object, or "" if there are none.
func (p privateFields) object() string {
	var b bytes.Buffer
	for _, f := range []struct {
		name  string
		value json.RawMessage
	}{
		{"extra_content", p.ExtraContent}, {"reasoning_details", p.ReasoningDetails},
		{"thinking_blocks", p.ThinkingBlocks}, {"provider_specific_fields", p.ProviderSpecific},
	} {
		if f.value == nil {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + f.name + `":`)
		b.Write(f.value)
	}
	if b.Len() == 0 {
		return ""
	}
	return "{" + b.String() + "}"
}

// join puts a later value to an earlier one: lists are joined, and anything
// else replaces.
func join(to *json.RawMessage, value json.RawMessage) {
	if !isPresent(value) || string(value) == "{}" || string(value) == "[]" {
		return
	}
	var had, more []json.RawMessage
	if *to == nil || json.Unmarshal(*to, &had) != nil || json.Unmarshal(value, &more) != nil {
		*to = value
		return
	}
	for _, item := range more {
		if last := len(had) - 1; last >= 0 {
			if joined := joinParts(had[last], item); joined != nil {
				had[last] = joined
				continue
			}
		}
		had = append(had, item)
	}
	if raw, err := marshal(had); err == nil {
		*to = raw
	}
}

// joinParts joins two pieces of one part of a streamed list: objects of the
// same type and index, whose texts follow each other. Nil: they are two parts.
func joinParts(a, b json.RawMessage) json.RawMessage {
	var left, right object
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil || left == nil || right == nil {
		return nil
	}
	if string(left["type"]) != string(right["type"]) || string(left["index"]) != string(right["index"]) || isPresent(left["signature"]) {
		return nil
	}
	for name, value := range right {
		head, isText := jsonString(left[name])
		tail, alsoText := jsonString(value)
		switch {
		case !isPresent(value):
		case isText && alsoText && anyOf(name, "text", "thinking", "summary", "data"):
			left[name], _ = marshal(head + tail)
		default:
			left[name] = value
		}
	}
	raw, err := marshal(left)
	if err != nil {
		return nil
	}
	return raw
}

package mcptools

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The fields of a tool that hold schemas. A connection of ours keeps the text of
// one that has long numbers in the tool's _meta, under these names behind
// ownMeta: the SDK reads numbers as floats, which lose digits.
const (
	inputField  = "inputSchema"
	outputField = "outputSchema"
	ownMeta     = "turnkeel."
)

// floatDigits is how many characters of a number a float keeps for certain.
const floatDigits = 15

// exactSchemas is a tool of a listing with the text of its schemas, where floats
// do not hold them.
func exactSchemas(raw json.RawMessage) json.RawMessage {
	var tool map[string]json.RawMessage
	if !longNumber(raw) && !bytes.Contains(raw, []byte(`"`+ownMeta)) || json.Unmarshal(raw, &tool) != nil {
		return raw
	}
	meta := map[string]json.RawMessage{}
	if json.Unmarshal(tool["_meta"], &meta) != nil || meta == nil {
		meta = map[string]json.RawMessage{}
	}
	for _, field := range []string{inputField, outputField} {
		delete(meta, ownMeta+field) // only we may write it
		text, has := tool[field]
		if !has || !longNumber(text) {
			continue
		}
		quoted, err := json.Marshal(string(text))
		if err != nil {
			return raw
		}
		meta[ownMeta+field] = quoted
		if json.Unmarshal(text, new(any)) != nil { // a number that no float holds
			tool[field] = json.RawMessage(`{"type":"object"}`)
		}
	}
	all, err := json.Marshal(meta)
	if err != nil {
		return raw
	}
	tool["_meta"] = all
	if out, err := json.Marshal(tool); err == nil {
		return out
	}
	return raw
}

// longNumber says that JSON has a number that a float may not keep.
func longNumber(data []byte) bool {
	quoted, length := false, 0
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted, length = !quoted, 0
		case quoted:
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
			if length++; length > floatDigits {
				return true
			}
		case (c == 'e' || c == 'E') && length > 0:
			return true
		default:
			length = 0
		}
	}
	return false
}

// schemaText is a schema of a tool as the server wrote it, as far as the SDK
// keeps it.
func schemaText(d *mcp.Tool, field string, read any) ([]byte, error) {
	if text, has := d.Meta[ownMeta+field].(string); has && json.Valid([]byte(text)) {
		return []byte(text), nil
	}
	return json.Marshal(read)
}

// withoutNulls is a schema without keywords that are null, as servers write them
// whose empty lists are null. A null that is a value stays.
func withoutNulls(raw []byte) []byte {
	if !bytes.Contains(raw, []byte("null")) {
		return raw
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var s any
	if d.Decode(&s) != nil {
		return raw
	}
	dropNulls(s)
	out, err := json.Marshal(s)
	if err != nil {
		return raw
	}
	return out
}

// dropNulls takes the null keywords out of a schema, or of a list of them.
func dropNulls(schema any) {
	if list, ok := schema.([]any); ok {
		for _, one := range list {
			dropNulls(one)
		}
		return
	}
	object, ok := schema.(map[string]any)
	if !ok {
		return
	}
	for keyword, value := range object {
		switch keyword {
		case "default", "const", "enum", "example", "examples":
			if keyword == "enum" && value == nil {
				delete(object, keyword)
			}
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			if value == nil {
				delete(object, keyword)
				continue
			}
			named, _ := value.(map[string]any)
			for name, one := range named {
				if one == nil {
					named[name] = map[string]any{}
				}
				dropNulls(one)
			}
		default:
			if value == nil {
				delete(object, keyword)
			}
			dropNulls(value)
		}
	}
}

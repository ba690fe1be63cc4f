package mcptools

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// shown is a tool as the model and people read it: a server may say its own
// secrets in what it says of a tool. Names and values that the schema allows
// stay, since calls depend on them.
func (c *Connection) shown(d *mcp.Tool) *mcp.Tool {
	if d == nil || c.mask.Empty() {
		return d
	}
	out := *d
	out.Title, out.Description = c.mask.Text(d.Title), c.mask.Text(d.Description)
	if d.Annotations != nil {
		annotations := *d.Annotations
		annotations.Title = c.mask.Text(annotations.Title)
		out.Annotations = &annotations
	}
	if schema, ok := d.InputSchema.(map[string]any); ok {
		out.InputSchema = c.shownSchema(schema)
	}
	return &out
}

// shownSchema is a schema whose descriptions, titles, examples and defaults hold
// no secret.
func (c *Connection) shownSchema(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range v {
			switch name {
			case "description", "title", "$comment", "examples", "default":
				out[name] = c.maskedValue(inner)
			default:
				out[name] = c.shownSchema(inner)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = c.shownSchema(inner)
		}
		return out
	}
	return v
}

// maskedValue is a JSON value without the secrets. One that has none stays as it is: its
// numbers keep every digit.
func (c *Connection) maskedValue(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return v
	}
	masked := c.mask.JSON(data)
	if string(masked) == string(data) {
		return v
	}
	return json.RawMessage(masked)
}

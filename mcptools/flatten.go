package mcptools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// structuredMeta is where a connection of ours keeps the text of a result's
// structured content: the SDK reads its numbers as floats, which lose digits.
const structuredMeta = "turnkeel.structured"

// Flatten makes one value of a result: its structured content if there is some,
// and else its text, blocks joined by line feeds. Images, audio and binary
// resources become a note with type and size, embedded text stays, and a link
// is named and never followed. An empty structured content beside text counts
// as none.
func Flatten(r *mcp.CallToolResult) any {
	text := textOf(r)
	structured, ok := structuredOf(r)
	if !ok || text != "" && isEmptyJSON(structured) {
		return text
	}
	return structured
}

// structuredOf is the structured content as JSON; ok is false for none or null.
func structuredOf(r *mcp.CallToolResult) (raw json.RawMessage, ok bool) {
	if text, has := r.Meta[structuredMeta].(string); has && json.Valid([]byte(text)) {
		return json.RawMessage(text), text != "null"
	}
	if r.StructuredContent == nil {
		return nil, false
	}
	raw, err := json.Marshal(r.StructuredContent)
	return raw, err == nil && string(raw) != "null"
}

func isEmptyJSON(raw json.RawMessage) bool {
	text := string(raw)
	return text == "{}" || text == "[]"
}

// errorText is what the model is told of a result that is an error: the text
// first, the structured data after it.
func errorText(r *mcp.CallToolResult) string {
	text := strings.TrimSpace(textOf(r))
	if structured, ok := structuredOf(r); ok && !isEmptyJSON(structured) && string(structured) != text {
		if text != "" {
			text += "\n"
		}
		text += string(structured)
	}
	if text == "" {
		return "the server reports an error and says nothing about it"
	}
	return text
}

func textOf(r *mcp.CallToolResult) string {
	var parts []string
	for _, block := range r.Content {
		if part := blockText(block); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n")
}

func blockText(block mcp.Content) string {
	switch c := block.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.ImageContent:
		return binaryNote("image", c.MIMEType, len(c.Data))
	case *mcp.AudioContent:
		return binaryNote("audio", c.MIMEType, len(c.Data))
	case *mcp.ResourceLink:
		return linkNote(c)
	case *mcp.EmbeddedResource:
		return resourceText(c.Resource)
	case nil:
		return ""
	default:
		return "[content of another kind, not shown]"
	}
}

func binaryNote(what, mime string, size int) string {
	if mime == "" {
		mime = "unknown type"
	}
	return fmt.Sprintf("[%s: %s, %d bytes, not shown]", what, mime, size)
}

func linkNote(c *mcp.ResourceLink) string {
	note := "[link, not fetched: " + c.URI
	for _, more := range []string{c.Name, c.MIMEType, c.Description} {
		if more != "" && more != c.URI {
			note += ", " + more
		}
	}
	return note + "]"
}

func resourceText(r *mcp.ResourceContents) string {
	switch {
	case r == nil:
		return ""
	case r.Text != "":
		return r.Text
	case len(r.Blob) > 0:
		return binaryNote("resource "+r.URI, r.MIMEType, len(r.Blob))
	default:
		return "[resource " + r.URI + ": empty]"
	}
}

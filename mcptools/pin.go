package mcptools

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Fingerprint names a definition: what the model reads of a tool (name,
// description, or a title where there is none, input schema). The order of keys
// in the schema makes no difference. 32 hex digits.
func Fingerprint(d *mcp.Tool) string {
	if d == nil {
		return ""
	}
	schema, err := schemaText(d, inputField, d.InputSchema)
	if err != nil {
		schema = []byte("unreadable: " + err.Error())
	}
	decoder := json.NewDecoder(bytes.NewReader(schema))
	decoder.UseNumber()
	var sorted any
	if decoder.Decode(&sorted) == nil {
		if again, err := json.Marshal(sorted); err == nil {
			schema = again
		}
	}
	text := d.Description
	if strings.TrimSpace(text) == "" {
		text = shownText(d)
	}
	parts, err := json.Marshal([]string{d.Name, text, string(schema)})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(parts)
	return hex.EncodeToString(sum[:16])
}

// pin is what a planned call relies on: the fingerprint, and the hints where
// they are trusted.
func (o Options) pin(d *mcp.Tool) string {
	pin := Fingerprint(d)
	if o.TrustHints && d != nil && d.Annotations != nil {
		pin += strconv.FormatBool(d.Annotations.ReadOnlyHint) + strconv.FormatBool(d.Annotations.IdempotentHint)
	}
	return pin
}

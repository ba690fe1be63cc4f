package mcptools

import (
	"bytes"
	"encoding/json"
	"slices"
)

// requiredOf are the properties that a schema requires at its top.
func requiredOf(raw []byte) []string {
	var s struct {
		Required []string `json:"required"`
	}
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return s.Required
}

// stripNulls leaves out arguments that are null and not required. Those inside
// of other values stay: there a null may be the value that is meant.
func stripNulls(args string, required []string) (string, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(args), &object); err != nil {
		return "", err
	}
	stripped := false
	for name, value := range object {
		if bytes.Equal(bytes.TrimSpace(value), []byte("null")) && !slices.Contains(required, name) {
			delete(object, name)
			stripped = true
		}
	}
	if !stripped {
		return args, nil
	}
	out, err := json.Marshal(object)
	return string(out), err
}

package contract

import "encoding/json"

// Value is any JSON value on its way through a payload: written from Of, read
// into JSON with every digit kept.
type Value struct {
	Of   any
	JSON string
}

// MarshalJSON writes Of, or JSON when Of is nil.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Of == nil && v.JSON != "" {
		return []byte(v.JSON), nil
	}
	return json.Marshal(v.Of)
}

// UnmarshalJSON keeps the text as it is.
func (v *Value) UnmarshalJSON(data []byte) error {
	v.JSON = string(data)
	return nil
}

// IsZero says that nothing is set.
func (v Value) IsZero() bool { return v.Of == nil && v.JSON == "" }

package policy

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// scalar is a JSON text, number, boolean or null, ready to be compared.
type scalar struct {
	kind   byte // 's', 'n', 'b', '0'; 0 is none of them
	text   string
	number decimal
	truth  bool
}

func scalarOf(v any) scalar {
	switch v := v.(type) {
	case string:
		return scalar{kind: 's', text: v}
	case bool:
		return scalar{kind: 'b', truth: v}
	case json.Number:
		if d, ok := parseDecimal(string(v)); ok {
			return scalar{kind: 'n', number: d}
		}
	case nil:
		return scalar{kind: '0'}
	}
	return scalar{}
}

// equal is false for what is no scalar, also with itself.
func (s scalar) equal(o scalar) bool {
	if s.kind != o.kind {
		return false
	}
	switch s.kind {
	case 's':
		return s.text == o.text
	case 'b':
		return s.truth == o.truth
	case 'n':
		return s.number.compare(o.number) == 0
	default:
		return s.kind == '0'
	}
}

// decode reads one JSON value with every digit kept.
func decode(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return v, nil
}

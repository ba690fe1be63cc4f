package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Parse reads one JSON value strictly: no trailing text, no duplicate keys at
// any depth, bounded. Numbers stay json.Number, so no digit is lost.
func Parse(raw []byte) (any, error) { return parse(raw, valueLimits()) }

func parse(raw []byte, lim limits) (any, error) {
	if len(raw) > lim.bytes {
		return nil, fmt.Errorf("is too large: %d bytes, at most %d are allowed", len(raw), lim.bytes)
	}
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, syntaxProblem(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	p := parser{dec: dec, left: lim.values, depth: lim.depth}
	return p.value(nil, 0)
}

func syntaxProblem(err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return errors.New("is not valid JSON")
	}
	if strings.Contains(syntax.Error(), "after top-level value") {
		return errors.New("has text after the end of the JSON value")
	}
	return fmt.Errorf("is not valid JSON: %s (at byte %d)", cut(syntax.Error(), 100), syntax.Offset)
}

// parser builds the tree of a document that is known to be valid JSON.
type parser struct {
	dec   *json.Decoder
	left  int
	depth int
}

func (p *parser) value(at *path, depth int) (any, error) {
	tok, err := p.dec.Token()
	if err != nil {
		return nil, errors.New("is not valid JSON")
	}
	if p.left--; p.left < 0 {
		return nil, errors.New("has too many values")
	}
	switch v := tok.(type) {
	case json.Delim:
		if depth >= p.depth {
			return nil, fmt.Errorf("is nested too deeply: at most %d levels are allowed", p.depth)
		}
		if v == '{' {
			return p.object(at, depth+1)
		}
		return p.array(at, depth+1)
	case json.Number:
		if err := checkNumber(v); err != nil {
			return nil, fmt.Errorf("has a number %w%s", err, at.suffix())
		}
		return v, nil
	default:
		return v, nil
	}
}

func (p *parser) object(at *path, depth int) (any, error) {
	out := make(map[string]any)
	for p.dec.More() {
		tok, err := p.dec.Token()
		if err != nil {
			return nil, errors.New("is not valid JSON")
		}
		key := tok.(string)
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("has the key %q twice%s", cut(key, 100), at.suffix())
		}
		if out[key], err = p.value(at.child(key), depth); err != nil {
			return nil, err
		}
	}
	_, err := p.dec.Token()
	return out, err
}

func (p *parser) array(at *path, depth int) (any, error) {
	out := []any{}
	for p.dec.More() {
		v, err := p.value(at.index(len(out)), depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := p.dec.Token()
	return out, err
}

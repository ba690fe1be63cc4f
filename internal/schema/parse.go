package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Parse reads one JSON value strictly: no trailing text, no duplicate keys at
// any depth, bounded. Numbers stay json.Number, so no digit is lost.
func Parse(raw []byte) (any, error) { return parse(raw, valueLimits()) }

func parse(raw []byte, lim limits) (any, error) {
	if len(raw) > lim.bytes {
		return nil, fmt.Errorf("is too large: %d bytes, at most %d are allowed", len(raw), lim.bytes)
	}
	if !json.Valid(raw) {
		var whole json.RawMessage
		return nil, syntaxProblem(json.Unmarshal(raw, &whole))
	}
	p := parser{text: raw, left: lim.values, depth: lim.depth}
	return p.value()
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

// parser builds the tree of a text that is known to be one valid JSON value,
// so it only looks for what JSON allows and we do not.
type parser struct {
	text  []byte
	at    int
	left  int
	depth int
	trail trail // to the value that is read
}

// next skips white space, commas and colons and gives the byte after them.
func (p *parser) next() byte {
	for {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
			p.at++
		default:
			return c
		}
	}
}

func (p *parser) value() (any, error) {
	if p.left--; p.left < 0 {
		return nil, errors.New("has too many values")
	}
	switch c := p.next(); c {
	case '{', '[':
		if len(p.trail) >= p.depth {
			return nil, fmt.Errorf("is nested too deeply: at most %d levels are allowed", p.depth)
		}
		p.at++
		if c == '{' {
			return p.object()
		}
		return p.array()
	case '"':
		return p.str()
	case 'n':
		p.at += len("null")
		return nil, nil
	case 't':
		p.at += len("true")
		return true, nil
	case 'f':
		p.at += len("false")
		return false, nil
	}
	n := p.number()
	if err := checkNumber(n); err != nil {
		return nil, fmt.Errorf("has a number %w%s", err, p.trail.suffix())
	}
	return n, nil
}

func (p *parser) number() json.Number {
	begin := p.at
	for p.at < len(p.text) && strings.IndexByte("+-.0123456789eE", p.text[p.at]) >= 0 {
		p.at++
	}
	return json.Number(p.text[begin:p.at])
}

// str reads a string; escapes and foreign bytes go through the standard
// decoder.
func (p *parser) str() (string, error) {
	begin, plain := p.at, true
	for p.at++; p.text[p.at] != '"'; p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\':
			plain = false
			p.at++
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	p.at++
	if plain {
		return string(p.text[begin+1 : p.at-1]), nil
	}
	if !unicodeText(p.text[begin:p.at]) {
		return "", errors.New("has a string that is not valid Unicode")
	}
	var s string
	err := json.Unmarshal(p.text[begin:p.at], &s)
	return s, err
}

// unicodeText says that a valid JSON string stands for Unicode text. The
// standard decoder puts U+FFFD in the place of stray bytes and of half a
// surrogate pair: another value than the one that was written.
func unicodeText(raw []byte) bool {
	if !utf8.Valid(raw) {
		return false
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if i++; raw[i] != 'u' {
			continue
		}
		r := hexRune(raw[i+1:])
		if i += 4; !utf16.IsSurrogate(r) {
			continue
		}
		if i+6 >= len(raw) || raw[i+1] != '\\' || raw[i+2] != 'u' || utf16.DecodeRune(r, hexRune(raw[i+3:])) == utf8.RuneError {
			return false
		}
		i += 6
	}
	return true
}

// hexRune reads the four digits of an escape.
func hexRune(digits []byte) rune {
	n, err := strconv.ParseUint(string(digits[:4]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

func (p *parser) object() (any, error) {
	out := make(map[string]any)
	for p.next() != '}' {
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("has the key %q twice%s", cut(key, 100), p.trail.suffix())
		}
		p.trail = append(p.trail, step{key: key})
		if out[key], err = p.value(); err != nil {
			return nil, err
		}
		p.trail = p.trail[:len(p.trail)-1]
	}
	p.at++
	return out, nil
}

func (p *parser) array() (any, error) {
	out := []any{}
	for p.next() != ']' {
		p.trail = append(p.trail, step{index: len(out), arr: true})
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		p.trail = p.trail[:len(p.trail)-1]
		out = append(out, v)
	}
	p.at++
	return out, nil
}

package tooldefs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/schema"
)

// record makes the recorded form of a handler's value and validates it. A
// string is Text, all else canonical JSON; nil is JSON null.
func (t *Tool) record(value any) (contract.ToolResult, error) {
	text, isText := stringOf(value)
	var data []byte
	var err error
	if isText {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if !isText || t.output != nil {
		if data, err = marshal(value); err != nil {
			return contract.ToolResult{}, &ResultError{Tool: t.set.name, Problem: unmarshallable(err), Err: err}
		}
	}
	if t.output != nil {
		if problems := t.output.Validate(data); len(problems) > 0 {
			lines := make([]string, len(problems))
			for i, p := range problems {
				lines[i] = p.String()
			}
			return contract.ToolResult{}, &ResultError{Tool: t.set.name, Problem: strings.Join(lines, "; ")}
		}
	}
	if isText {
		return contract.ToolResult{Text: text, Digest: digest([]byte(text))}, nil
	}
	return contract.ToolResult{JSON: data, Digest: digest(data)}, nil
}

// stringOf gives the text of a value that is a string and does not marshal
// itself into something else.
func stringOf(v any) (string, bool) {
	if v == nil {
		return "", false
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.String || writesItself(r.Type()) || r.Type() == reflect.TypeFor[json.Number]() {
		return "", false
	}
	return r.String(), true
}

// marshal gives canonical JSON, or valid compact JSON where strictness would
// lose a value that a tool only passes on. A panic is an error.
func marshal(v any) (data []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			data, err = nil, &PanicError{Tool: "result", Value: panicText(r)}
		}
	}()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	data = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if canonical, err := schema.Canonical(data); err == nil {
		return canonical, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}

// unmarshallable words an error of marshal for the model, without Go's types.
func unmarshallable(err error) string {
	if e, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
		if e.Value.Kind() == reflect.Float64 || e.Value.Kind() == reflect.Float32 {
			return "it holds " + e.Str + ", which JSON does not have"
		}
		return "it contains itself"
	}
	if _, ok := errors.AsType[*json.UnsupportedTypeError](err); ok {
		return "it holds something that JSON does not have, such as a function"
	}
	if isPanic(err) {
		return "it cannot be written as JSON: internal error"
	}
	if e, ok := errors.AsType[*json.MarshalerError](err); ok {
		err = e.Unwrap()
	}
	return "it cannot be written as JSON: " + clip(err.Error(), 400)
}

// invalidResult is the problem of an error of record.
func invalidResult(err error) string {
	if e, ok := errors.AsType[*ResultError](err); ok {
		return e.Problem
	}
	return err.Error()
}

// digest names a recorded value.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:16]
}

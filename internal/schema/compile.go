package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/xeipuuv/gojsonschema"
)

// Schema is a compiled schema. It does not change and is safe for concurrent
// use.
type Schema struct {
	json      string
	shape     *shape
	validator *gojsonschema.Schema
}

// Compile reads a schema that may come from anywhere. The warnings name what
// it accepts without enforcing (unknown keywords and formats, defaults that
// do not fit their own schema); the error is the reason why the schema cannot
// be used. Drafts 4 to 2020-12 are understood as far as draft 7 can express
// them. Nil and empty stand for a schema that admits everything.
func Compile(raw []byte) (s *Schema, warnings []string, err error) {
	return compile(raw, false)
}

// CompileInput is [Compile] for the arguments of a tool: the schema must
// describe one object, and says so in the form shown to the model. Nil, empty
// and null stand for an object without properties of its own.
func CompileInput(raw []byte) (s *Schema, warnings []string, err error) {
	return compile(raw, true)
}

func compile(raw []byte, input bool) (s *Schema, warnings []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, warnings, err = nil, nil, errors.New("the schema cannot be compiled")
		}
	}()
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	root, err := parse(raw, schemaLimits())
	if err != nil {
		return nil, nil, fmt.Errorf("the schema %w", err)
	}
	if input {
		if root, err = asInput(root); err != nil {
			return nil, nil, err
		}
	}
	if m, ok := root.(map[string]any); ok {
		delete(m, "$schema") // we say what it means, not the label
	}
	shown, err := write(root)
	if err != nil {
		return nil, nil, err
	}
	t := &translator{root: root, targets: map[string]*target{}}
	top, doc, err := t.run()
	if err != nil {
		return nil, nil, err
	}
	loader := gojsonschema.NewSchemaLoader()
	loader.Draft, loader.AutoDetect = gojsonschema.Draft7, false
	validator, err := loader.Compile(gojsonschema.NewRawLoader(clone(doc)))
	if err != nil {
		return nil, nil, errors.New("the schema is not valid: " + cut(err.Error(), maxProblemBytes))
	}
	s = &Schema{json: string(shown), shape: top, validator: validator}
	s.checkDefaults(t)
	return s, t.warnings, nil
}

// asInput makes the root say that it is an object.
func asInput(root any) (any, error) {
	if root == nil || root == any(true) {
		root = map[string]any{}
	}
	m, ok := root.(map[string]any)
	if !ok {
		return nil, errors.New("the schema must be an object")
	}
	if _, has := m["type"]; !has {
		m["type"] = "object"
	}
	if list, isList := m["type"].([]any); isList {
		for _, t := range list {
			if t == any("object") {
				m["type"] = "object"
			}
		}
	}
	if m["type"] != any("object") {
		return nil, errors.New("the schema must describe an object")
	}
	if _, has := m["properties"]; !has {
		m["properties"] = map[string]any{}
	}
	return m, nil
}

// checkDefaults warns of top-level defaults that their own schema refuses:
// every call without that property would fail.
func (s *Schema) checkDefaults(t *translator) {
	value := map[string]any{}
	for _, c := range s.shape.certain {
		for k, p := range c.props {
			if p.hasDef {
				value[k] = clone(p.def)
			}
		}
	}
	if len(value) == 0 {
		return
	}
	has := func(path string) bool {
		top, _, _ := strings.Cut(path, ".")
		_, ok := value[top]
		return ok
	}
	for _, p := range s.check(value) {
		if has(p.Path) {
			t.warn("the default of %s", p)
		}
	}
}

// JSON is the schema as a model is shown it, canonical: sorted keys, no white
// space, without the $schema label.
func (s *Schema) JSON() string { return s.json }

// Properties are the names of the top-level properties, in no order.
func (s *Schema) Properties() []string {
	var out []string
	for _, c := range s.shape.certain {
		for k := range c.props {
			out = append(out, k)
		}
	}
	return out
}

// check validates a tree behind the budget and a recover.
func (s *Schema) check(v any) (problems []Problem) {
	defer func() {
		if r := recover(); r != nil {
			problems = []Problem{{Reason: "cannot be checked against the schema"}}
		}
	}()
	m := meter{left: budget}
	if !m.visit(s.shape, v, 0) {
		return []Problem{{Reason: "is too complex to check against the schema"}}
	}
	res, err := s.validator.Validate(gojsonschema.NewRawLoader(v))
	if err != nil {
		return []Problem{{Reason: "cannot be checked against the schema"}}
	}
	if res.Valid() {
		return nil
	}
	return translateErrors(res.Errors())
}

// Validate checks one JSON value, as it is: nothing is normalised. A value
// that is not strict JSON is a problem.
func (s *Schema) Validate(data []byte) []Problem {
	v, err := parse(data, valueLimits())
	if err != nil {
		return []Problem{{Reason: err.Error()}}
	}
	return s.check(v)
}

var _ json.Marshaler = (*Schema)(nil)

// MarshalJSON gives the form shown to the model.
func (s *Schema) MarshalJSON() ([]byte, error) { return []byte(s.json), nil }

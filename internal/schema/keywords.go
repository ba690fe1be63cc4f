package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/xeipuuv/gojsonschema"
)

// keyword translates one keyword of a schema object.
func (n *node) keyword(k string, v any) error {
	switch k {
	case "title", "description", "examples", "example", "$comment", "readOnly", "writeOnly", "deprecated",
		"contentEncoding", "contentMediaType", "contentSchema", "$schema", "$vocabulary",
		"$anchor", "$dynamicAnchor", "$recursiveAnchor":
		return nil
	case "default":
		n.shape.def, n.shape.hasDef = v, true
		return nil
	case "$id", "id":
		n.t.nestedID = n.t.nestedID || n.at != nil
		return nil
	case "$ref":
		return n.reference(v)
	case "$dynamicRef", "$recursiveRef":
		return fmt.Errorf("%s is not supported", k)
	case "type", "enum", "const", "pattern", "format", "required", "uniqueItems":
		return n.assertion(k, v)
	case "multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum":
		return n.number(k, v)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return n.count(k, v)
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else":
		return n.combination(k, v)
	case "$defs", "definitions":
		_, _, err := n.table(k, v)
		return err
	case "properties", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties",
		"dependencies", "dependentRequired", "dependentSchemas":
		return n.object(k, v)
	case "items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "unevaluatedItems":
		return n.array(k, v)
	}
	if !strings.HasPrefix(k, "x-") {
		n.t.warn("the unknown keyword %q is ignored%s", k, n.at.suffix())
	}
	return nil
}

func (n *node) assertion(k string, v any) error {
	switch k {
	case "type":
		return n.typeKeyword(v)
	case "enum":
		options, ok := v.([]any)
		if !ok || len(options) == 0 {
			return errors.New("enum must be a list that is not empty")
		}
		return n.oneOfValues(k, options)
	case "const":
		return n.oneOfValues(k, []any{v})
	case "pattern":
		text, ok := v.(string)
		if !ok {
			return errors.New("pattern must be a string")
		}
		_, insts, err := compilePattern(text)
		n.doc[k], n.shape.patternInsts = text, insts
		return err
	case "format":
		text, ok := v.(string)
		if !ok {
			return errors.New("format must be a string")
		}
		if !gojsonschema.FormatCheckers.Has(text) {
			n.t.warn("the format %q is not checked%s", text, n.at.suffix())
			return nil
		}
		n.doc[k], n.shape.regex = text, text == "regex"
	case "required":
		names, ok := stringsOf(v)
		if !ok {
			return errors.New("required must be a list of strings")
		}
		slices.Sort(names)
		n.shape.required = slices.Compact(names)
		n.doc[k] = anys(n.shape.required)
	case "uniqueItems":
		b, ok := v.(bool)
		if !ok {
			return errors.New("uniqueItems must be a boolean")
		}
		n.doc[k], n.shape.unique = b, b
	}
	return nil
}

func (n *node) typeKeyword(v any) error {
	types, ok := stringsOf(v)
	if one, single := v.(string); single {
		types, ok = []string{one}, true
	}
	if !ok || len(types) == 0 {
		return errors.New("type must be a string or a list of strings")
	}
	known := []string{"array", "boolean", "integer", "null", "number", "object", "string"}
	for _, t := range types {
		if !slices.Contains(known, t) {
			return fmt.Errorf("the type %q is unknown", cut(t, 50))
		}
	}
	slices.Sort(types)
	n.shape.types = slices.Compact(types)
	n.doc["type"] = anys(n.shape.types)
	return nil
}

// oneOfValues handles enum and const. The validator compares numbers as
// floats, so integers it would confuse become exact bounds.
func (n *node) oneOfValues(k string, options []any) error {
	var unique, bounds []any
	seen := map[string]bool{}
	inexact := false
	for _, o := range options {
		text, err := write(o)
		if err != nil {
			return err
		}
		if seen[string(text)] {
			continue
		}
		seen[string(text)] = true
		n.shape.optionBytes += len(text)
		unique = append(unique, o)
		num, isNumber := o.(json.Number)
		inexact = inexact || isNumber && !exactAsFloat(num)
		if isNumber {
			bounds = append(bounds, map[string]any{"type": "number", "minimum": num, "maximum": num})
		} else {
			bounds = append(bounds, map[string]any{"enum": []any{o}})
		}
	}
	if n.shape.closed = true; n.shape.options == nil {
		n.shape.options = unique
	}
	switch {
	case inexact:
		n.also = append(n.also, map[string]any{"anyOf": bounds})
	case k == "const":
		n.doc[k] = options[0]
	default:
		n.doc[k] = unique
	}
	return nil
}

func (n *node) number(k string, v any) error {
	if _, flag := v.(bool); flag && strings.HasPrefix(k, "exclusive") {
		n.doc[k] = v
		return nil
	}
	if _, ok := v.(json.Number); !ok {
		return fmt.Errorf("%s must be a number", k)
	}
	n.doc[k] = v
	return nil
}

func (n *node) count(k string, v any) error {
	num, ok := integer(v)
	if !ok {
		return fmt.Errorf("%s must be a small non-negative integer", k)
	}
	n.doc[k] = num
	return nil
}

func (n *node) combination(k string, v any) error {
	switch k {
	case "allOf", "anyOf", "oneOf":
		shapes, docs, err := n.list(k, v)
		if err != nil {
			return err
		}
		n.doc[k] = docs
		if k == "allOf" {
			n.shape.all = append(n.shape.all, shapes...)
		} else {
			n.shape.groups = append(n.shape.groups, shapes)
		}
	default:
		s, doc, err := n.sub(k, v)
		if err != nil {
			return err
		}
		n.doc[k] = doc
		n.shape.maybe = append(n.shape.maybe, s)
	}
	return nil
}

// compilePattern compiles a pattern with bounds; ECMA lookarounds and
// back-references have no form in Go's syntax and are refused.
func compilePattern(text string) (*regexp.Regexp, int, error) {
	if len(text) > maxPatternLength {
		return nil, 0, errors.New("a pattern is too long")
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, 0, fmt.Errorf("the pattern %q is not supported (RE2 syntax, no lookaround)", cut(text, 100))
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(prog.Inst) > maxPatternInsts {
		return nil, 0, fmt.Errorf("the pattern %q is too complex", cut(text, 100))
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, 0, fmt.Errorf("the pattern %q is not supported", cut(text, 100))
	}
	return re, len(prog.Inst), nil
}

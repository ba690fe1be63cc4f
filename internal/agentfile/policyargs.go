package agentfile

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/policy"
)

// args reads the conditions on a call's arguments, by their JSON Pointers.
func (r *reader) args(n ast.Node, what string) []contract.ArgCondition {
	var conditions []contract.ArgCondition
	r.entries(n, what, func(pointer string, keyAt place, value ast.Node) {
		if err := policy.CheckPointer(pointer); err != nil {
			r.report(keyAt, "%s: %v, found %s", what, err, quote(pointer))
		}
		c := r.condition(value, what+"."+bound(pointer, 80))
		c.Pointer = pointer
		conditions = append(conditions, c)
	})
	if emptyMapping(n) {
		r.report(at(n), "%s is empty; give a condition, like /amount: {gt: 500}, or remove it", what)
	}
	return conditions
}

func (r *reader) condition(n ast.Node, what string) contract.ArgCondition {
	var c contract.ArgCondition
	number := func(name string, to *json.Number) field {
		return field{name, func(n ast.Node) { *to = r.exactNumber(n, what+"."+name) }}
	}
	seen := r.mapping(n, what, []field{
		{"equals", func(n ast.Node) { c.Equals = r.scalar(n, what+".equals") }},
		{"one_of", func(n ast.Node) {
			c.OneOf = []json.RawMessage{}
			for i, item := range r.filled(n, what+".one_of", "a list of values") {
				c.OneOf = append(c.OneOf, r.scalar(item, fmt.Sprintf("%s.one_of[%d]", what, i)))
			}
		}},
		{"contains", func(n ast.Node) { c.Contains = r.scalar(n, what+".contains") }},
		{"regex", func(n ast.Node) { c.Regex = r.regex(n, what+".regex") }},
		number("gt", &c.GT), number("gte", &c.GTE), number("lt", &c.LT), number("lte", &c.LTE),
		{"absent", func(n ast.Node) {
			v, ok := n.(*ast.BoolNode)
			if !ok {
				r.wrongType(n, what+".absent", "true or false")
				return
			}
			c.Absent = new(v.Value)
		}},
	})
	switch {
	case seen["absent"] && c.Absent != nil && *c.Absent && len(seen) > 1:
		r.report(at(n), "%s: a value that is absent meets no other condition; keep one", what)
	case emptyMapping(n):
		r.report(at(n), "%s is empty; give a condition, like {gt: 500} or {one_of: [EUR, USD]}", what)
	}
	return c
}

func (r *reader) regex(n ast.Node, what string) string {
	text, ok := r.text(n, what)
	if !ok {
		return ""
	}
	if err := policy.CheckRegex(text); err != nil {
		r.report(at(n), "%s: %v, found %s", what, err, quote(text))
	}
	return text
}

// scalar reads a value to compare with, as JSON.
func (r *reader) scalar(n ast.Node, what string) json.RawMessage {
	var text string
	switch v := n.(type) {
	case *ast.BoolNode:
		return json.RawMessage(strconv.FormatBool(v.Value))
	case *ast.StringNode:
		if numeric(v) {
			return r.numberText(n, what)
		}
		text = v.Value
	case *ast.LiteralNode:
		text = v.Value.Value
	case *ast.IntegerNode, *ast.FloatNode:
		return r.numberText(n, what)
	default:
		r.report(at(n), "%s: want a text, a number or a boolean, found %s", what, kindOf(n))
		return nil
	}
	data, err := json.Marshal(text)
	if err != nil { // a text always can be written
		r.report(at(n), "%s: %v", what, err)
	}
	return data
}

func (r *reader) numberText(n ast.Node, what string) json.RawMessage {
	if number := r.exactNumber(n, what); number != "" {
		return json.RawMessage(number)
	}
	return nil
}

// numeric says that a plain scalar, which the YAML reader takes for text
// because no float64 or uint64 holds it, is a number to others.
func numeric(v *ast.StringNode) bool {
	if v.GetToken().Type != token.StringType || !strings.ContainsAny(v.Value[:min(1, len(v.Value))], "+-.0123456789") {
		return false
	}
	return number.MatchString(v.Value)
}

// exactNumber reads a number as it is written, with every digit.
func (r *reader) exactNumber(n ast.Node, what string) json.Number {
	switch v := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
	case *ast.StringNode:
		if !numeric(v) {
			r.wrongType(n, what, "a number")
			return ""
		}
	default:
		r.wrongType(n, what, "a number")
		return ""
	}
	number := json.Number(n.GetToken().Value)
	if err := policy.CheckNumber(number); err != nil {
		r.report(at(n), "%s: %v, found %s", what, err, bound(string(number), 40))
		return ""
	}
	return number
}

var number = regexp.MustCompile(`^[-+]?([.][0-9]+|[0-9]+([.][0-9]*)?)([eE][-+]?[0-9]+)?$`)

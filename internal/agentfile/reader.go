package agentfile

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/turnkeel/turnkeel/internal/policy"
)

// reader walks one file's syntax tree and gathers what is wrong with it. It
// walks the tree rather than decode it, because a decoder stops at the first
// problem and forgets where values stood.
type reader struct {
	file     string
	problems Errors
}

func (r *reader) report(at place, format string, args ...any) {
	r.problems = append(r.problems, problem(r.file, at, format, args...))
}

// field is one key a mapping may have.
type field struct {
	name string
	read func(n ast.Node)
}

// parse gives the document's one mapping, or nil after a report.
func (r *reader) parse(data []byte) (root ast.Node) {
	defer func() {
		if v := recover(); v != nil { // a fault of the parser must not end the worker without a place
			r.report(place{}, "cannot be parsed as YAML (%v)", v)
			root = nil
		}
	}()
	data, ok := r.plainText(data)
	if !ok {
		return nil
	}
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		at, text := place{}, err.Error()
		if syntax, ok := err.(yaml.Error); ok {
			at, text = placeOf(syntax.GetToken()), syntax.GetMessage()
		}
		r.report(at, "not valid YAML: %s", bound(strings.ReplaceAll(text, "'\t'", "a tab; indent with spaces:"), 300))
		return nil
	}
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case doc.Body.Type() == ast.DirectiveType:
			r.report(at(doc.Body), "a %%-directive, which this file may not have; remove it")
			return nil
		case root != nil:
			r.report(at(doc.Body), "a second document; one file is one agent")
			return root
		default:
			root = doc.Body
		}
	}
	if root == nil {
		r.report(place{1, 1}, "is empty; it needs at least: model: <provider>/<model>")
	}
	return root
}

// mapping reads a mapping with exactly these keys and says which were there.
func (r *reader) mapping(n ast.Node, what string, fields []field) map[string]bool {
	seen := map[string]bool{}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	r.entries(n, what, func(key string, keyAt place, value ast.Node) {
		seen[key] = true
		for _, f := range fields {
			if f.name == key {
				f.read(value)
				return
			}
		}
		inside := ""
		if what != "" {
			inside = " in " + what
		}
		if near := nearest(key, names); near != "" {
			seen[near] = true // not reported as missing on top
		}
		r.report(keyAt, "unknown key %s%s%s", quote(key), inside, didYouMean(key, names))
	})
	return seen
}

// entries calls f for every key of a mapping, in order, with a value that is
// not null; a key that stands twice is reported and read once. A null asks for
// nothing, which only a later feature's key may.
func (r *reader) entries(n ast.Node, what string, f func(key string, keyAt place, value ast.Node)) {
	var pairs []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{m}
	default:
		r.wrongType(n, what, "a mapping of keys to values")
		return
	}
	first := map[string]place{}
	for _, pair := range pairs {
		keyAt := at(pair.Key)
		key, ok := pair.Key.(*ast.StringNode)
		if !ok {
			r.report(keyAt, "a key must be plain text, found %s", kindOf(pair.Key))
			continue
		}
		if before, twice := first[key.Value]; twice {
			r.report(keyAt, "key %s stands a second time; the first is in line %d", quote(key.Value), before.line)
			continue
		}
		first[key.Value] = keyAt
		if isNull(pair.Value) {
			if what == "" && slices.Contains(laterKeys(), key.Value) {
				continue
			}
			r.report(keyAt, "%s has no value; give one or remove the key", key.Value)
			continue
		}
		f(key.Value, keyAt, pair.Value)
	}
}

func (r *reader) wrongType(n ast.Node, what, want string) {
	if what == "" {
		what = "the file"
	}
	hint := ""
	switch v := n.(type) {
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		if want == "text" {
			hint = "; quote it if text was meant"
		}
	case *ast.StringNode:
		hint = meantOtherwise(v, want)
	}
	r.report(at(n), "%s: want %s, found %s%s", what, want, kindOf(n), hint)
}

// meantOtherwise says what a text looks like, where it is none of the words that
// YAML knows.
func meantOtherwise(v *ast.StringNode, want string) string {
	switch word := strings.ToLower(v.Value); {
	case want != "true or false":
		if policy.CheckNumber(json.Number(v.Value)) == nil && v.GetToken().Type != token.StringType {
			return "; write it without quotes"
		}
	case word == "yes", word == "on", word == "y":
		return "; did you mean true?"
	case word == "no", word == "off", word == "n":
		return "; did you mean false?"
	case word == "true", word == "false":
		return "; write it without quotes"
	}
	return ""
}

// text reads a string.
func (r *reader) text(n ast.Node, what string) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	}
	r.wrongType(n, what, "text")
	return "", false
}

// count reads a whole number of at least 1.
func (r *reader) count(n ast.Node, what string) int {
	const most = 1 << 31
	var f float64 // holds every whole number below most
	switch v := n.(type) {
	case *ast.IntegerNode:
		if r.ambiguous(n, what) {
			return 0
		}
		if i, ok := v.Value.(uint64); ok && i < most {
			f = float64(i)
		}
	case *ast.FloatNode:
		f = v.Value
	case *ast.StringNode:
		if !numeric(v) {
			r.wrongType(n, what, "a whole number")
			return 0
		}
		f = exponent(v)
	default:
		r.wrongType(n, what, "a whole number")
		return 0
	}
	if f < 1 || f >= most || f != math.Trunc(f) {
		r.report(at(n), "%s: want a whole number from 1 to %d, found %s", what, most-1, bound(n.String(), 40))
		return 0
	}
	return int(f)
}

// exponent is the value of a number like 1e3, which the YAML reader takes for
// text; infinite when no float64 holds it.
func exponent(v *ast.StringNode) float64 {
	f, err := strconv.ParseFloat(v.Value, 64)
	if err != nil {
		return math.Inf(1)
	}
	return f
}

// ambiguous reports a number that is another one, or text, to other readers of
// YAML: 017 is fifteen to the old ones and seventeen to an editor.
func (r *reader) ambiguous(n ast.Node, what string) bool {
	text := strings.TrimLeft(n.GetToken().Value, "+-")
	old := len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9'
	if !old && !strings.Contains(text, "_") && !strings.HasPrefix(text, "0b") {
		return false
	}
	r.report(at(n), "%s: %s is not the same number to every reader of YAML; write it in plain digits", what, quote(n.GetToken().Value))
	return true
}

// number reads a number between lo and hi, both included.
func (r *reader) number(n ast.Node, what string, lo, hi float64) (float64, bool) {
	var f float64
	switch v := n.(type) {
	case *ast.FloatNode:
		f = v.Value
	case *ast.StringNode:
		if !numeric(v) {
			r.wrongType(n, what, "a number")
			return 0, false
		}
		f = exponent(v)
	case *ast.IntegerNode:
		if r.ambiguous(n, what) {
			return 0, false
		}
		switch i := v.Value.(type) {
		case uint64:
			f = float64(i)
		case int64:
			f = float64(i)
		}
	case *ast.InfinityNode, *ast.NanNode:
		f = math.NaN() // in no range
	default:
		r.wrongType(n, what, "a number")
		return 0, false
	}
	if !(f >= lo && f <= hi) {
		r.report(at(n), "%s: want a number from %g to %g, found %s", what, lo, hi, bound(n.String(), 40))
		return 0, false
	}
	return f, true
}

// duration reads a positive duration like 30m.
func (r *reader) duration(n ast.Node, what string) time.Duration {
	const want = "a duration like 90s, 30m or 24h"
	text, ok := n.(*ast.StringNode)
	if !ok {
		if number, isNumber := n.(*ast.IntegerNode); isNumber {
			r.report(at(n), "%s: want %s, found %s without a unit", what, want, bound(number.String(), 40))
			return 0
		}
		r.wrongType(n, what, want)
		return 0
	}
	d, err := time.ParseDuration(text.Value)
	if err != nil || d <= 0 {
		r.report(at(n), "%s: want %s, found %s", what, want, quote(text.Value))
		return 0
	}
	return d
}

// oneOf reads one of a few words.
func (r *reader) oneOf(n ast.Node, what string, words ...string) string {
	text, ok := r.text(n, what)
	if !ok {
		return ""
	}
	for _, w := range words {
		if text == w {
			return text
		}
	}
	r.report(at(n), "%s: unknown value %s%s", what, quote(text), didYouMean(text, words))
	return ""
}

// list gives the items of a sequence.
func (r *reader) list(n ast.Node, what, want string) []ast.Node {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		r.wrongType(n, what, want)
		return nil
	}
	return seq.Values
}

func at(n ast.Node) place {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return at(m.Values[0].Key) // its own token is the first colon
	}
	return placeOf(n.GetToken())
}

func placeOf(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{}
	}
	return place{t.Position.Line, t.Position.Column}
}

func isNull(n ast.Node) bool {
	if n == nil {
		return true
	}
	_, null := n.(*ast.NullNode)
	return null
}

func kindOf(n ast.Node) string {
	switch v := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.BoolNode:
		return fmt.Sprintf("the boolean %t", v.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.NullNode:
		return "nothing"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor or alias, which this file may not have"
	case *ast.TagNode:
		return "a tag, which this file may not have"
	}
	return "something else"
}

package agentfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
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

	addressed bool // endpoint.base_url is given, be it wrong
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
	tokens := lexer.Tokenize(string(data))
	if !r.parsable(tokens) {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
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
	seen := keysOf(n)
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	r.entries(n, what, func(key string, keyAt place, value ast.Node) {
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

// keysOf are the keys of a mapping, those without a value included.
func keysOf(n ast.Node) map[string]bool {
	keys := map[string]bool{}
	if m, ok := n.(*ast.MappingNode); ok {
		for _, pair := range m.Values {
			if key, ok := pair.Key.(*ast.StringNode); ok {
				keys[key.Value] = true
			}
		}
	}
	return keys
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
			r.report(keyAt, "%s has no value; give one or remove the key", strings.TrimPrefix(what+"."+bound(key.Value, 80), "."))
			continue
		}
		f(key.Value, keyAt, pair.Value)
	}
}

func (r *reader) wrongType(n ast.Node, what, want string) {
	if what == "" {
		what = "the file"
	}
	hint, kind := "", kindOf(n)
	switch v, isText := n.(*ast.StringNode); {
	case want == "text" && (kind == aNumber || isBool(n)):
		hint = "; quote it if text was meant"
	case isText:
		hint = meantOtherwise(v, want)
	}
	r.report(at(n), "%s: want %s, found %s%s", what, want, kind, hint)
}

// meantOtherwise says what a text looks like, where it is none of the words that
// YAML knows.
func meantOtherwise(v *ast.StringNode, want string) string {
	switch word := strings.ToLower(v.Value); {
	case want != "true or false":
		if policy.CheckNumber(json.Number(v.Value)) == nil && v.GetToken().Type != token.StringType && strings.Contains(want, "number") {
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
	text, ok := textOf(n)
	if !ok {
		r.wrongType(n, what, "text")
	}
	return text, ok
}

// textOf is the text of a node that is one, however it is written.
func textOf(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, !numeric(v)
	case *ast.LiteralNode:
		return v.Value.Value, true
	}
	return "", false
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

// aNumber is how [kindOf] calls a number.
const aNumber = "a number"

func isBool(n ast.Node) bool {
	_, ok := n.(*ast.BoolNode)
	return ok
}

func kindOf(n ast.Node) string {
	switch v := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode:
		if numeric(v) {
			return aNumber
		}
		return "text"
	case *ast.LiteralNode:
		return "text"
	case *ast.BoolNode:
		return fmt.Sprintf("the boolean %t", v.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return aNumber
	case *ast.MappingKeyNode:
		return "one that begins with ?, which this file may not have"
	case *ast.NullNode:
		return "nothing"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor or alias, which this file may not have"
	case *ast.TagNode:
		return "a tag, which this file may not have"
	}
	return "something else"
}

package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// translator turns a foreign schema into shapes and a draft-7 document that
// holds only what the validator underneath understands and survives.
type translator struct {
	root     any
	nodes    int
	shapes   []*shape
	targets  map[string]*target
	pending  []*target
	hasRef   bool
	nestedID bool
	warnings []string
}

// target is a schema that a $ref points to. All of them are moved to one flat
// list of definitions, wherever they stood.
type target struct {
	name  string
	raw   any
	shape *shape
	doc   any
	depth int
}

// node is one schema object under translation.
type node struct {
	t     *translator
	raw   map[string]any
	shape *shape
	doc   map[string]any
	also  []any // members of an additional allOf
	at    *path
	depth int
}

func (t *translator) warn(format string, args ...any) {
	w := cut(fmt.Sprintf(format, args...), maxProblemBytes)
	if len(t.warnings) < maxProblems && !slices.Contains(t.warnings, w) {
		t.warnings = append(t.warnings, w)
	}
}

// run translates the whole document.
func (t *translator) run() (*shape, any, error) {
	top, doc, err := t.schema(t.root, nil, 0)
	if err != nil {
		return nil, nil, err
	}
	for len(t.pending) > 0 {
		next := t.pending[0]
		t.pending = t.pending[1:]
		if next.doc, err = t.fill(next.shape, next.raw, (*path)(nil).child(next.name), next.depth); err != nil {
			return nil, nil, err
		}
	}
	if t.hasRef && t.nestedID {
		return nil, nil, errors.New("a nested $id together with $ref is not supported")
	}
	if err := checkInPlace(t.shapes); err != nil {
		return nil, nil, err
	}
	for _, s := range t.shapes {
		s.close()
	}
	if len(t.targets) == 0 {
		return top, doc, nil
	}
	defs := make(map[string]any, len(t.targets))
	for _, d := range t.targets {
		defs[d.name] = d.doc
	}
	return top, map[string]any{"allOf": []any{doc}, "definitions": defs}, nil
}

func (t *translator) schema(raw any, at *path, depth int) (*shape, any, error) {
	s := &shape{}
	doc, err := t.fill(s, raw, at, depth)
	return s, doc, err
}

// fill translates raw into s.
func (t *translator) fill(s *shape, raw any, at *path, depth int) (any, error) {
	if t.nodes++; t.nodes > maxSchemaNodes {
		return nil, errors.New("the schema is too large")
	}
	if depth > maxSchemaDepth {
		return nil, errors.New("the schema is nested too deeply")
	}
	t.shapes = append(t.shapes, s)
	if b, ok := raw.(bool); ok {
		return b, nil
	}
	m, ok := raw.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a schema must be an object or a boolean%s", at.suffix())
	}
	n := &node{t: t, raw: m, shape: s, doc: map[string]any{}, at: at, depth: depth}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if err := n.keyword(k, m[k]); err != nil {
			return nil, fmt.Errorf("%w%s", err, at.suffix())
		}
	}
	return n.finish()
}

// finish puts together what depends on more than one keyword.
func (n *node) finish() (any, error) {
	for _, k := range []string{"minimum", "maximum"} {
		exclusive := "exclusiveM" + k[1:]
		if b, ok := n.doc[exclusive].(bool); ok { // draft 4
			delete(n.doc, exclusive)
			if limit, has := n.doc[k]; b && has {
				n.doc[exclusive] = limit
				delete(n.doc, k)
			}
		}
	}
	if _, has := n.doc["if"]; has && n.doc["then"] == nil && n.doc["else"] == nil {
		delete(n.doc, "if")
	}
	if n.doc["if"] == nil {
		delete(n.doc, "then")
		delete(n.doc, "else")
	}
	if len(n.also) == 1 && len(n.doc) == 0 {
		return n.also[0], nil
	}
	if len(n.also) > 0 {
		all, _ := n.doc["allOf"].([]any)
		n.doc["allOf"] = append(all, n.also...)
	}
	return n.doc, nil
}

// sub translates a schema under a keyword.
func (n *node) sub(k string, v any) (*shape, any, error) {
	return n.t.schema(v, n.at.child(k), n.depth+1)
}

// list translates an array of schemas.
func (n *node) list(k string, v any) ([]*shape, []any, error) {
	raw, ok := v.([]any)
	if !ok || len(raw) == 0 {
		return nil, nil, fmt.Errorf("%s must be a list of schemas", k)
	}
	shapes, docs := make([]*shape, len(raw)), make([]any, len(raw))
	for i, e := range raw {
		var err error
		if shapes[i], docs[i], err = n.t.schema(e, n.at.child(k).index(i), n.depth+1); err != nil {
			return nil, nil, err
		}
	}
	return shapes, docs, nil
}

// table translates an object of schemas.
func (n *node) table(k string, v any) (map[string]*shape, map[string]any, error) {
	raw, ok := v.(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("%s must be an object of schemas", k)
	}
	shapes, docs := make(map[string]*shape, len(raw)), make(map[string]any, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		var err error
		if shapes[name], docs[name], err = n.t.schema(raw[name], n.at.child(k).child(name), n.depth+1); err != nil {
			return nil, nil, err
		}
	}
	return shapes, docs, nil
}

// integer reads a keyword's non-negative integer, in whatever form.
func integer(v any) (json.Number, bool) {
	num, ok := v.(json.Number)
	if !ok {
		return "", false
	}
	num, ok = integral(num)
	if !ok {
		return "", false
	}
	i, err := strconv.ParseInt(string(num), 10, 32)
	return num, err == nil && i >= 0
}

func stringsOf(v any) ([]string, bool) {
	raw, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]string, len(raw))
	for i, e := range raw {
		if out[i], ok = e.(string); !ok {
			return nil, false
		}
	}
	return out, true
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

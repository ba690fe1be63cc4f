package schema

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// shape is the part of a schema object that normalising and measuring need.
// Shapes form a graph: a legitimate recursion goes through an instance level
// (properties, items), never through the in-place edges.
type shape struct {
	types    []string // nil: any
	required []string
	props    map[string]*shape
	folded   map[string]string // case-folded property name to the real one
	patterns []namePattern
	extra    *shape // additionalProperties
	names    *shape // propertyNames

	tuple []*shape
	items *shape // all items, or those beyond the tuple

	contains *shape

	depends []dependency

	all    []*shape   // in place and certain: $ref, allOf
	groups [][]*shape // in place, one of each applies: anyOf, oneOf
	maybe  []*shape   // in place and possible: not, if, then, else, dependencies

	def     any
	hasDef  bool
	options []any // enum, or the one value of const
	closed  bool  // options is set

	optionBytes  int // what comparing with the options costs
	patternInsts int
	unique       bool
	regex        bool // format regex

	null bool // admitsNull, computed once

	// The closures over the in-place edges, self included in certain.
	certain, possible []*shape
}

// dependency says which names an object with a name must have too.
type dependency struct {
	name  string
	needs []string
}

type namePattern struct {
	re    *regexp.Regexp
	insts int
	shape *shape
}

// inPlace are the shapes that apply to the same value.
func (s *shape) inPlace() []*shape {
	out := slices.Concat(s.all, s.maybe)
	for _, g := range s.groups {
		out = append(out, g...)
	}
	return out
}

// child gives the shapes of a member.
func (s *shape) child(key string, to []*shape) []*shape {
	n := len(to)
	if p := s.props[key]; p != nil {
		to = append(to, p)
	}
	for _, p := range s.patterns {
		if p.re.MatchString(key) {
			to = append(to, p.shape)
		}
	}
	if len(to) == n && s.extra != nil {
		to = append(to, s.extra)
	}
	return to
}

// element gives the shape of an array element; nil is any.
func (s *shape) element(i int) *shape {
	if i < len(s.tuple) {
		return s.tuple[i]
	}
	return s.items
}

// next appends the shapes of what a step leads to.
func (s *shape) next(step step, to []*shape) []*shape {
	if !step.arr {
		return s.child(step.key, to)
	}
	if c := s.element(step.index); c != nil {
		return append(to, c)
	}
	return to
}

// admitsNull says whether null could satisfy the shape.
func (s *shape) admitsNull() bool {
	if s.types != nil && !slices.Contains(s.types, "null") {
		return false
	}
	if s.closed && !slices.Contains(s.options, any(nil)) {
		return false
	}
	for _, a := range s.all {
		if !a.admitsNull() {
			return false
		}
	}
	for _, g := range s.groups {
		if !slices.ContainsFunc(g, (*shape).admitsNull) {
			return false
		}
	}
	return true
}

// admits says whether a value of that JSON type gets past the type keyword.
func (s *shape) admits(v any) bool {
	if s.types == nil {
		return true
	}
	kind := kindOf(v)
	return slices.Contains(s.types, kind) || kind == "number" && slices.Contains(s.types, "integer")
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		return "object"
	}
}

// close computes what depends on the in-place edges: the graph is complete.
func (s *shape) close() {
	s.null = s.admitsNull()
	seen := map[*shape]bool{}
	var certain, possible func(*shape)
	possible = func(c *shape) {
		if seen[c] {
			return
		}
		seen[c] = true
		s.possible = append(s.possible, c)
		for _, n := range c.inPlace() {
			possible(n)
		}
	}
	certain = func(c *shape) {
		if seen[c] {
			return
		}
		seen[c] = true
		s.certain = append(s.certain, c)
		for _, n := range c.all {
			certain(n)
		}
	}
	certain(s)
	for _, c := range s.certain {
		for _, n := range c.inPlace() {
			possible(n)
		}
	}
}

// foldKey maps names that encoding/json would match to one text.
func foldKey(s string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII {
			return unicode.ToLower(r)
		}
		low := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			low = min(low, next)
		}
		return unicode.ToLower(low)
	}, s)
}

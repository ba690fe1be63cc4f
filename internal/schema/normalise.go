package schema

import (
	"encoding/json"
	"slices"
)

// fixer brings a value into the form its schema asks for without changing
// what it says, and collects what it cannot mend.
type fixer struct {
	problems []Problem
	left     int // visits of a schema by a value; see budget
	room     int // bytes that defaults may still add; see maxDefaultBytes
	trail    trail
}

// spend charges visits and reports whether the budget holds.
func (f *fixer) spend(n int) bool {
	f.left -= n
	return f.left >= 0
}

// shapesOf expands shapes by what applies in place.
func shapesOf(of []*shape, certainly bool) (certain, possible []*shape) {
	if len(of) == 1 && certainly {
		return of[0].certain, of[0].possible
	}
	for _, s := range of {
		if certainly {
			certain = append(certain, s.certain...)
		} else {
			possible = append(possible, s.certain...)
		}
		possible = append(possible, s.possible...)
	}
	return certain, possible
}

func (f *fixer) value(v any, certain, possible []*shape) any {
	possible = admitting(possible, v)
	switch v := v.(type) {
	case json.Number:
		if wantsInteger(certain, possible) {
			if n, ok := integral(v); ok {
				return n
			}
		}
	case []any:
		for i, e := range v {
			v[i] = f.child(e, certain, possible, step{index: i, arr: true})
		}
	case map[string]any:
		f.object(v, certain, possible)
	}
	return v
}

// child goes one level down, along the schemas of that step.
func (f *fixer) child(v any, certain, possible []*shape, to step) any {
	if !f.spend(1 + len(certain) + len(possible)) {
		return v
	}
	var buf, more [4]*shape
	below, maybe := buf[:0], more[:0]
	for _, s := range certain {
		below = s.next(to, below)
	}
	for _, s := range possible {
		maybe = s.next(to, maybe)
	}
	if len(below) == 0 && len(maybe) == 0 {
		return v
	}
	c, p := shapesOf(below, true)
	if len(maybe) > 0 {
		_, q := shapesOf(maybe, false)
		p = slices.Concat(p, q)
	}
	f.trail = append(f.trail, to)
	v = f.value(v, c, p)
	f.trail = f.trail[:len(f.trail)-1]
	return v
}

// admitting leaves out alternatives that the type of the value rules out.
func admitting(shapes []*shape, v any) []*shape {
	rulesOut := func(s *shape) bool { return !s.admits(v) }
	if !slices.ContainsFunc(shapes, rulesOut) {
		return shapes
	}
	return slices.DeleteFunc(slices.Clone(shapes), rulesOut)
}

func wantsInteger(certain, possible []*shape) bool {
	wants := false
	for _, list := range [][]*shape{certain, possible} {
		for _, s := range list {
			if slices.Contains(s.types, "number") {
				return false
			}
			wants = wants || slices.Contains(s.types, "integer")
		}
	}
	return wants
}

func (f *fixer) object(m map[string]any, certain, possible []*shape) {
	if !f.spend(len(m) * (len(certain) + len(possible))) {
		return
	}
	for k, v := range m {
		f.checkCase(k, certain, possible)
		if v == nil && droppable(k, certain, possible) {
			delete(m, k)
		}
	}
	for _, s := range certain {
		for k, p := range s.props {
			if _, has := m[k]; has || !p.hasDef {
				continue
			}
			if f.room -= len(k) + weigh(p.def, f.room/64+1); f.room < 0 {
				f.left = -1
				return
			}
			m[k] = clone(p.def)
		}
	}
	for k, v := range m {
		m[k] = f.child(v, certain, possible, step{key: k})
	}
}

// checkCase refuses a key that a case-insensitive decoder would take for a
// property that the validator did not see under that name.
func (f *fixer) checkCase(k string, certain, possible []*shape) {
	real := ""
	for _, list := range [][]*shape{certain, possible} {
		for _, s := range list {
			if _, declared := s.props[k]; declared {
				return
			}
			if len(s.folded) > 0 {
				if name, ok := s.folded[foldKey(k)]; ok {
					real = name
				}
			}
		}
	}
	if real != "" {
		f.problems = append(f.problems, Problem{append(f.trail, step{key: k}).String(), "differs only in case from the property " + real})
	}
}

// droppable says that a null means the same as leaving the property out: it
// is declared, not required, and does not admit null.
func droppable(k string, certain, possible []*shape) bool {
	declared := false
	for _, list := range [][]*shape{certain, possible} {
		for _, s := range list {
			if _, must := slices.BinarySearch(s.required, k); must {
				return false
			}
			if p := s.props[k]; p != nil {
				if p.null {
					return false
				}
				declared = true
			}
		}
	}
	return declared
}

func clone(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = clone(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = clone(e)
		}
		return out
	default:
		return v
	}
}

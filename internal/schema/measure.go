package schema

import "encoding/json"

// meter counts what a validation would cost, before it is begun.
type meter struct{ left int }

// visit follows the validator's own walk and reports whether the budget held.
// at is the length of the path to v, which every finding there repeats.
func (m *meter) visit(s *shape, v any, at int) bool {
	if s == nil {
		return true
	}
	m.left -= 1 + at/64
	if !s.admits(v) {
		return m.left >= 0
	}
	if s.closed || s.unique {
		m.left -= s.optionBytes/64 + weigh(v, m.left)/64
	}
	if text, ok := v.(string); ok {
		m.left -= len(text) * s.patternInsts / 4096
		if s.regex { // the text itself is compiled
			m.left -= len(text)
		}
	}
	if m.left < 0 {
		return false
	}
	for _, list := range [][]*shape{s.all, s.maybe} {
		for _, c := range list {
			if !m.visit(c, v, at) {
				return false
			}
		}
	}
	for _, g := range s.groups {
		for _, c := range g {
			if !m.visit(c, v, at) {
				return false
			}
		}
	}
	switch v := v.(type) {
	case []any:
		return m.array(s, v, at)
	case map[string]any:
		return m.object(s, v, at)
	}
	return true
}

func (m *meter) array(s *shape, v []any, at int) bool {
	for i, e := range v {
		if !m.visit(s.element(i), e, at+5) || !m.visit(s.contains, e, at+5) {
			return false
		}
	}
	return true
}

func (m *meter) object(s *shape, v map[string]any, at int) bool {
	// The validator asks for every property and every dependency, whatever the
	// object holds, and words a finding for each that is missing.
	m.left -= len(v)*(len(s.props)+at)/64 + len(s.props)/16
	if !m.names(s.required, v, at) {
		return false
	}
	for _, d := range s.depends {
		if _, has := v[d.name]; has && !m.names(d.needs, v, at) {
			return false
		}
	}
	var buf [4]*shape
	for k, e := range v {
		for _, p := range s.patterns { // compiled again for every key
			m.left -= 1 + p.insts/4 + len(k)*p.insts/4096
		}
		if m.left < 0 || s.names != nil && !m.visit(s.names, k, at+len(k)) {
			return false
		}
		for _, c := range s.child(k, buf[:0]) {
			if !m.visit(c, e, at+len(k)) {
				return false
			}
		}
	}
	return true
}

// names charges for names that an object is asked for.
func (m *meter) names(names []string, v map[string]any, at int) bool {
	m.left -= len(names) / 16
	for _, name := range names {
		if _, has := v[name]; has {
			continue
		}
		if m.left -= findingCost + (at+len(name))/64; m.left < 0 {
			return false
		}
	}
	return m.left >= 0
}

// weigh is the rough size of a value in bytes, counted up to a bound.
func weigh(v any, left int) int {
	sum := 8
	switch v := v.(type) {
	case string:
		sum += len(v)
	case json.Number:
		sum += len(v)
	case []any:
		for _, e := range v {
			if sum += weigh(e, left); sum > left*64 {
				break
			}
		}
	case map[string]any:
		for k, e := range v {
			if sum += len(k) + weigh(e, left); sum > left*64 {
				break
			}
		}
	}
	return sum
}

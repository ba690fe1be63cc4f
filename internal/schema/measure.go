package schema

import "encoding/json"

// meter counts what a validation would cost, before it is begun.
type meter struct{ left int }

// visit follows the validator's own walk and reports whether the budget held.
func (m *meter) visit(s *shape, v any) bool {
	if s == nil {
		return true
	}
	m.left--
	if !s.admits(v) {
		return m.left >= 0
	}
	if s.closed || s.unique {
		m.left -= s.optionBytes/64 + weigh(v, m.left)/64
	}
	if text, ok := v.(string); ok && s.patternInsts > 0 {
		m.left -= len(text) * s.patternInsts / 4096
	}
	if m.left < 0 {
		return false
	}
	for _, list := range [][]*shape{s.all, s.maybe} {
		for _, c := range list {
			if !m.visit(c, v) {
				return false
			}
		}
	}
	for _, g := range s.groups {
		for _, c := range g {
			if !m.visit(c, v) {
				return false
			}
		}
	}
	switch v := v.(type) {
	case []any:
		return m.array(s, v)
	case map[string]any:
		return m.object(s, v)
	}
	return true
}

func (m *meter) array(s *shape, v []any) bool {
	for i, e := range v {
		if !m.visit(s.element(i), e) || !m.visit(s.contains, e) {
			return false
		}
	}
	return true
}

func (m *meter) object(s *shape, v map[string]any) bool {
	m.left -= len(v) * len(s.props) / 64
	var buf [4]*shape
	for k, e := range v {
		for _, p := range s.patterns { // compiled again for every key
			m.left -= 1 + p.insts/4 + len(k)*p.insts/4096
		}
		if m.left < 0 || s.names != nil && !m.visit(s.names, k) {
			return false
		}
		for _, c := range s.child(k, buf[:0]) {
			if !m.visit(c, e) {
				return false
			}
		}
	}
	return true
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

package schema

import "strings"

// Accept reads a model's arguments: exactly one JSON object. It returns the
// canonical text of what was validated, or the problems.
//
// Empty, blank and null arguments are {}. One level of double encoding is
// undone if that gives an object that validates. A null for an optional
// property that does not admit null is dropped, defaults are filled in, and
// integral numbers get their integer form where the schema wants an integer.
// All other text of numbers is kept digit by digit.
func (s *Schema) Accept(raw string) (canonical string, problems []Problem) {
	canonical, _, problems = s.AcceptValue(raw)
	return canonical, problems
}

// AcceptValue is [Schema.Accept] and gives the accepted object too, as [Parse]
// would read it from the canonical text.
func (s *Schema) AcceptValue(raw string) (canonical string, value map[string]any, problems []Problem) {
	defer func() {
		if r := recover(); r != nil {
			canonical, value, problems = "", nil, []Problem{{Reason: "the arguments cannot be checked"}}
		}
	}()
	if strings.TrimSpace(raw) == "" {
		raw = "{}"
	}
	v, err := parse([]byte(raw), argsLimits())
	if err != nil {
		return "", nil, []Problem{{Reason: cut("the text "+err.Error(), maxProblemBytes)}}
	}
	switch v := v.(type) {
	case nil:
		return s.accept(map[string]any{})
	case map[string]any:
		return s.accept(v)
	case string:
		if inner, err := parse([]byte(v), argsLimits()); err == nil {
			if m, ok := inner.(map[string]any); ok {
				if text, value, problems := s.accept(m); len(problems) == 0 {
					return text, value, nil
				}
			}
		}
	}
	return "", nil, []Problem{{Reason: "the arguments must be one JSON object, not " + article(kindOf(v))}}
}

func (s *Schema) accept(m map[string]any) (string, map[string]any, []Problem) {
	meter := meter{left: budget}
	if !meter.visit(s.shape, m, 0) {
		return "", nil, []Problem{{Reason: "the arguments are too complex to check against the schema"}}
	}
	f := fixer{left: 4 * budget, room: maxDefaultBytes}
	f.value(m, s.shape.certain, s.shape.possible)
	if !f.spend(0) {
		return "", nil, []Problem{{Reason: "the arguments are too complex to check against the schema"}}
	}
	if len(f.problems) > 0 {
		return "", nil, tidy(f.problems)
	}
	if problems := s.check(m); len(problems) > 0 {
		return "", nil, problems
	}
	text, err := write(m)
	if err != nil {
		return "", nil, []Problem{{Reason: "the arguments cannot be written as JSON"}}
	}
	return string(text), m, nil
}

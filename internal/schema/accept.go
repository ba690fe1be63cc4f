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
	defer func() {
		if r := recover(); r != nil {
			canonical, problems = "", []Problem{{Reason: "the arguments cannot be checked"}}
		}
	}()
	if strings.TrimSpace(raw) == "" {
		raw = "{}"
	}
	v, err := parse([]byte(raw), argsLimits())
	if err != nil {
		return "", []Problem{{Reason: cut("the text "+err.Error(), maxProblemBytes)}}
	}
	switch v := v.(type) {
	case nil:
		return s.accept(map[string]any{})
	case map[string]any:
		return s.accept(v)
	case string:
		if inner, err := parse([]byte(v), argsLimits()); err == nil {
			if m, ok := inner.(map[string]any); ok {
				if text, problems := s.accept(m); len(problems) == 0 {
					return text, nil
				}
			}
		}
	}
	return "", []Problem{{Reason: "the arguments must be one JSON object, not " + article(kindOf(v))}}
}

func (s *Schema) accept(m map[string]any) (string, []Problem) {
	meter := meter{left: budget}
	if !meter.visit(s.shape, m) {
		return "", []Problem{{Reason: "the arguments are too complex to check against the schema"}}
	}
	f := fixer{left: 4 * budget}
	f.value(m, s.shape.certain, s.shape.possible, nil)
	if !f.spend(0) {
		return "", []Problem{{Reason: "the arguments are too complex to check against the schema"}}
	}
	if len(f.problems) > 0 {
		return "", tidy(f.problems)
	}
	if problems := s.check(m); len(problems) > 0 {
		return "", problems
	}
	text, err := write(m)
	if err != nil {
		return "", []Problem{{Reason: "the arguments cannot be written as JSON"}}
	}
	return string(text), nil
}

package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
)

// condition is one [contract.ArgCondition], ready to be held against a value.
type condition struct {
	tokens []string
	absent *bool
	tests  []test // all of them must hold
}

// test holds one operator against a value that is there; spent is what that
// cost, in steps of the regex machine.
type test func(v any) (holds bool, spent int)

func newCondition(a contract.ArgCondition) (condition, error) {
	if err := CheckPointer(a.Pointer); err != nil {
		return condition{}, err
	}
	c := condition{tokens: parsePointer(a.Pointer), absent: a.Absent}
	var problems []error
	add := func(name string, t test, err error) {
		problems = append(problems, in(name, err))
		c.tests = append(c.tests, t)
	}
	if a.Equals != nil {
		t, err := oneOf(a.Equals)
		add("equals", t, err)
	}
	if a.OneOf != nil {
		t, err := oneOf(a.OneOf...)
		add("one_of", t, err)
	}
	if a.Contains != nil {
		t, err := contains(a.Contains)
		add("contains", t, err)
	}
	if a.Regex != "" {
		t, err := matches(a.Regex)
		add("regex", t, err)
	}
	for _, op := range comparisons(a) {
		if op.with == "" {
			continue
		}
		t, err := compared(op.with, op.holds)
		add(op.name, t, err)
	}
	switch {
	case len(c.tests) == 0 && a.Absent == nil:
		problems = append(problems, errors.New("the condition is empty"))
	case len(c.tests) > 0 && a.Absent != nil && *a.Absent:
		problems = append(problems, errors.New("a value that is absent meets no other condition"))
	}
	return c, errors.Join(problems...)
}

type comparison struct {
	name  string
	with  json.Number
	holds func(order int) bool
}

func comparisons(a contract.ArgCondition) []comparison {
	return []comparison{
		{"gt", a.GT, func(o int) bool { return o > 0 }},
		{"gte", a.GTE, func(o int) bool { return o >= 0 }},
		{"lt", a.LT, func(o int) bool { return o < 0 }},
		{"lte", a.LTE, func(o int) bool { return o <= 0 }},
	}
}

// met holds the condition against the arguments.
func (c condition) met(args any, budget *int) bool {
	v, found := lookup(args, c.tokens)
	if c.absent != nil && *c.absent == found {
		return false
	}
	if !found {
		return len(c.tests) == 0
	}
	for _, t := range c.tests {
		holds, spent := t(v)
		if *budget -= spent; !holds || *budget < 0 {
			return false
		}
	}
	return true
}

func operand(text json.RawMessage) (scalar, error) {
	if err := CheckScalar(text); err != nil {
		return scalar{}, err
	}
	v, err := decode(string(text))
	return scalarOf(v), err
}

func oneOf(texts ...json.RawMessage) (test, error) {
	if len(texts) == 0 {
		return nil, errors.New("is empty")
	}
	wanted := make([]scalar, len(texts))
	for i, text := range texts {
		var err error
		if wanted[i], err = operand(text); err != nil {
			return nil, err
		}
	}
	return func(v any) (bool, int) {
		s := scalarOf(v)
		for _, w := range wanted {
			if s.equal(w) {
				return true, 0
			}
		}
		return false, 0
	}, nil
}

func contains(text json.RawMessage) (test, error) {
	want, err := operand(text)
	if err != nil {
		return nil, err
	}
	return func(v any) (bool, int) {
		if list, ok := v.([]any); ok {
			for _, item := range list {
				if scalarOf(item).equal(want) {
					return true, 0
				}
			}
			return false, 0
		}
		s, ok := v.(string)
		return ok && want.kind == 's' && strings.Contains(s, want.text), 0
	}, nil
}

func matches(pattern string) (test, error) {
	if len(pattern) > MaxRegex {
		return nil, fmt.Errorf("at most %d characters", MaxRegex)
	}
	re, insts, err := compileRegex(pattern)
	if err != nil {
		return nil, err
	}
	return func(v any) (bool, int) {
		s, ok := v.(string)
		if !ok {
			return false, 0
		}
		cost := insts * (len(s) + 1)
		if cost > maxWork { // it would not fit the budget alone
			return false, cost
		}
		return re.MatchString(s), cost
	}, nil
}

func compared(with json.Number, holds func(order int) bool) (test, error) {
	if err := CheckNumber(with); err != nil {
		return nil, err
	}
	d, _ := parseDecimal(string(with))
	return func(v any) (bool, int) {
		s := scalarOf(v)
		return s.kind == 'n' && holds(s.number.compare(d)), 0
	}, nil
}

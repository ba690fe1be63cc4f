package tooldefs

import (
	"errors"
	"fmt"
	"time"
)

// approvalPredicate makes one predicate over canonical arguments of what a
// spec's Approval holds; nil is never.
func approvalPredicate[In any](approval any, decode func(args string) (In, error)) (func(args string) (bool, error), error) {
	switch ask := approval.(type) {
	case nil:
		return nil, nil
	case func(string) bool:
		if ask != nil {
			return func(args string) (bool, error) { return ask(args), nil }, nil
		}
	case func(In) bool:
		if ask != nil {
			return func(args string) (bool, error) {
				in, err := decode(args)
				if err != nil {
					return true, err
				}
				return ask(in), nil
			}, nil
		}
	default:
		var in In
		return nil, fmt.Errorf("the Approval is %T; want Always, Never or a func(%T) bool", approval, in)
	}
	return nil, errors.New("the Approval is a nil function")
}

// ApprovalNeeded asks the tool's Approval about canonical arguments; reason
// says why, for the person. A predicate that panics or gives no answer means
// that approval is needed; err is then what went wrong, for the log.
func (t *Tool) ApprovalNeeded(canonical string) (needed bool, reason string, err error) {
	if t.approval == nil {
		return false, "", nil
	}
	needed, err = ask(&t.stuck, func() (bool, error) { return t.approval(canonical) })
	switch {
	case err != nil:
		return true, "the tool's own rule on approval failed", fmt.Errorf("approval of tool %s: %w", t.set.name, err)
	case needed:
		return true, "the tool asks for approval", nil
	}
	return false, "", nil
}

// HasApproval says that the tool's definition has a rule on approval.
func (t *Tool) HasApproval() bool { return t.approval != nil }

// ApprovalTimeout is how long a call waits for a person; 0 leaves it to the
// agent.
func (t *Tool) ApprovalTimeout() time.Duration { return t.set.approvalTimeout }

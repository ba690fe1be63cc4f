package tooldefs

import (
	"errors"
	"fmt"

	"github.com/turnkeel/turnkeel/contract"
)

// Checked is what the argument gates made of a model's text.
type Checked struct {
	// Canonical is the one text that is validated, shown, hashed and handed to
	// the handler. Empty when there is a problem.
	Canonical string

	// Problem is the text for the model; empty when the arguments are good.
	Problem string
}

// Check passes a model's raw arguments through the gates: strict parse,
// normalisation, validation, and whether they fit the handler's input type.
// It never panics and never runs the handler.
func (t *Tool) Check(raw string) Checked {
	if t.transform != nil {
		mapped, err := t.mapped(raw)
		if err != nil {
			return Checked{Problem: contract.TextArguments(t.set.name, err.Error())}
		}
		raw = mapped
	}
	canonical, value, problems := t.input.AcceptValue(raw)
	if len(problems) > 0 {
		return Checked{Problem: textInvalidArguments(t.set.name, problems)}
	}
	if err := t.tryFit(canonical, value); err != nil {
		return Checked{Problem: contract.TextArguments(t.set.name, err.Error())}
	}
	return Checked{Canonical: canonical}
}

// mapped applies TransformArgs to strictly parsed arguments.
func (t *Tool) mapped(raw string) (string, error) {
	object, problems := t.loose.Accept(raw)
	if len(problems) > 0 {
		return "", errors.New(problems[0].String())
	}
	return ask(&t.stuck, func() (string, error) { return t.transform(object) })
}

// tryFit decodes the arguments, as the handler's start will.
func (t *Tool) tryFit(canonical string, value any) error {
	if !t.decodesItself { // nothing of the author's runs
		return t.fits(canonical, value)
	}
	_, err := ask(&t.stuck, func() (any, error) { return nil, t.fits(canonical, value) })
	return err
}

// ParallelSafe asks the tool's predicate about raw arguments. A panic in it
// means no, and so does silence.
func (t *Tool) ParallelSafe(raw string) bool {
	if t.set.parallelSafe == nil {
		return false
	}
	safe, err := ask(&t.stuck, func() (bool, error) { return t.set.parallelSafe(raw), nil })
	return safe && err == nil
}

// OverrideKey is the key material of the tool's IdempotencyKey for canonical
// arguments. ok is false when the tool has none or answers "", and the key is
// derived. An error (a panic among them) fails the call closed.
func (t *Tool) OverrideKey(canonical string) (key string, ok bool, err error) {
	if t.key == nil {
		return "", false, nil
	}
	if key, err = ask(&t.stuck, func() (string, error) { return t.key(canonical) }); err != nil {
		return "", false, fmt.Errorf("idempotency key of tool %s: %w", t.set.name, err)
	}
	return key, key != "", nil
}

// maxSummary bounds a summary, in bytes: the SDK refuses more than 200.
const maxSummary = 200

// Summary is one line about a call for people: the tool's own, or its name
// and arguments. At most 200 bytes of valid UTF-8, never empty.
func (t *Tool) Summary(canonical string) string {
	own := ""
	if t.summary != nil {
		own, _ = ask(&t.stuck, func() (string, error) { return t.summary(canonical), nil })
	}
	if own = clip(own, maxSummary); own != "" {
		return own
	}
	return clip(t.set.name+" "+contract.BoundText(canonical, 2*maxSummary), maxSummary)
}

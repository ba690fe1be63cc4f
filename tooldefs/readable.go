package tooldefs

import "errors"

// maxErrorParts bounds how many errors one error may be made of.
const maxErrorParts = 1_000

var errUnreadable = errors.New("the error it ended with cannot be read")

// readable is err, or an error in its place when err cannot be read: a nil
// pointer in the clothes of an error, one that wraps itself, or one whose
// methods panic. What happened is open then. It runs where the handler ran, so
// that methods which do not return are cut with it.
func (t *Tool) readable(err error) error {
	if err == nil {
		return nil
	}
	if guard(func() error {
		if !finite(err) {
			return errUnreadable
		}
		t.judge(err)
		return nil
	}) != nil {
		return Unknown(errUnreadable)
	}
	return err
}

// finite says that an error is made of a bounded number of errors.
func finite(err error) bool {
	left := maxErrorParts
	var walk func(error) bool
	walk = func(err error) bool {
		if left--; left < 0 {
			return false
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			inner := e.Unwrap()
			return inner == nil || walk(inner)
		case interface{ Unwrap() []error }:
			for _, part := range e.Unwrap() {
				if part != nil && !walk(part) {
					return false
				}
			}
		}
		return true
	}
	return walk(err)
}

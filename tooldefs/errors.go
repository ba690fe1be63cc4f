package tooldefs

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// TransientError asks for another attempt; see [Transient].
type TransientError struct {
	Err   error
	After time.Duration // the wait before it; zero leaves it to the runtime
}

// Transient marks an error after which another attempt may work; after is the
// wait before it, zero leaves it to the runtime. It holds for Keyed and
// SafeToRetry tools while attempts are left; otherwise it is a plain failure.
// Nil stays nil.
func Transient(err error, after time.Duration) error {
	if err == nil {
		return nil
	}
	return &TransientError{Err: err, After: after}
}

func (e *TransientError) Error() string { return e.Err.Error() }

// Unwrap gives the marked error.
func (e *TransientError) Unwrap() error { return e.Err }

// UnknownError leaves open whether the effect happened; see [Unknown].
type UnknownError struct{ Err error }

// Unknown marks an error that leaves open whether the effect happened, such
// as a connection that broke after the request was sent. Nil stays nil.
func Unknown(err error) error {
	if err == nil {
		return nil
	}
	return &UnknownError{Err: err}
}

func (e *UnknownError) Error() string { return e.Err.Error() }

// Unwrap gives the marked error.
func (e *UnknownError) Unwrap() error { return e.Err }

// NotExecutedError says that nothing happened; see [NotExecuted].
type NotExecutedError struct{ Err error }

// NotExecuted marks an error of which the handler is certain that nothing
// happened. The call may be scheduled again, in any class. Nil stays nil.
func NotExecuted(err error) error {
	if err == nil {
		return nil
	}
	return &NotExecutedError{Err: err}
}

func (e *NotExecutedError) Error() string { return e.Err.Error() }

// Unwrap gives the marked error.
func (e *NotExecutedError) Unwrap() error { return e.Err }

// PublicError has other words for the model than for the log; see [Public].
type PublicError struct {
	Text string
	Err  error
}

// Public gives the model text, and the log err. A nil err makes text the
// error. Marks may stand inside and around it.
func Public(text string, err error) error {
	if err == nil {
		err = errors.New(text)
	}
	return &PublicError{Text: text, Err: err}
}

func (e *PublicError) Error() string { return e.Err.Error() }

// Unwrap gives the error for the log.
func (e *PublicError) Unwrap() error { return e.Err }

// ToolTimeoutError is a call that ran out of its tool's Timeout.
type ToolTimeoutError struct {
	Tool  string
	After time.Duration
}

func (e *ToolTimeoutError) Error() string {
	return fmt.Sprintf("tool %s timed out after %s", e.Tool, e.After)
}

// Timeout is true; see net.Error.
func (e *ToolTimeoutError) Timeout() bool { return true }

// PanicError is a handler that panicked. Its text is not for the model; the
// stack went to the log.
type PanicError struct {
	Tool  string
	Value string
}

func (e *PanicError) Error() string { return fmt.Sprintf("tool %s panicked: %s", e.Tool, e.Value) }

// ResultError is a handler that ran and whose result cannot be used: it
// cannot be marshalled, or violates the Output schema.
type ResultError struct {
	Tool    string
	Problem string // in words for the model
	Err     error  // for the log, if there is more to say; may be nil
}

func (e *ResultError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("tool %s ran, but its result is not valid: %s (%v)", e.Tool, e.Problem, e.Err)
	}
	return fmt.Sprintf("tool %s ran, but its result is not valid: %s", e.Tool, e.Problem)
}

// ArgumentsError is a call whose arguments were refused before the handler.
type ArgumentsError struct {
	Tool    string
	Problem string // the text for the model, or one line of it
}

func (e *ArgumentsError) Error() string {
	if strings.HasPrefix(e.Problem, "error: ") {
		return strings.TrimPrefix(e.Problem, "error: ")
	}
	return fmt.Sprintf("tool %s: invalid arguments: %s", e.Tool, e.Problem)
}

// UnknownToolError is a call of a name that is no tool of the set.
type UnknownToolError struct {
	Name  string
	Valid []string
}

func (e *UnknownToolError) Error() string {
	return fmt.Sprintf("unknown tool %q; valid tools: %s", clip(e.Name, 100), strings.Join(e.Valid, ", "))
}

// CallError is the error of a tool that was called directly, with [Set.Call].
// What it says of that tool it does not say of a handler that made the call
// and passes the error on: see [Tool.Judge].
type CallError struct {
	Tool string
	Err  error
}

func (e *CallError) Error() string { return e.Err.Error() }

// Unwrap gives the called tool's error.
func (e *CallError) Unwrap() error { return e.Err }

// own finds an error of type E that is the handler's own word, not that of a
// tool which the handler called.
func own[E error](err error) (found E, ok bool) {
	switch e := err.(type) {
	case nil:
		return found, false
	case *CallError:
		return found, false
	case E:
		return e, true
	case interface{ Unwrap() error }:
		return own[E](e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if found, ok := own[E](part); ok {
				return found, true
			}
		}
	}
	return found, false
}

// IsTransient reports a [Transient] mark and its wait.
func IsTransient(err error) (after time.Duration, ok bool) {
	if e, ok := errors.AsType[*TransientError](err); ok {
		return e.After, true
	}
	return 0, false
}

// IsUnknown reports an [Unknown] mark.
func IsUnknown(err error) bool {
	_, ok := errors.AsType[*UnknownError](err)
	return ok
}

// IsNotExecuted reports a [NotExecuted] mark.
func IsNotExecuted(err error) bool {
	_, ok := errors.AsType[*NotExecutedError](err)
	return ok
}

// PublicText is the outermost [Public] text of an error.
func PublicText(err error) (text string, ok bool) {
	if e, ok := errors.AsType[*PublicError](err); ok {
		return e.Text, true
	}
	return "", false
}

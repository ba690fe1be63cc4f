package tooldefs

import (
	"context"
	"errors"
	"time"

	"github.com/turnkeel/turnkeel/contract"
)

// Verdict is what a handler's error means for the call.
type Verdict struct {
	// Outcome is what is known: OutcomeFailed, OutcomeUnknown,
	// OutcomeTimedOut, OutcomeNotExecuted or OutcomeInvalid.
	Outcome contract.Outcome

	// Retry asks for another attempt, after After if it is not zero; the
	// outcome is that of the last attempt.
	Retry bool
	After time.Duration

	// Text is what the model is told.
	Text string
}

// Judge sorts an error of [Tool.Invoke] or [Tool.Run]. A handler is taken at
// its word: failed, unless the error says [Unknown], [NotExecuted] or
// [Transient], or is a context's or a network's timeout, or a panic, which
// leave open what happened. What is open counts as failed for SafeToRetry.
// Where marks contradict each other the more careful one holds: Unknown before
// NotExecuted before Transient. An error of a tool that the handler called
// tells nothing of what the handler itself did: it counts as failed, or as
// open where it is. Judge never panics.
func (t *Tool) Judge(err error) Verdict { return t.judge(t.readable(err)) }

func (t *Tool) judge(err error) Verdict {
	name, safe := t.set.name, t.set.class == SafeToRetry
	if direct, ok := err.(*CallError); ok { // of this very tool, in a test
		err = direct.Err
	}
	if e, ok := own[*ArgumentsError](err); ok {
		return Verdict{Outcome: contract.OutcomeInvalid, Text: t.argumentsText(e)}
	}
	if e, ok := own[*ToolTimeoutError](err); ok {
		v := Verdict{Outcome: contract.OutcomeUnknown, Text: contract.TextTimedOut(name, contract.Duration(e.After), t.set.class)}
		if safe {
			v.Outcome = contract.OutcomeTimedOut
		}
		return v
	}
	if e, ok := own[*ResultError](err); ok {
		v := Verdict{Outcome: contract.OutcomeUnknown, Text: contract.TextInvalidResult(name, e.Problem)}
		if safe {
			v.Outcome = contract.OutcomeFailed
		}
		return v // it ran: its repeat is the same effect
	}
	text := modelText(err)
	failed := Verdict{Outcome: contract.OutcomeFailed, Text: contract.TextToolError(name, text)}
	unknown := failed
	if !safe {
		unknown = Verdict{Outcome: contract.OutcomeUnknown, Text: contract.TextUnknown(name, text)}
	}
	switch {
	case IsUnknown(err):
		return unknown
	case isOwn[*NotExecutedError](err):
		return Verdict{Outcome: contract.OutcomeNotExecuted, Text: contract.TextNotExecuted(name, text)}
	}
	verdict := failed
	if isTimeout(err) || isPanic(err) || isResult(err) {
		verdict = unknown
	}
	if e, transient := own[*TransientError](err); transient && t.set.class != AtMostOnce {
		verdict.Retry, verdict.After = true, min(max(e.After, 0), maxTimeout)
	}
	return verdict
}

func isOwn[E error](err error) bool {
	_, ok := own[E](err)
	return ok
}

func (t *Tool) argumentsText(e *ArgumentsError) string {
	if len(e.Problem) > 7 && e.Problem[:7] == "error: " {
		return e.Problem
	}
	return contract.TextArguments(t.set.name, e.Problem)
}

// isTimeout covers contexts and the network, without importing it.
func isTimeout(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	type timeout interface {
		error
		Timeout() bool
	}
	e, ok := errors.AsType[timeout](err)
	return ok && e.Timeout()
}

func isPanic(err error) bool {
	_, ok := errors.AsType[*PanicError](err)
	return ok
}

func isResult(err error) bool {
	_, ok := errors.AsType[*ResultError](err)
	return ok
}

// plain says that the error is a failure and nothing else: what OnError may
// turn into a value.
func plain(err error) bool {
	return !isOwn[*TransientError](err) && !isOwn[*NotExecutedError](err) &&
		!IsUnknown(err) && !isResult(err) && !isTimeout(err) && !isPanic(err)
}

// modelText is what the model may read of an error: the public text, never a
// panic's value, and something even of an error whose Error method panics.
func modelText(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "an error without a text"
		}
	}()
	if public, ok := PublicText(err); ok {
		return public
	}
	if isPanic(err) {
		return "internal error"
	}
	if text = err.Error(); text == "" {
		return "an error without a text"
	}
	return text
}

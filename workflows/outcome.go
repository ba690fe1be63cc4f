package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/contract"
)

// outcomeOf sorts how an activity ended into what is known of its effect. Only
// the handler's own word and our typed pre-effect errors are definite; all
// else is unknown for a tool that may have acted.
func outcomeOf(c *toolCall, id string, err error) contract.Entry {
	if err == nil {
		return contract.Entry{Ref: id, Outcome: contract.OutcomeDone}
	}
	c.reason = contract.BoundText(err.Error(), contract.MaxErrorText)
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		c.reason = app.Message()
		return applicationOutcome(c, id, app)
	}
	var canceled *temporal.CanceledError
	if errors.As(err, &canceled) {
		return entryOf(contract.OutcomeInterrupted, contract.TextInterrupted(c.tool))
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		if neverStarted(timeout) {
			return entryOf(contract.OutcomeNotExecuted, contract.TextNotExecuted(c.tool, "no worker took it"))
		}
		return lostOutcome(c)
	}
	return entryOf(contract.OutcomeUnknown, contract.TextUnknown(c.tool, "its worker reported neither a result nor an error"))
}

// applicationOutcome reads the typed errors of our own wrapper.
func applicationOutcome(c *toolCall, id string, app *temporal.ApplicationError) contract.Entry {
	switch app.Type() {
	case contract.ErrToolFailed:
		return contract.Entry{Ref: id, Outcome: contract.OutcomeFailed}
	case contract.ErrToolTimedOut:
		return contract.Entry{Ref: id, Outcome: contract.OutcomeTimedOut}
	case contract.ErrToolUnknown:
		return contract.Entry{Ref: id, Outcome: contract.OutcomeUnknown}
	case contract.ErrToolInterrupted:
		return contract.Entry{Ref: id, Outcome: contract.OutcomeInterrupted}
	case contract.ErrToolRefused:
		return refusedEntry(c)
	case contract.ErrToolNotExecuted:
		var detail contract.ToolFailure
		if app.Details(&detail) == nil && detail.Drift != "" {
			c.drift = &detail
		}
		return contract.Entry{Ref: id, Outcome: contract.OutcomeNotExecuted}
	case contract.ErrSDKNotRegistered:
		c.lacking = true
		return entryOf(contract.OutcomeNotExecuted, contract.TextNotExecuted(c.tool, "no worker has this tool"))
	case contract.ErrToolTransient:
		return lostOutcome(c)
	default:
		return entryOf(contract.OutcomeUnknown, contract.TextUnknown(c.tool, app.Message()))
	}
}

// last is what is told of a call that is not scheduled again. A worker without
// the tool did nothing, but it cannot say whether it was the first to get the
// call: a Keyed one may have been started before, by a worker that died.
func (call *toolCall) last(e contract.Entry) contract.Entry {
	run := call.plan.Run
	if call.lacking && e.Outcome == contract.OutcomeNotExecuted && run.Class == contract.ClassKeyed && run.MaxAttempts != 1 {
		unknown := entryOf(contract.OutcomeUnknown, contract.TextUnknown(call.tool, "no worker has this tool"))
		unknown.Key = e.Key
		return unknown
	}
	return e
}

// lostOutcome is a call whose last allowed attempt ended without a word that
// settles it.
func lostOutcome(c *toolCall) contract.Entry {
	class := c.plan.Run.Class
	if class == contract.ClassAtMostOnce {
		return entryOf(contract.OutcomeUnknown, contract.TextUnknown(c.tool, "its worker was lost while it ran"))
	}
	text := contract.TextGaveUp(c.tool, c.plan.Run.MaxAttempts, class)
	if class == contract.ClassSafeToRetry {
		return entryOf(contract.OutcomeFailed, text)
	}
	return entryOf(contract.OutcomeUnknown, text)
}

func entryOf(o contract.Outcome, text string) contract.Entry {
	return contract.Entry{Outcome: o, Text: text}
}

// refusedEntry is a call that does not run because an earlier attempt of it
// may have taken effect.
func refusedEntry(c *toolCall) contract.Entry {
	e := entryOf(contract.OutcomeUnknown, contract.TextNotRepeated(c.tool))
	e.Key = c.key
	return e
}

// problemEntry is a call that a gate stopped on the worker.
func problemEntry(p contract.PlannedCall) contract.Entry {
	if p.Problem == nil {
		return entryOf(contract.OutcomeInvalid, contract.TextNotExecuted(p.ToolName(), "its plan is incomplete"))
	}
	o := contract.OutcomeInvalid
	if p.Problem.Kind == contract.ProblemPolicy {
		o = contract.OutcomeDenied
	}
	return entryOf(o, p.Problem.Text)
}

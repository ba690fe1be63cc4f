package workflows

import (
	"github.com/turnkeel/turnkeel/contract"
)

// CallInfo is what every error of [Tools.Call] tells.
type CallInfo struct {
	Tool string
	Key  string // idempotency key; empty when the call never got one
	Text string // what a model would be told
}

func (c CallInfo) Error() string { return c.Text }

// PolicyError is a call that the agent's policy, or a person, denied. It did
// not run.
type PolicyError struct{ CallInfo }

// ExpiredError is a call that nobody approved in time. It did not run.
type ExpiredError struct{ CallInfo }

// InvalidCallError is a call of an unknown tool, or with arguments that are
// refused. It did not run.
type InvalidCallError struct{ CallInfo }

// NotExecutedError is a call that certainly did nothing: no worker had the
// tool, the tool said so, or the workflow was canceled before it.
type NotExecutedError struct{ CallInfo }

// ToolError is the tool's own word that it failed.
type ToolError struct{ CallInfo }

// ToolTimeoutError is a SafeToRetry call that ran out of its time.
type ToolTimeoutError struct{ CallInfo }

// OutcomeUnknownError is a call that may or may not have taken effect. Under
// its key an outside system can be asked what became of it.
type OutcomeUnknownError struct{ CallInfo }

// valueOf is what code gets of a call.
func valueOf(call *toolCall, e contract.Entry) (Value, error) {
	info := CallInfo{Tool: call.tool, Key: e.Key, Text: e.Text}
	if info.Text == "" {
		info.Text = call.reason
	}
	switch e.Outcome {
	case contract.OutcomeDone:
		if call.value != nil {
			return Value{*call.value}, nil
		}
		return Value{contract.ToolResult{Text: e.Text}}, nil
	case contract.OutcomeFailed:
		return Value{}, &ToolError{info}
	case contract.OutcomeTimedOut:
		return Value{}, &ToolTimeoutError{info}
	case contract.OutcomeDenied:
		return Value{}, &PolicyError{info}
	case contract.OutcomeExpired:
		return Value{}, &ExpiredError{info}
	case contract.OutcomeInvalid:
		return Value{}, &InvalidCallError{info}
	case contract.OutcomeNotExecuted, contract.OutcomeNotStarted:
		return Value{}, &NotExecutedError{info}
	default: // unknown, interrupted, and what a later version may add
		return Value{}, &OutcomeUnknownError{info}
	}
}

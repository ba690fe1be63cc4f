package tooldefs

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/turnkeel/turnkeel/contract"
)

// Invoke runs the handler on canonical arguments, in the caller's goroutine
// and under the caller's ctx: bounding it is the caller's part, or that of
// [Tool.Run]. The result is ready to be recorded. An error is what the
// handler said, or a [*PanicError], [*ResultError], [*ArgumentsError] (marked
// NotExecuted) or [*OutsideCallError]; [Tool.Judge] tells what it means.
func (t *Tool) Invoke(ctx context.Context, call *Call, canonicalArgs string) (contract.ToolResult, error) {
	running, err := call.bind(t)
	if err != nil {
		return contract.ToolResult{}, NotExecuted(err)
	}
	defer running.end()
	value, err := t.runGuarded(ctx, running, canonicalArgs)
	if err == nil {
		return t.record(value)
	}
	err = t.readable(err)
	if result, ok := t.recovered(ctx, running, err, canonicalArgs); ok {
		return result, nil
	}
	return contract.ToolResult{}, err
}

// runGuarded turns a panic of the handler into an error; the stack goes to
// the log only.
func (t *Tool) runGuarded(ctx context.Context, call *Call, args string) (value any, err error) {
	defer func() {
		if r := recover(); r != nil {
			text := panicText(r)
			call.Logger().Error("tool panicked", "tool", t.set.name, "panic", text, "stack", string(debug.Stack()))
			value, err = nil, &PanicError{Tool: t.set.name, Value: text}
		}
	}()
	value, err = t.run(ctx, call, args)
	if inner, ok := err.(*CallError); ok {
		err = fmt.Errorf("%w", inner) // passed on bare: still another call's error, also for a tool that calls itself
	}
	return value, err
}

// recovered asks OnError about a plain error of a call that was not cut.
func (t *Tool) recovered(ctx context.Context, call *Call, handlerErr error, args string) (contract.ToolResult, bool) {
	if t.recovery == nil || ctx.Err() != nil || !plain(handlerErr) {
		return contract.ToolResult{}, false
	}
	var value any
	ok := false
	if err := guard(func() error { value, ok = t.recovery(handlerErr, args); return nil }); err != nil {
		call.Logger().Error("OnError panicked", "tool", t.set.name, "error", err)
		return contract.ToolResult{}, false
	}
	if !ok {
		return contract.ToolResult{}, false
	}
	result, err := t.record(value)
	if err != nil {
		call.Logger().Error("OnError gave an invalid value", "tool", t.set.name, "error", err)
		return contract.ToolResult{}, false
	}
	result.Recovered = true
	return result, true
}

// Run is [Tool.Invoke] under the tool's timeout. It returns at once with a
// [*ToolTimeoutError] when the time is over and with the ctx's error when ctx
// ends, whatever the handler does: a handler that ignores its ctx is left
// behind in its goroutine. A ctx that has ended already starts nothing. For an Uninterruptible tool only the timeout cuts.
func (t *Tool) Run(ctx context.Context, call *Call, canonicalArgs string) (contract.ToolResult, error) {
	if t.set.uninterruptible {
		ctx = context.WithoutCancel(ctx)
	}
	timedOut := &ToolTimeoutError{Tool: t.set.name, After: t.set.timeout}
	ctx, cancel := context.WithTimeoutCause(ctx, t.set.timeout, timedOut)
	defer cancel()
	if ctx.Err() != nil {
		return contract.ToolResult{}, NotExecuted(context.Cause(ctx))
	}
	type answer struct {
		result contract.ToolResult
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: &PanicError{Tool: t.set.name, Value: "the handler's goroutine exited"}}
		defer func() { done <- a }()
		a.result, a.err = t.Invoke(ctx, call, canonicalArgs)
	}()
	select {
	case a := <-done:
		return a.result, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-done: // it was ready as well
		if a.err == nil {
			return a.result, nil
		}
	default:
	}
	return contract.ToolResult{}, context.Cause(ctx)
}

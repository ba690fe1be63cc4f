package activities

import (
	"context"
	"errors"
	"time"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/mask"
	"github.com/turnkeel/turnkeel/tooldefs"
)

const (
	// cancelGrace is how long a canceled handler has to come back with what it
	// did, before it is told of as interrupted.
	cancelGrace = 2 * time.Second

	// metricAbandoned counts handlers that ignored their ctx and were left
	// behind; each still holds a goroutine.
	metricAbandoned = "turnkeel_abandoned_handlers"
)

// returned is what a handler came back with.
type returned struct {
	result contract.ToolResult
	err    error
	mask   mask.Mask // taken out of both already
}

// callTool runs one attempt of a tool call. The guards stand before the
// effect; heartbeats begin before the handler does; a handler that does not
// come back in time is left behind and the call ends without it.
func (a *Activities) callTool(ctx context.Context, tool *tooldefs.Tool, in contract.ToolInput) (contract.ToolResult, error) {
	if err := a.refuse(ctx, tool.Name(), in); err != nil {
		return contract.ToolResult{}, err
	}
	ctx, release := hold(ctx, in.Class)
	defer release()
	shown := streamOf(in.Stream)
	stop := startHeartbeat(ctx, shown, heartbeatInterval)
	defer stop()
	if result, settled, err := a.recordedCall(ctx, tool.Name(), in); settled {
		return result, err
	}
	if err := a.sameVersion(ctx, tool, in); err != nil {
		return contract.ToolResult{}, err
	}
	if why := a.undeclared(in.Agent, tool); why != "" {
		return contract.ToolResult{}, failure(notStarted(ctx, tool, in, why))
	}
	handlerCtx, cancel := context.WithTimeout(ctx, in.Timeout.Std())
	defer cancel()
	done := make(chan returned, 1)
	go func() {
		m := a.maskOf(in.Agent)
		r := returned{err: &tooldefs.PanicError{Tool: tool.Name(), Value: "its goroutine was ended"}, mask: m}
		defer func() { done <- r }() // also after runtime.Goexit
		result, err := tool.Invoke(handlerCtx, a.call(ctx, tool, in, shown, m), in.Args)
		r.result, r.err = maskedResult(m, result), maskedError(m, err)
	}()
	r, back := await(handlerCtx, done)
	switch {
	case !back:
		return a.cut(ctx, tool, in, done)
	case ctx.Err() == nil && handlerCtx.Err() != nil && ranOut(tool, r.err):
		return contract.ToolResult{}, timedOut(tool, in)
	default:
		return a.outcome(ctx, tool, in, r)
	}
}

// await waits for the handler until its time is over. A result that is there
// by then counts, whichever of both is noticed first: it is what happened.
func await(handlerCtx context.Context, done <-chan returned) (r returned, back bool) {
	select {
	case r = <-done:
		return r, true
	case <-handlerCtx.Done():
	}
	select {
	case r = <-done:
		return r, true
	default:
		return returned{}, false
	}
}

// ranOut says that a handler's error is its own deadline's and nothing more.
func ranOut(tool *tooldefs.Tool, err error) bool {
	if !errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	v := tool.Judge(err)
	switch v.Outcome {
	case contract.OutcomeUnknown, contract.OutcomeTimedOut, contract.OutcomeFailed: // the last of a tool that is safe to retry
		return !v.Retry
	default:
		return false
	}
}

// sameVersion stops a call that was planned for another version of its tool.
// Nothing has happened then, unless an earlier attempt has acted.
func (a *Activities) sameVersion(ctx context.Context, tool *tooldefs.Tool, in contract.ToolInput) error {
	if in.Digest == "" || in.Digest == tool.ExecutionDigest() {
		return nil
	}
	detail := notStarted(ctx, tool, in, "this worker has another version of it than the one the call was planned for")
	if detail.Outcome == contract.OutcomeNotExecuted {
		a.planAgain(ctx, tool, in, &detail)
	}
	return failure(detail)
}

// notStarted is a call that is not begun here: not executed, unless an earlier
// attempt may have acted.
func notStarted(ctx context.Context, tool *tooldefs.Tool, in contract.ToolInput, why string) contract.ToolFailure {
	if in.Class != contract.ClassSafeToRetry && sdkactivity.GetInfo(ctx).Attempt > 1 {
		return contract.ToolFailure{Text: contract.TextUnknown(tool.Name(), "an earlier attempt was lost, and "+why), Outcome: contract.OutcomeUnknown}
	}
	return contract.ToolFailure{Text: contract.TextNotExecuted(tool.Name(), why), Outcome: contract.OutcomeNotExecuted}
}

func failure(detail contract.ToolFailure) error {
	if detail.Outcome == contract.OutcomeUnknown {
		return toolErrorWith(contract.ErrToolUnknown, detail, 0)
	}
	return toolErrorWith(contract.ErrToolNotExecuted, detail, 0)
}

// undeclared says why a tool of the agent may not read a variable that it needs:
// the agent of a turn in flight may have changed or gone since. Read by another
// agent's rules it would be another's key, or none.
func (a *Activities) undeclared(agent string, tool *tooldefs.Tool) string {
	for _, name := range tool.Env() {
		if _, ok := a.env(agent, name); ok {
			continue
		}
		if _, here := a.agents[agent]; !here {
			return "the agent " + agent + " is not on this worker, so its variable " + name + " is not known"
		}
		return "the agent " + agent + " declares the variable " + name + " no more, which it reads"
	}
	return ""
}

// call is what the handler is handed.
func (a *Activities) call(ctx context.Context, tool *tooldefs.Tool, in contract.ToolInput, shown *stream, m mask.Mask) *tooldefs.Call {
	info := sdkactivity.GetInfo(ctx)
	logger := a.logger.With(zap.String("tool", tool.Name()), zap.String("turn", info.WorkflowExecution.ID),
		zap.String("key", in.Key), zap.Int32("attempt", info.Attempt))
	return tooldefs.NewCall(tooldefs.CallInfo{
		Tool: tool.Name(), Key: in.Key, Turn: info.WorkflowExecution.ID, Session: in.Session,
		Ordinal: in.Ordinal, Attempt: int(info.Attempt),
		Logger:   masked(logger, m),
		Progress: maskedProgress(m, shown.show),
		Env:      func(name string) (string, bool) { return a.env(in.Agent, name) },
	})
}

// cut ends a call whose handler is still running: its time is over, the
// workflow canceled it, or the worker stops.
func (a *Activities) cut(ctx context.Context, tool *tooldefs.Tool, in contract.ToolInput, done <-chan returned) (contract.ToolResult, error) {
	if ctx.Err() == nil { // the handler's own deadline: the call ends at once
		go func() {
			select {
			case <-done:
			case <-time.After(cancelGrace):
				a.abandoned(ctx, tool, in)
			}
		}()
		return contract.ToolResult{}, timedOut(tool, in)
	}
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelGrace)
	defer stop()
	r, back := await(grace, done)
	if !back {
		a.abandoned(ctx, tool, in)
		return contract.ToolResult{}, interrupted(ctx, tool.Name(), in)
	}
	return a.outcome(ctx, tool, in, r)
}

func (a *Activities) abandoned(ctx context.Context, tool *tooldefs.Tool, in contract.ToolInput) {
	sdkactivity.GetMetricsHandler(ctx).Counter(metricAbandoned).Inc(1)
	a.logger.Warn("a handler did not return when its ctx ended and is left behind",
		zapTool(tool), zap.String("key", in.Key))
}

// outcome turns what the handler came back with into a recorded result or a
// typed error. What an error means is the tool's word: see [tooldefs.Tool.Judge].
func (a *Activities) outcome(ctx context.Context, tool *tooldefs.Tool, in contract.ToolInput, r returned) (contract.ToolResult, error) {
	if r.err == nil {
		return a.bounded(ctx, tool, r.result), nil
	}
	if ctx.Err() != nil && cutShort(tool, r.err) {
		return contract.ToolResult{}, interrupted(ctx, tool.Name(), in)
	}
	a.logger.Warn("tool failed", zapTool(tool), zap.String("key", in.Key), zap.String("error", r.mask.Text(errorText(r.err))))
	v := tool.Judge(r.err)
	v.Text = r.mask.Text(v.Text)
	if v.Retry && in.Class != contract.ClassAtMostOnce {
		return contract.ToolResult{}, toolError(contract.ErrToolTransient, v.Outcome, v.Text, v.After)
	}
	if in.Class == contract.ClassKeyed && sdkactivity.GetInfo(ctx).Attempt > 1 {
		// An earlier attempt may have acted; this one's word is only its own.
		return contract.ToolResult{}, toolError(contract.ErrToolUnknown, contract.OutcomeUnknown,
			contract.TextUnknown(tool.Name(), "an earlier attempt was lost, and the last one says: "+v.Text), 0)
	}
	return contract.ToolResult{}, toolError(errorType(v.Outcome), v.Outcome, v.Text, 0)
}

// cutShort says that the error of a call whose ctx has ended may come from just
// that: a killed child process says "signal: killed", a closed connection
// something else again. Only what the handler marked stands as it is.
func cutShort(tool *tooldefs.Tool, err error) bool {
	if errors.Is(err, context.Canceled) {
		return true
	}
	v := tool.Judge(err)
	return v.Outcome == contract.OutcomeFailed && !v.Retry
}

// errorType is the recorded type of a verdict.
func errorType(o contract.Outcome) string {
	switch o {
	case contract.OutcomeFailed, contract.OutcomeInvalid:
		return contract.ErrToolFailed
	case contract.OutcomeTimedOut:
		return contract.ErrToolTimedOut
	case contract.OutcomeNotExecuted:
		return contract.ErrToolNotExecuted
	default:
		return contract.ErrToolUnknown
	}
}

// timedOut is our own timeout: final in every class.
func timedOut(tool *tooldefs.Tool, in contract.ToolInput) error {
	text := contract.TextTimedOut(tool.Name(), in.Timeout, in.Class)
	if in.Class == contract.ClassSafeToRetry {
		return toolError(contract.ErrToolTimedOut, contract.OutcomeTimedOut, text, 0)
	}
	return toolError(contract.ErrToolUnknown, contract.OutcomeUnknown, text, 0)
}

// interrupted is a call that was cut from outside. A worker that stops hands
// a repeatable call to the next one; the stop is never the tool's failure.
func interrupted(ctx context.Context, tool string, in contract.ToolInput) error {
	if !shuttingDown(ctx) {
		return ctx.Err() // reported as canceled; the workflow says what it means
	}
	if in.Class == contract.ClassAtMostOnce {
		return toolError(contract.ErrToolUnknown, contract.OutcomeUnknown,
			contract.TextUnknown(tool, "its worker was stopped while it ran"), 0)
	}
	return toolError(contract.ErrToolTransient, contract.OutcomeUnknown,
		contract.TextUnknown(tool, "its worker was stopped while it ran"), 0)
}

// toolError is a tool's typed error; its detail is what the model is told.
func toolError(kind string, outcome contract.Outcome, text string, after time.Duration) error {
	return toolErrorWith(kind, contract.ToolFailure{Text: text, Outcome: outcome}, after)
}

func toolErrorWith(kind string, detail contract.ToolFailure, after time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(detail.Text, kind, temporal.ApplicationErrorOptions{
		NonRetryable:   kind != contract.ErrToolTransient,
		NextRetryDelay: after,
		Details:        []any{detail},
	})
}

func zapTool(t *tooldefs.Tool) zap.Field { return zap.String("tool", t.Name()) }
func zapError(err error) zap.Field       { return zap.Error(err) }

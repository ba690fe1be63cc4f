package activities

import (
	"context"
	"errors"

	sdkactivity "go.temporal.io/sdk/activity"

	"github.com/turnkeel/turnkeel/contract"
)

// hold is ctx as the workflow and the worker end it. The SDK also ends it when
// an operator pauses or resets the activity; but a pause is for the next
// attempt, and cutting an AtMostOnce call that runs would only leave its
// outcome unknown: it has no next attempt that may run. A reset still ends a
// repeatable call, which then starts anew.
//
// ctx ends once: a cancel that comes after a pause no longer reaches the
// handler, whose own timeout stays.
func hold(ctx context.Context, class contract.Class) (held context.Context, release func()) {
	held, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		paused := errors.Is(cause, sdkactivity.ErrActivityPaused)
		reset := errors.Is(cause, sdkactivity.ErrActivityReset)
		if paused || reset && class == contract.ClassAtMostOnce {
			return
		}
		cancel(cause)
	})
	return held, func() {
		stop()
		cancel(nil)
	}
}

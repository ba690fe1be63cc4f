package wire

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// idleError is the cause of a context that an idle endpoint ended.
type idleError struct{ after time.Duration }

func (e *idleError) Error() string { return fmt.Sprintf("no byte for %s", e.after) }

// totalError is the cause of a context that took too long in all.
type totalError struct{ after time.Duration }

func (e *totalError) Error() string { return fmt.Sprintf("not complete after %s", e.after) }

// idleWatch ends a context when no byte came for a while.
type idleWatch struct {
	cancel context.CancelCauseFunc
	total  *time.Timer // nil: no bound

	mu    sync.Mutex
	timer *time.Timer
	now   time.Duration // what the timer allows
	limit time.Duration // what it allows after the next byte
}

// watchIdle starts a watch that allows first until the first byte, then limit
// between bytes, and total for all; a total of 0 is no bound.
func watchIdle(ctx context.Context, first, limit, total time.Duration) (context.Context, *idleWatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &idleWatch{cancel: cancel, now: first, limit: limit}
	w.timer = time.AfterFunc(first, w.expired)
	if total > 0 {
		w.total = time.AfterFunc(total, func() { cancel(&totalError{after: total}) })
	}
	return ctx, w
}

// touch says that bytes came.
func (w *idleWatch) touch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer.Stop() {
		w.now = w.limit
		w.timer.Reset(w.now)
	}
}

func (w *idleWatch) expired() {
	w.mu.Lock()
	after := w.now
	w.mu.Unlock()
	w.cancel(&idleError{after: after})
}

// narrow lowers the limit, from now on.
func (w *idleWatch) narrow(limit time.Duration) {
	w.mu.Lock()
	lower := limit < w.limit
	if lower {
		w.limit = limit
	}
	w.mu.Unlock()
	if lower {
		w.touch()
	}
}

// stop ends the watch and its context.
func (w *idleWatch) stop() {
	w.mu.Lock()
	w.timer.Stop()
	w.mu.Unlock()
	if w.total != nil {
		w.total.Stop()
	}
	w.cancel(context.Canceled)
}

// watched reports every byte read to the watch.
type watched struct {
	io.ReadCloser
	idle *idleWatch
}

func (r watched) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if n > 0 {
		r.idle.touch()
	}
	return n, err
}

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

// idleWatch ends a context when no byte came for a while.
type idleWatch struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration
}

// watchIdle starts a watch that allows first until the first byte and then
// limit between bytes.
func watchIdle(ctx context.Context, first, limit time.Duration) (context.Context, *idleWatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &idleWatch{cancel: cancel, limit: limit}
	w.timer = time.AfterFunc(first, func() { cancel(&idleError{after: first}) })
	return ctx, w
}

// touch says that bytes came.
func (w *idleWatch) touch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer.Stop() {
		limit := w.limit
		w.timer = time.AfterFunc(limit, func() { w.cancel(&idleError{after: limit}) })
	}
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

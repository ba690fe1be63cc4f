package devproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// fileLock is an exclusive flock. The kernel drops it when its holder dies,
// and the descriptor is close-on-exec, so no child keeps it alive: there are
// no stale locks.
type fileLock struct{ f *os.File }

// tryLock takes the lock at path, or returns nil, nil when another process
// (or another open of the file in this one) holds it.
func tryLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	switch {
	case err == nil:
		return &fileLock{f: f}, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, f.Close()
	default:
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
}

// waitLock takes the lock at path, waiting for its holder; busy is called
// once before the wait, if there is one.
func waitLock(ctx context.Context, path string, busy func()) (*fileLock, error) {
	for first := true; ; first = false {
		l, err := tryLock(path)
		if l != nil || err != nil {
			return l, err
		}
		if first {
			busy()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// unlock releases the lock.
func (l *fileLock) unlock() { _ = l.f.Close() }

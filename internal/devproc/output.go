package devproc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// readyLine returns a function for the child's standard output: the first
// line, which is the ready message, fills s; later ones are dropped.
func (s *Server) readyLine(ready chan<- error) func(string) {
	seen := false
	return func(line string) {
		if seen {
			return
		}
		seen = true
		err := json.Unmarshal([]byte(line), s)
		if err == nil && s.Address == "" {
			err = fmt.Errorf("no address in it")
		}
		if err != nil {
			err = fmt.Errorf("unexpected ready line %q: %w", line, err)
		}
		ready <- err
	}
}

// tail passes the child's standard error on to w (may be nil) and remembers
// its end.
type tail struct {
	mu   sync.Mutex
	w    io.Writer
	last []byte // tailMax bytes, or up to twice that
}

const tailMax = 64 << 10

// Write implements io.Writer. It never fails, since the child would be
// stopped by a log that cannot be written.
func (t *tail) Write(p []byte) (int, error) {
	if t.w != nil {
		_, _ = t.w.Write(p)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if len(t.last) > 2*tailMax { // seldom, since it copies
		t.last = bytes.Clone(t.last[len(t.last)-tailMax:])
	}
	return len(p), nil
}

// String returns the line that says why the child ended: the last one by which
// devserver or a Go runtime says so, else the last that is not blank.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.last)), "\n")
	for _, line := range slices.Backward(lines) {
		if reason, ok := strings.CutPrefix(line, "devserver: "); ok {
			return strings.TrimSpace(reason)
		}
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// tempDir is a data directory that dies with its server. Its lock tells a
// later process whether the owner was killed before it could remove it.
type tempDir struct {
	path string
	lock *fileLock
}

const (
	dataPrefix = "turnkeel-data-"
	ownerLock  = "owner.lock"
)

// newTempDir creates a data directory and removes those of dead owners.
func newTempDir() (*tempDir, error) {
	sweepTempDirs()
	path, err := os.MkdirTemp("", dataPrefix)
	if err != nil {
		return nil, err
	}
	lock, err := tryLock(filepath.Join(path, ownerLock))
	if err == nil && lock == nil {
		err = fmt.Errorf("%s is locked by another process", path)
	}
	if err != nil {
		_ = os.RemoveAll(path)
		return nil, err
	}
	return &tempDir{path: path, lock: lock}, nil
}

// sweepTempDirs removes the data directories whose owner is gone. A young one
// may not be locked yet, or its server may still be stopping.
func sweepTempDirs() {
	locks, _ := filepath.Glob(filepath.Join(os.TempDir(), dataPrefix+"*", ownerLock))
	for _, path := range locks {
		st, err := os.Lstat(path)
		if err != nil || !st.Mode().IsRegular() || time.Since(st.ModTime()) < 10*time.Minute {
			continue
		}
		if lock, err := tryLock(path); err == nil && lock != nil {
			_ = os.RemoveAll(filepath.Dir(path))
			lock.unlock()
		}
	}
}

// remove removes the directory; a nil tempDir is none.
func (t *tempDir) remove() {
	if t == nil {
		return
	}
	_ = os.RemoveAll(t.path)
	t.lock.unlock()
}

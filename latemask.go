package turnkeel

import (
	"encoding/json"
	"sync/atomic"

	"github.com/turnkeel/turnkeel/internal/mask"
)

// lateMask takes a worker's secrets out of what its process says, from when
// they are known on: what is said before is said by who knows them. It is safe
// for concurrent use.
type lateMask struct{ known atomic.Pointer[mask.Mask] }

func (l *lateMask) set(m mask.Mask) { l.known.Store(&m) }

// line is a line of the log; JSON stays JSON.
func (l *lateMask) line(line []byte) []byte {
	m := l.known.Load()
	switch {
	case m == nil || m.Empty():
		return line
	case json.Valid(line):
		return m.JSON(line)
	}
	return []byte(m.Text(string(line)))
}

// error is err in other words, if its own have a secret.
func (l *lateMask) error(err error) error {
	m := l.known.Load()
	if err == nil || m == nil {
		return err
	}
	if text := m.Text(err.Error()); text != err.Error() {
		return maskedError{err, text}
	}
	return err
}

// maskedError is an error in other words.
type maskedError struct {
	error
	text string
}

// Error is the words.
func (e maskedError) Error() string { return e.text }

// Unwrap is the error as it was, for its kind.
func (e maskedError) Unwrap() error { return e.error }

package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/turnkeel/turnkeel/internal/child"
)

// Bounds of the process that reads a file.
const (
	DefaultTimeout = 30 * time.Second

	// maxMemory bounds its memory, in bytes. Where the system cannot bound it,
	// the process looks itself.
	maxMemory = perByte * 768 << 20

	maxAnswer = 80 << 20 // of JSON: the text, of which no character needs more than twice its bytes
)

// Isolated reads files in a process of their own, which a hostile one can crash
// or stop and nothing else.
type Isolated struct {
	// Command is a program that calls [Serve] with the file's name; the name is
	// appended. Required.
	Command []string

	// Env is its environment: it needs none.
	Env []string

	// Timeout bounds the reading. If zero, [DefaultTimeout].
	Timeout time.Duration
}

// answer is what the process says.
type answer struct {
	Text
	Error string `json:"error,omitempty"`
	Kind  string `json:"kind,omitempty"` // of the error, see kinds
}

// kinds are the errors that keep their identity on the way.
var kinds = map[string]error{"too_large": ErrTooLarge, "unsupported": ErrUnsupported, "limit": ErrLimit} //nolint:gochecknoglobals // never changed

// remoteError is an error of the process, in its words.
type remoteError struct {
	text string
	kind error
}

func (e remoteError) Error() string { return e.text }
func (e remoteError) Unwrap() error { return e.kind }

// Read is the package's [Read], with its default limits, in a process. A file
// that takes more time or memory than that gives an [ErrLimit].
func (i Isolated) Read(ctx context.Context, name string, data []byte) (_ Text, err error) {
	if len(data) > MaxBytes {
		return Text{}, fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, MaxBytes)
	}
	if i.Timeout <= 0 {
		i.Timeout = DefaultTimeout
	}
	limited, cancel := context.WithTimeout(ctx, i.Timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, i.Command[0], append(i.Command[1:len(i.Command):len(i.Command)], name)...) //nolint:gosec // our own
	cmd.Env = append([]string{}, i.Env...)
	cmd.Stdin = bytes.NewReader(data)
	stdout, stderr := &capped{limit: maxAnswer}, &capped{limit: 4 << 10}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = time.Second
	exited, startErr := child.Start(cmd)
	if startErr == nil {
		err = <-exited
	}
	switch {
	case ctx.Err() != nil:
		return Text{}, ctx.Err()
	case limited.Err() != nil:
		return Text{}, fmt.Errorf("%w: reading it took longer than %s", ErrLimit, i.Timeout)
	case startErr != nil:
		return Text{}, fmt.Errorf("start the process that reads %s: %w", name, startErr)
	case err != nil:
		return Text{}, fmt.Errorf("%w: reading it ended its reader (%w), by the memory it took or by a fault in a parser", ErrLimit, err)
	}
	var a answer
	if err := json.Unmarshal(stdout.b, &a); err != nil {
		return Text{}, fmt.Errorf("the process that read %s answered what is no JSON: %w", name, err)
	}
	if a.Error != "" {
		return Text{}, remoteError{text: a.Error, kind: kinds[a.Kind]}
	}
	return a.Text, nil
}

// Serve reads a file of that name from in, and writes what [Isolated.Read]
// expects to out. It is all that its process does: the process may end in the
// middle of it.
func Serve(ctx context.Context, name string, in io.Reader, out io.Writer) error {
	stop := limitProcess()
	defer stop()
	data, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return err
	}
	text, err := Read(ctx, name, data, DefaultLimits)
	a := answer{Text: text}
	if err != nil {
		a.Error = err.Error()
		for kind, is := range kinds {
			if errors.Is(err, is) {
				a.Kind = kind
			}
		}
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false) // a text of 16 MiB of "<" would be 96 MiB
	return encoder.Encode(a)
}

// capped keeps the first bytes that are written to it.
type capped struct {
	b     []byte
	limit int
}

func (c *capped) Write(p []byte) (int, error) {
	c.b = append(c.b, p[:min(len(p), c.limit-len(c.b))]...)
	return len(p), nil
}

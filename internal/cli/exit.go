package cli

import (
	"errors"
	"strings"

	"go.temporal.io/api/serviceerror"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/internal/conn"
	"github.com/turnkeel/turnkeel/internal/replay"
)

// Exit codes.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3 // or unreachable
	ExitWaiting     = 4 // a call waits for a person, with --no-wait
	ExitInterrupted = 130
)

// exitCode is the exit code of a command's error.
func exitCode(err error) int {
	var unreachable *conn.Error
	var notFound *serviceerror.NotFound
	var noNamespace *serviceerror.NamespaceNotFound
	var usage usageError
	var waits waitsError
	var missing notFoundError
	var secret turnkeel.SecretError
	var replayed *replay.Exit
	switch {
	case errors.As(err, &replayed):
		return replayed.Code
	case errors.As(err, &usage), errors.As(err, &secret), strings.HasPrefix(err.Error(), "required flag"): // cobra's, which has no type
		return ExitUsage
	case errors.As(err, &waits):
		return ExitWaiting
	case errors.As(err, &missing), errors.As(err, &unreachable), errors.As(err, &notFound), errors.As(err, &noNamespace):
		return ExitNotFound
	default:
		return ExitFailed
	}
}

// usageError is a command that was called the wrong way.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// notFoundError is a thing that was named and is not there.
type notFoundError struct{ error }

func (e notFoundError) Unwrap() error { return e.error }

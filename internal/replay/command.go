package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"

	"github.com/turnkeel/turnkeel/internal/conn"
)

// Session is what a command replays with.
type Session struct {
	Checker   *Checker
	Service   Service // nil for a job of files only
	Namespace string
	Close     func() // may be nil
}

// Command is the replay command of a binary, which is named for the help.
// connect makes the session; it need not connect when server is false. json
// says whether the output is JSON. What the command returns is an [*Exit].
func Command(binary string, connect func(ctx context.Context, server bool) (Session, error), json func() bool) *cobra.Command {
	var j Job
	cmd := &cobra.Command{
		Use:   "replay [WORKFLOW_ID[/RUN_ID] ...] | replay --file history.json | replay --all",
		Short: "Say whether recorded runs survive a deploy of this binary",
		Long: `Replays the histories of runs against the workflows of this binary and says
which would break if it were deployed now. Nothing is run, asked or written:
no tool, no model, no worker. A run may be live, parked, closed, continued or
reset.

Each run gets a verdict: it replays; it breaks, with the event where the code
leaves the recorded path and what to do; it is not ours, if this binary has no
workflow of its type; or it is unreadable, if its payloads cannot be decoded
(TEMPORAL_CODEC_ENDPOINT names a codec server). Progress and a summary go to
standard error.

Exit codes: 0 all replay, 1 something breaks or is unreadable, 2 wrong usage, or
nothing that was named is ours, 3 not found or unreachable, 130 interrupted.`,
		Example: "  " + binary + ` replay ticket-4711
  ` + binary + ` replay --all
  ` + binary + ` replay --all --query "TurnkeelAgent = 'support'" --output json
  ` + binary + ` replay --file history.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			j.Runs, j.JSON = args, json()
			j.In, j.Out, j.ErrOut = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			return exitOf(cmd.Context(), do(cmd.Context(), j, connect))
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&j.Files, "file", nil, "saved history, as of \"temporal workflow show --output json\" or the Web UI; - is standard input; may be repeated")
	f.BoolVar(&j.All, "all", false, "all open runs of the namespace, of the workflow types that this binary has")
	f.StringVar(&j.Query, "query", "", "with --all: further condition, in Temporal's list filter language")
	f.BoolVar(&j.Closed, "closed", false, "with --all: closed runs too")
	f.IntVar(&j.Limit, "limit", 0, "with --all: how many at most, newest first (0: all)")
	return cmd
}

// CheckOutput is the usage error of an --output that there is not.
func CheckOutput(output string) error {
	if output != "text" && output != "json" {
		return &Exit{2, fmt.Errorf("--output %q: want text or json", output)}
	}
	return nil
}

func do(ctx context.Context, j Job, connect func(ctx context.Context, server bool) (Session, error)) error {
	if err := j.Problem(); err != nil {
		return &Exit{Code: 2, Err: err}
	}
	s, err := connect(ctx, j.NeedsServer())
	if err != nil {
		return err
	}
	if s.Close != nil {
		defer s.Close()
	}
	j.Namespace = s.Namespace
	_, err = Run(ctx, s.Checker, s.Service, j)
	return err
}

// Exit is the error of a replay command, with the process's exit code.
type Exit struct {
	Code int
	Err  error
}

// Error implements error.
func (e *Exit) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *Exit) Unwrap() error { return e.Err }

// exitOf gives an error its exit code; any other one is the binary's to know.
func exitOf(ctx context.Context, err error) error {
	var exit *Exit
	var notFound *serviceerror.NotFound
	var badQuery *serviceerror.InvalidArgument
	var unreachable *conn.Error
	switch {
	case err == nil, errors.As(err, &exit):
		return err
	case ctx.Err() != nil:
		return &Exit{130, errors.New("interrupted")}
	case errors.Is(err, ErrBreaks):
		return &Exit{1, err}
	case errors.Is(err, ErrNotOurs), errors.Is(err, ErrNotSaved), errors.As(err, &badQuery):
		return &Exit{2, err}
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &notFound), errors.As(err, &unreachable):
		return &Exit{3, err}
	}
	return err
}

package turnkeel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/internal/replay"
	"github.com/turnkeel/turnkeel/internal/usage"
)

// Main is a whole worker binary. Without a command it serves turns until
// SIGINT or SIGTERM; the commands check, tools and policy test need no server,
// and replay says whether recorded runs survive a deploy of it. It exits
// the process: 0 after a clean stop, 1 when something is wrong, 2 on wrong
// usage, 3 when an agent or file that a command names is not there, 130 when it
// is interrupted before it is done.
func Main(o Options) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := mainCode(ctx, o, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func mainCode(ctx context.Context, o Options, args []string, out, errOut io.Writer) int {
	wrong := true // until a command's own code runs
	cmd := workerCommand(&o, &wrong)
	cmd.SetArgs(args)
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	called, err := cmd.ExecuteContextC(ctx)
	var replayed *replay.Exit
	var missing notFoundError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &replayed):
		fmt.Fprintln(errOut, err)
		return replayed.Code
	case wrong:
		fmt.Fprintln(errOut, usage.Text(called, err))
		return 2
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(errOut, "interrupted; everything that was started here has been stopped")
		return 130
	case errors.As(err, &missing):
		fmt.Fprintln(errOut, err)
		return 3
	default:
		fmt.Fprintln(errOut, err)
		return 1
	}
}

func workerCommand(o *Options, wrong *bool) *cobra.Command {
	root := &cobra.Command{
		Use:   "worker",
		Short: "Serve agent turns from Temporal",
		Long: `Serves agent turns: takes them from a Temporal task queue, calls the model,
runs the tools.

It connects by Temporal's environment conventions: TEMPORAL_ADDRESS,
TEMPORAL_NAMESPACE, TEMPORAL_TLS…, TEMPORAL_API_KEY, or a profile of
temporal.toml named by TEMPORAL_PROFILE. The model is reached by
OPENAI_API_KEY and OPENAI_BASE_URL, or by an agent's own endpoint.

What is too large for a history is kept in the folder TURNKEEL_BLOBS, by default
turnkeel/blobs below XDG_DATA_HOME or ~/.local/share. Workers on several
machines need one that they share, as s3://bucket/prefix with the usual AWS_…
variables; "none" keeps nothing.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if o.StopTimeout < 0 {
				return fmt.Errorf("--stop-timeout %v: want 0s or more", o.StopTimeout)
			}
			if err := usage.NoEmpty(cmd, args); err != nil {
				return err
			}
			*wrong = false
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return Run(cmd.Context(), *o) },
	}
	flags := root.PersistentFlags()
	flags.StringVar(&o.AgentsDir, "agents", o.withDefaults().AgentsDir, "folder with one folder per agent")
	run := &cobra.Command{Use: "run", Short: "Serve turns (the default)", Args: cobra.NoArgs, RunE: root.RunE}
	serveFlags(root, o)
	serveFlags(run, o)
	root.AddCommand(
		run,
		checkCommand(o), toolsCommand(o),
		policyCommand(o),
		replayCommand(o),
	)
	usage.Strict(root)
	return root
}

// serveFlags are the flags of serving; the root command has them too, since
// serving is what it does.
func serveFlags(cmd *cobra.Command, o *Options) {
	d := o.withDefaults()
	cmd.Flags().StringVar(&o.TaskQueue, "task-queue", d.TaskQueue, "task queue to take turns from")
	cmd.Flags().IntVar(&o.CacheSize, "cache", d.CacheSize, "workflows kept in memory; negative: none")
	cmd.Flags().DurationVar(&o.StopTimeout, "stop-timeout", d.StopTimeout, "how long running tools may go on after a stop signal")
}

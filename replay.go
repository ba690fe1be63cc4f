package turnkeel

import (
	"context"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/internal/conn"
	"github.com/turnkeel/turnkeel/internal/logging"
	"github.com/turnkeel/turnkeel/internal/replay"
)

// replayCommand is the worker's command replay: the same as starter's, with
// the workflows and the data converter of this binary.
func replayCommand(o *Options) *cobra.Command {
	var output string
	cmd := replay.Command("worker", func(ctx context.Context, server bool) (replay.Session, error) {
		return replaySession(ctx, *o, server)
	}, func() bool { return output == "json" })
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text, or json (JSON only on standard output)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		return replay.CheckOutput(output)
	}
	return cmd
}

func replaySession(ctx context.Context, o Options, server bool) (replay.Session, error) {
	dc := o.DataConverter
	if dc == nil {
		var err error
		if dc, err = conn.Codec(conn.Overrides{}); err != nil {
			return replay.Session{}, err
		}
	}
	checked := replay.Options{DataConverter: dc}
	if o.Register != nil {
		checked.Register = func(r *replay.Registry) { o.Register(r) }
	}
	checker, err := replay.New(checked)
	if err != nil || !server {
		return replay.Session{Checker: checker}, err
	}
	client, info, err := dial(ctx, o, logging.Temporal(zap.NewNop()))
	if err != nil {
		return replay.Session{}, err
	}
	return replay.Session{Checker: checker, Service: client, Namespace: info.Namespace, Close: client.Close}, nil
}

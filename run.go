package turnkeel

import (
	"context"
	"fmt"
	"os"
	"time"

	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/internal/conn"
	"github.com/turnkeel/turnkeel/internal/logging"
)

// Run connects by Temporal's environment conventions and serves turns until
// ctx ends. Then running tools may finish within [Options.StopTimeout], and
// what remains is handed to other workers. It returns nil after such a stop.
func Run(ctx context.Context, o Options) error {
	o = o.withDefaults()
	var secrets lateMask
	if o.Logger == nil {
		o.Logger = logging.NewMasked(os.Stderr, zap.InfoLevel, secrets.line)
	}
	if o.Blobs == nil {
		var err error
		if o.Blobs, err = BlobsFromEnv(); err != nil {
			return err
		}
	}
	host, err := Open(ctx, o) // before connecting: a wrong agent needs no server
	if err != nil {
		return err
	}
	defer host.Close() //nolint:errcheck // logged by what could not be closed
	secrets.set(host.allSecrets())
	return secrets.error(run(ctx, host, o))
}

// run connects, and serves what the host has.
func run(ctx context.Context, host *Host, o Options) (err error) {
	if o.Versioning == (Versioning{}) {
		if o.Versioning, err = VersioningFrom(os.Getenv); err != nil {
			return err
		}
	}
	client, info, err := dial(ctx, o, logging.Temporal(o.Logger))
	if err != nil {
		return err
	}
	defer client.Close()
	return serve(ctx, client, info, host, o)
}

// dial connects by the environment, with the data converter of the options.
func dial(ctx context.Context, o Options, logger log.Logger) (sdkclient.Client, conn.Info, error) {
	options, info, err := conn.Options(conn.Overrides{})
	if err != nil {
		return nil, info, err
	}
	options.Logger = logger
	if o.DataConverter != nil {
		options.DataConverter = o.DataConverter
	}
	client, err := conn.DialOptions(ctx, options, info)
	return client, info, err
}

func serve(ctx context.Context, client sdkclient.Client, info conn.Info, host *Host, o Options) error {
	deployment, err := o.Versioning.DeploymentOptions(o.TaskQueue)
	if err != nil {
		return err
	}
	sdkworker.SetStickyWorkflowCacheSize(max(0, o.CacheSize))
	fatal := make(chan error, 1)
	options := sdkworker.Options{
		WorkerStopTimeout: o.StopTimeout,
		DeploymentOptions: deployment,
		OnFatalError:      func(err error) { fatal <- err },
	}
	SetWorkerDefaults(&options)
	worker := sdkworker.New(client, o.TaskQueue, options)
	host.Register(worker)
	if o.Register != nil {
		o.Register(worker)
	}
	if err := worker.Start(); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	o.Logger.Info("worker serves turns", zap.String("address", info.Address), zap.String("namespace", info.Namespace),
		zap.String("task_queue", o.TaskQueue), zap.String("agents", o.AgentsDir))
	if v := deployment.Version; v.BuildID != "" {
		o.Logger.Info("worker is a version of a deployment; it serves nothing before `temporal worker deployment set-current-version` names it",
			zap.String("deployment", v.DeploymentName), zap.String("build_id", v.BuildID), zap.Bool("pinned", o.Versioning.Pinned))
	}
	select {
	case <-ctx.Done():
	case err = <-fatal:
		err = fmt.Errorf("the worker cannot go on: %w", err)
	}
	o.Logger.Info("worker stops", zap.Duration("grace", o.StopTimeout))
	stopped := time.Now()
	worker.Stop()
	o.Logger.Info("worker stopped", zap.Duration("after", time.Since(stopped)))
	return err
}

package activities

import (
	"context"
	"errors"
	"time"

	sdkactivity "go.temporal.io/sdk/activity"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/foldcache"
)

const (
	// metricFoldEvents counts the history events that folds read, also those
	// they had already: at most a fifth more than the history, over a turn.
	metricFoldEvents = "turnkeel_fold_events_read"

	// metricFoldTime is the time a fold took, reading included.
	metricFoldTime = "turnkeel_fold_seconds"
)

// Transcripts gives a running activity the fold of its own run, cut at its
// own scheduled event, so that every attempt of it sees the same.
type Transcripts interface {
	// Fold gives the fold for the caller's use alone, until it calls release,
	// once. After an error there is nothing to release.
	Fold(ctx context.Context) (run *fold.Run, release func(), err error)
}

// historyTranscripts reads the run's history from the server with the client
// that the worker itself uses.
type historyTranscripts struct{ source *foldcache.Source }

// Fold implements [Transcripts].
func (h historyTranscripts) Fold(ctx context.Context) (*fold.Run, func(), error) {
	began := time.Now()
	info := sdkactivity.GetInfo(ctx)
	f, err := h.source.At(ctx, sdkactivity.GetClient(ctx).WorkflowService(), foldcache.Place{
		Namespace: info.Namespace, WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID,
		ActivityID: info.ActivityID,
	})
	metrics := sdkactivity.GetMetricsHandler(ctx)
	metrics.Counter(metricFoldEvents).Inc(int64(f.Read))
	metrics.Timer(metricFoldTime).Record(time.Since(began))
	if err != nil {
		return nil, nil, err
	}
	return f.Run, f.Release, nil
}

// foldError is a fold that failed, as an error that crosses the boundary. A
// blob that is damaged stays so; one that is missing may be where another
// worker looks, and a server that is away comes back.
func foldError(err error) error {
	if errors.Is(err, blob.ErrCorrupt) || errors.Is(err, blob.ErrBadRef) || errors.Is(err, fold.ErrUnpack) {
		return modelError(contract.ErrBlobMissing, err)
	}
	return modelError(contract.ErrModelUnavailable, err)
}

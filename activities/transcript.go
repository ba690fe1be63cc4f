package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
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
// that the worker itself uses, and keeps the folds of recent runs.
type historyTranscripts struct {
	converter converter.DataConverter
	blobs     blob.Store // nil: none
	cache     *foldCache
}

// Fold implements [Transcripts].
func (h *historyTranscripts) Fold(ctx context.Context) (*fold.Run, func(), error) {
	began := time.Now()
	info := sdkactivity.GetInfo(ctx)
	key := runKey{info.Namespace, info.WorkflowExecution.ID, info.WorkflowExecution.RunID}
	reader := historyReader{
		service: sdkactivity.GetClient(ctx).WorkflowService(), key: key, activityID: info.ActivityID,
	}
	e, err := h.fold(ctx, &reader)
	metrics := sdkactivity.GetMetricsHandler(ctx)
	metrics.Counter(metricFoldEvents).Inc(int64(reader.read))
	metrics.Timer(metricFoldTime).Record(time.Since(began))
	if err != nil {
		return nil, nil, err
	}
	return e.run, func() { h.cache.put(key, e) }, nil
}

// fold takes the run's fold out of the cache, or begins one, and brings it to
// the reader's activity. While it is out, another attempt that overlaps this
// one reads for itself.
func (h *historyTranscripts) fold(ctx context.Context, reader *historyReader) (*folded, error) {
	e := h.cache.take(reader.key)
	switch {
	case e == nil:
		e = h.empty()
	case e.cut == reader.activityID:
		return e, nil // a retried attempt
	case e.run.Activity(reader.activityID) != nil:
		// A later step has been here: this is an attempt that should be gone.
		h.cache.put(reader.key, e)
		e = h.empty()
	}
	err := h.grow(ctx, reader, e)
	if errors.Is(err, errGap) { // of a fold that is not of this history
		e = h.empty()
		err = h.grow(ctx, reader, e)
	}
	if err != nil {
		return nil, err
	}
	return e, h.fetchBase(ctx, e.run)
}

func (h *historyTranscripts) empty() *folded { return &folded{run: fold.New(h.converter)} }

// grow adds what the history has beyond the fold, up to the activity's own
// scheduled event.
func (h *historyTranscripts) grow(ctx context.Context, reader *historyReader, e *folded) error {
	events, err := reader.since(ctx, e.run.LastID, e.batches)
	if err != nil {
		return fmt.Errorf("read the run's history: %w", err)
	}
	e.batches = reader.next(len(events))
	for _, event := range events {
		if err := e.run.Add(event); err != nil {
			return fmt.Errorf("fold the run's history: %w", err)
		}
	}
	e.cut = reader.activityID
	return nil
}

// fetchBase gives the fold the transcript it begins with, when that is a blob.
func (h *historyTranscripts) fetchBase(ctx context.Context, run *fold.Run) error {
	ref := run.BaseBlob()
	if ref == "" {
		return nil
	}
	if h.blobs == nil {
		return fmt.Errorf("%w: the turn's transcript begins in %s, and this worker has no blob store", blob.ErrNotFound, ref)
	}
	packed, err := h.blobs.Get(ctx, ref)
	if err != nil {
		return fmt.Errorf("read the transcript that the turn begins with: %w", err)
	}
	return run.SetBase(packed)
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

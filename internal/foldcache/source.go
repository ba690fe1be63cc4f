// Package foldcache gives the fold of a run as far as one of its activities
// sees it. It is worker-side: it reads histories from the server, backwards
// and only what is new, and keeps the folds of recent runs.
//
// The entry point is [Source].
package foldcache

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/internal/conversation"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// DefaultBytes is the room for folds of recent runs: some hundred turns of a
// usual size.
const DefaultBytes = 64 << 20

// Options are what a [Source] works with.
type Options struct {
	// Converter is the Temporal client's. If nil, the SDK's default.
	Converter converter.DataConverter

	// Blobs has the transcripts that are too large for an input. If nil, a run
	// that begins with one is an error.
	Blobs blob.Store

	// Bytes bounds the folds that are kept, as [fold.Run.Size] counts them. If
	// zero, [DefaultBytes]; if negative, none is kept.
	Bytes int64
}

// Source gives folds. It is safe for concurrent use.
type Source struct {
	converter converter.DataConverter
	blobs     blob.Store
	cache     *cache
}

// New makes a source with nothing in it.
func New(o Options) *Source {
	if o.Bytes == 0 {
		o.Bytes = DefaultBytes
	}
	return &Source{converter: o.Converter, blobs: o.Blobs, cache: newCache(o.Bytes)}
}

// Place is where a fold is cut: at the event that scheduled the activity.
type Place struct {
	Namespace  string
	WorkflowID string
	RunID      string
	ActivityID string // unique in the run
}

// Fold is a fold that is the caller's alone until it calls Release, once.
type Fold struct {
	Run  *fold.Run
	Read int // events that were read for it, also those that were not needed

	release func()
}

// Release gives the fold back; the caller does not touch it any more.
func (f Fold) Release() { f.release() }

// At is the fold of the run up to the place. Every attempt of an activity sees
// the same, whatever has happened since and whoever else is reading. After an
// error only Read is set, and there is nothing to release.
func (s *Source) At(ctx context.Context, service workflowservice.WorkflowServiceClient, at Place) (Fold, error) {
	r := &reader{service: service, at: at}
	e, err := s.fold(ctx, r)
	if err != nil {
		return Fold{Read: r.read}, err
	}
	return Fold{Run: e.run, Read: r.read, release: func() { s.cache.put(at.run(), e) }}, nil
}

func (p Place) run() runKey { return runKey{p.Namespace, p.WorkflowID, p.RunID} }

// fold takes the run's fold out of the cache, or begins one, and brings it to
// the reader's activity. While it is out, another attempt that overlaps this
// one reads for itself.
func (s *Source) fold(ctx context.Context, r *reader) (*folded, error) {
	e := s.cache.take(r.at.run())
	switch {
	case e == nil:
		e = s.empty()
	case e.cut == r.at.ActivityID:
		return e, nil // a retried attempt
	case e.run.Activity(r.at.ActivityID) != nil:
		// A later step has been here: this is an attempt that should be gone.
		s.cache.put(r.at.run(), e)
		e = s.empty()
	}
	err := s.grow(ctx, r, e)
	if errors.Is(err, errGap) { // of a fold that is not of this history
		e = s.empty()
		err = s.grow(ctx, r, e)
	}
	if err != nil {
		return nil, err
	}
	return e, s.fetchBase(ctx, r, e.run)
}

func (s *Source) conversation(r *reader) conversation.Reader {
	return conversation.Reader{Service: r.service, Namespace: r.at.Namespace, Converter: s.converter, Blobs: s.blobs}
}

func (s *Source) empty() *folded { return &folded{run: fold.New(s.converter)} }

// grow adds what the history has beyond the fold, up to the place.
func (s *Source) grow(ctx context.Context, r *reader, e *folded) error {
	before := r.read
	events, err := r.since(ctx, e.run.LastID, e.batches)
	if err != nil {
		return fmt.Errorf("read the run's history: %w", err)
	}
	e.batches = r.next(len(events), r.read-before)
	for _, event := range events {
		if err := e.run.Add(event); err != nil {
			return fmt.Errorf("fold the run's history: %w", err)
		}
	}
	e.cut = r.at.ActivityID
	return nil
}

// fetchBase gives the fold the transcript it begins with, when that is a blob
// or in the history of the turn's session.
func (s *Source) fetchBase(ctx context.Context, r *reader, run *fold.Run) error {
	if session := run.SessionBase(); session != nil {
		messages, err := s.conversation(r).Before(ctx, *session, run.WorkflowID)
		if err != nil {
			return err
		}
		return run.SetMessages(messages)
	}
	ref := run.BaseBlob()
	if ref == "" {
		return nil
	}
	if s.blobs == nil {
		return fmt.Errorf("%w: the turn's transcript begins in %s, and this worker has no blob store", blob.ErrNotFound, ref)
	}
	packed, err := s.blobs.Get(ctx, ref)
	if err != nil {
		return fmt.Errorf("read the transcript that the turn begins with: %w", err)
	}
	return run.SetBase(packed)
}

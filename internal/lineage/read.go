package lineage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
)

// Service is the part of a Temporal client that is read. Its calls retry what
// is worth it, as the SDK's client does.
type Service interface {
	GetWorkflowHistory(ctx context.Context, workflowID, runID string, longPoll bool,
		filter enumspb.HistoryEventFilterType) sdkclient.HistoryEventIterator
	ListWorkflow(ctx context.Context, request *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
}

// Options say how a lineage is read. The zero value is right for a worker
// with the SDK's default data converter.
type Options struct {
	// DataConverter reads payloads. If nil, the SDK's default.
	DataConverter converter.DataConverter

	// Wait bounds how long the listing of runs, which lags behind, is waited
	// for. If zero, [DefaultWait].
	Wait time.Duration
}

// Limits of a lookup.
const (
	DefaultWait = 10 * time.Second

	// maxRuns bounds the runs that one lookup reads. More are incomplete.
	maxRuns = 500

	listPause = 100 * time.Millisecond
)

// Lineage is all that could be found of one.
type Lineage struct {
	WorkflowID string
	FirstRunID string

	// Runs are in the order of their start; the one that was asked for is
	// among them, unless it could not be read.
	Runs []*Run

	// Missing are runs that others name and that are gone: retention has ended.
	Missing []string

	// Err is why a lookup failed, nil if none did. It may pass; what is Missing
	// stays so.
	Err error
}

// Complete says that no run is unaccounted for.
func (l *Lineage) Complete() bool { return len(l.Missing) == 0 && l.Err == nil }

// Run is the run of that id, nil if it was not found.
func (l *Lineage) Run(runID string) *Run {
	for _, r := range l.Runs {
		if r.RunID == runID {
			return r
		}
	}
	return nil
}

// Read finds the lineage of a run. It always returns what it found; see
// [Lineage.Complete].
func Read(ctx context.Context, c Service, workflowID, runID string, o Options) *Lineage {
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	s := &search{client: c, options: o, seen: map[string]bool{}, found: Lineage{WorkflowID: workflowID}}
	if s.found.Err = s.follow(ctx, runID); s.found.Err == nil {
		s.found.Err = s.list(ctx, runID)
	}
	slices.SortStableFunc(s.found.Runs, func(a, b *Run) int { return a.Began.Compare(b.Began) })
	return &s.found
}

// search is one lookup.
type search struct {
	client  Service
	options Options
	seen    map[string]bool
	found   Lineage
}

// follow reads a run and every run that links lead to.
func (s *search) follow(ctx context.Context, runID string) error {
	queue := []string{runID}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if id == "" || s.seen[id] {
			continue
		}
		if len(s.seen) >= maxRuns {
			return fmt.Errorf("the turn has more than %d runs", maxRuns)
		}
		s.seen[id] = true
		run, err := s.read(ctx, id)
		var gone *serviceerror.NotFound
		switch {
		case errors.As(err, &gone):
			s.found.Missing = append(s.found.Missing, id)
			continue
		case err != nil:
			return fmt.Errorf("read run %s: %w", id, err)
		case run == nil:
			continue
		}
		s.found.Runs = append(s.found.Runs, run)
		queue = append(append(queue, run.Links.runs()...), run.ResetTo)
	}
	return nil
}

// read reads one run; nil if it is of another lineage.
func (s *search) read(ctx context.Context, runID string) (*Run, error) {
	run := NewRun(runID, s.options.DataConverter)
	it := s.client.GetWorkflowHistory(ctx, s.found.WorkflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			return nil, err
		}
		if err := run.Add(event); err != nil {
			return nil, err
		}
		if s.found.FirstRunID == "" {
			s.found.FirstRunID = run.Fold.FirstRunID
		}
		if run.Fold.FirstRunID != s.found.FirstRunID {
			return nil, nil
		}
	}
	run.finish()
	described, err := s.client.DescribeWorkflowExecution(ctx, s.found.WorkflowID, runID)
	if err != nil {
		return nil, err
	}
	run.ResetTo = described.GetWorkflowExtendedInfo().GetResetRunId()
	run.Attempts = map[string]int{}
	for _, p := range described.GetPendingActivities() {
		if p.GetLastStartedTime() != nil {
			run.Attempts[p.GetActivityId()] = int(p.GetAttempt())
		}
	}
	return run, nil
}

// list follows every run of the workflow id. The listing lags behind, so it is
// believed once it shows the run that asks, which is younger than what it can
// have missed.
func (s *search) list(ctx context.Context, runID string) error {
	ids, err := s.listing(ctx, runID)
	if err != nil {
		return fmt.Errorf("list the runs of %s: %w", s.found.WorkflowID, err)
	}
	for _, id := range ids {
		if err := s.follow(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// listing waits, within bounds, for a listing that shows the run.
func (s *search) listing(ctx context.Context, runID string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Wait)
	defer cancel()
	for {
		ids, err := s.listed(ctx)
		if err == nil && slices.Contains(ids, runID) {
			return ids, nil
		}
		pause := time.NewTimer(listPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			if err == nil {
				err = fmt.Errorf("run %s does not show after %s", runID, s.options.Wait)
			}
			return nil, err
		}
	}
}

func (s *search) listed(ctx context.Context) ([]string, error) {
	var ids []string
	var page []byte
	for {
		response, err := s.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: "WorkflowId = " + quote(s.found.WorkflowID), PageSize: maxRuns, NextPageToken: page,
		})
		if err != nil {
			return nil, err
		}
		for _, e := range response.GetExecutions() {
			ids = append(ids, e.GetExecution().GetRunId())
		}
		page = response.GetNextPageToken()
		if len(page) == 0 || len(ids) > maxRuns { // too many are an error of follow
			return ids, nil
		}
	}
}

// quote writes a string of the list filter language.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

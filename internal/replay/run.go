package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"go.temporal.io/api/serviceerror"
)

// Job is what one call of a replay command does.
type Job struct {
	Runs  []string // WORKFLOW_ID or WORKFLOW_ID/RUN_ID
	Files []string // saved histories; "-" is In
	All   bool     // every open run of the types that the binary has

	// Query, Closed and Limit narrow or widen All: a further condition in
	// Temporal's list filter language, closed runs too, at most so many (0: all).
	Query  string
	Closed bool
	Limit  int

	Namespace string
	JSON      bool
	In        io.Reader
	Out       io.Writer // findings
	ErrOut    io.Writer // progress and the summary
}

// Problem is a wrong use of a replay command.
func (j Job) Problem() error {
	switch {
	case j.All && len(j.Runs)+len(j.Files) > 0:
		return errors.New("--all replays every open run: name no run and no --file beside it")
	case !j.All && len(j.Runs)+len(j.Files) == 0:
		return errors.New("name a run (WORKFLOW_ID or WORKFLOW_ID/RUN_ID), a saved history with --file, or --all")
	case !j.All && (j.Query != "" || j.Closed || j.Limit != 0):
		return errors.New("--query, --closed and --limit go with --all")
	case j.Limit < 0:
		return errors.New("--limit: want 0 or more")
	}
	return nil
}

// NeedsServer says that the job reads from a server.
func (j Job) NeedsServer() bool { return j.All || len(j.Runs) > 0 }

// Errors that Run returns beside those of the server.
var (
	ErrBreaks  = errors.New("not every run replays")
	ErrNotOurs = errors.New("nothing was replayed")
)

// Summary counts the verdicts of a job.
type Summary struct{ Replays, Breaks, NotOurs, Unreadable int }

// Sum is how many runs were looked at.
func (s Summary) Sum() int { return s.Replays + s.Breaks + s.NotOurs + s.Unreadable }

func (s *Summary) add(v Verdict) {
	switch v {
	case Replays:
		s.Replays++
	case Breaks:
		s.Breaks++
	case NotOurs:
		s.NotOurs++
	case Unreadable:
		s.Unreadable++
	}
}

// Run does a job. It returns nil when everything that is this binary's
// replays, [ErrBreaks] when something does not or could not be read,
// [ErrNotOurs] when runs were named and none is of a type that the binary has,
// what the server said when it could not be asked or has no such run, and the
// context's error when that ended. s may be nil for a job of files only.
func Run(ctx context.Context, c *Checker, s Service, j Job) (Summary, error) {
	r := &report{job: j, began: time.Now(), total: -1}
	var err error
	if j.All {
		types, every := c.Types()
		sel := selected(j.Namespace, types, every, j.Query, j.Closed)
		if r.total = count(ctx, s, j.Namespace, sel.all); j.Limit > 0 {
			r.total = min(r.total, int64(j.Limit))
		}
		err = r.all(ctx, c, s, sel)
	} else {
		err = r.named(ctx, c, s)
	}
	if err == nil {
		err = ctx.Err()
	}
	r.end(err)
	switch {
	case err != nil:
		return r.sum, err
	case r.sum.Breaks+r.sum.Unreadable > 0:
		return r.sum, fmt.Errorf("%w: %d of %d", ErrBreaks, r.sum.Breaks+r.sum.Unreadable, r.sum.Sum()-r.sum.NotOurs)
	case !j.All && r.sum.Replays == 0:
		return r.sum, fmt.Errorf("%w: this binary has none of these workflow types; use the worker that registers them", ErrNotOurs)
	}
	return r.sum, nil
}

// named replays what was named, one after the other. A run or file that is not
// there ends it.
func (r *report) named(ctx context.Context, c *Checker, s Service) error {
	for _, file := range r.job.Files {
		h, err := Saved(ctx, file, r.job.In)
		if err != nil {
			return err
		}
		if err := r.found(c.Check(Finding{File: file}, h)); err != nil {
			return err
		}
	}
	for _, name := range r.job.Runs {
		workflowID, runID := Parse(name)
		described, err := s.DescribeWorkflowExecution(ctx, workflowID, runID)
		if err != nil {
			return fmt.Errorf("find the run %s: %w", name, err)
		}
		runID = described.GetWorkflowExecutionInfo().GetExecution().GetRunId()
		h, err := History(ctx, s, workflowID, runID)
		if err != nil {
			return fmt.Errorf("read the run %s: %w", name, err)
		}
		if err := r.found(c.Check(Finding{WorkflowID: workflowID, RunID: runID}, h)); err != nil {
			return err
		}
	}
	return nil
}

// all replays what a listing finds: several at once, told in the listing's
// order.
func (r *report) all(ctx context.Context, c *Checker, s Service, sel selection) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pending := make(chan chan Finding, runtime.GOMAXPROCS(0)+1) // reading waits for the server, so one more than can compute
	listed := make(chan error, 1)
	go func() {
		defer close(pending)
		listed <- each(ctx, s, sel, r.job.Limit, func(workflowID, runID string) bool {
			one := make(chan Finding, 1)
			select {
			case pending <- one:
			case <-ctx.Done():
				return false
			}
			go func() { one <- checkRun(ctx, c, s, workflowID, runID) }()
			return true
		})
	}()
	for one := range pending {
		var f Finding
		select {
		case f = <-one:
		case <-ctx.Done(): // a long replay cannot be cut, and is not waited for
		}
		if ctx.Err() != nil {
			break
		}
		if f.Verdict == "" { // it went away after it was listed
			continue
		}
		if err := r.found(f); err != nil {
			return err
		}
	}
	if err := <-listed; err != nil {
		return err
	}
	if sel.others != "" && ctx.Err() == nil {
		r.others = count(ctx, s, sel.namespace, sel.others)
	}
	return ctx.Err()
}

// checkRun reads and replays one run. The zero verdict is a run that is gone.
func checkRun(ctx context.Context, c *Checker, s Service, workflowID, runID string) Finding {
	f := Finding{WorkflowID: workflowID, RunID: runID}
	h, err := History(ctx, s, workflowID, runID)
	var gone *serviceerror.NotFound
	switch {
	case errors.As(err, &gone):
		return f
	case err != nil:
		return unreadable(f, err.Error(), "its history could not be read: try again")
	}
	return c.Check(f, h)
}

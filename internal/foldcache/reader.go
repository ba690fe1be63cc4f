package foldcache

import (
	"context"
	"errors"
	"fmt"
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
)

const (
	// wholeBatches is a page of a history that is read from its end to its
	// beginning; the server bounds a page as well.
	wholeBatches = 256

	// usualBatches is what a step with one tool call adds: two for each of its
	// activities and workflow tasks.
	usualBatches = 6
)

// errGap says that what was read does not join what was known.
var errGap = errors.New("the history has a gap")

// reader reads a run's history backwards, from its end to what is
// known. Backwards there are only events that are written: a forward read may
// show a client events that the server has not decided on yet.
//
// The server counts a page in batches, the groups of events that were written
// at once, and does not show where one ends. So a reader learns from each step
// how many batches to ask for at the next.
type reader struct {
	service workflowservice.WorkflowServiceClient
	at      Place

	known   int64 // since's argument
	asked   int   // batches
	read    int   // events, also those known before or after the cut
	pending []*historypb.HistoryEvent
}

// since gives the events after the known one up to the activity's scheduled
// event, in order. batches is how many to ask for first; 0 for the usual.
func (r *reader) since(ctx context.Context, known int64, batches int) ([]*historypb.HistoryEvent, error) {
	r.known, r.asked, r.pending = known, 0, nil
	if batches == 0 {
		batches = usualBatches
	}
	if known == 0 {
		batches = wholeBatches
	}
	var token []byte
	for {
		resp, err := r.service.GetWorkflowExecutionHistoryReverse(ctx, &workflowservice.GetWorkflowExecutionHistoryReverseRequest{
			Namespace:       r.at.Namespace,
			Execution:       &commonpb.WorkflowExecution{WorkflowId: r.at.WorkflowID, RunId: r.at.RunID},
			MaximumPageSize: int32(batches), //nolint:gosec // small
			NextPageToken:   token,
		})
		if err != nil {
			return nil, err
		}
		r.asked += batches
		page := resp.GetHistory().GetEvents()
		oldest := r.keep(page)
		token = resp.GetNextPageToken()
		if len(page) == 0 && len(token) > 0 {
			continue
		}
		if oldest <= known+1 || len(token) == 0 {
			return r.joined()
		}
		if known > 0 { // what is missing, and rather less than that
			batches = max(1, int(oldest-1-known)/3)
		}
	}
}

// keep takes a page, newest event first, and gives the id of its oldest one.
func (r *reader) keep(page []*historypb.HistoryEvent) (oldest int64) {
	r.read += len(page)
	for _, e := range page {
		oldest = e.GetEventId()
		cut := len(r.pending) == 0 && e.GetActivityTaskScheduledEventAttributes().GetActivityId() != r.at.ActivityID
		if !cut && oldest > r.known {
			r.pending = append(r.pending, e)
		}
	}
	return oldest
}

// joined is what was kept, in order.
func (r *reader) joined() ([]*historypb.HistoryEvent, error) {
	if len(r.pending) == 0 {
		return nil, fmt.Errorf("run %s does not hold the activity %s after event %d", r.at.RunID, r.at.ActivityID, r.known)
	}
	slices.Reverse(r.pending)
	if first := r.pending[0].GetEventId(); first != r.known+1 {
		return nil, fmt.Errorf("%w: it begins with event %d after event %d", errGap, first, r.known)
	}
	return r.pending, nil
}

// next is how many batches to ask for at the next step, when it adds as many
// events as this one did: of a page that reached into what was known, as much
// as was new.
func (r *reader) next(added, read int) int {
	if r.known == 0 || read == 0 {
		return usualBatches
	}
	return min(wholeBatches, max(1, r.asked*added/read))
}

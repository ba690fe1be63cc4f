// Package conversation reads what was said in a session from the session's own
// history. It is for workers and clients; it only reads. Entry point: [Reader].
package conversation

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// Reader reads conversations. It is safe for concurrent use.
type Reader struct {
	Service   workflowservice.WorkflowServiceClient
	Namespace string

	// Converter is the Temporal client's. If nil, the SDK's default.
	Converter converter.DataConverter

	// Blobs has the parts that fit no history. If nil, such a part is an error
	// of [blob.ErrNotFound].
	Blobs blob.Store
}

// Before is what had been said when the session's run started that turn. It is
// the same whenever it is asked for, as long as Temporal keeps the run.
func (r Reader) Before(ctx context.Context, session contract.BaseRef, turnID string) ([]contract.Message, error) {
	return r.until(ctx, session, func(e *historypb.HistoryEvent) bool { return fold.Starts(e, turnID) })
}

// At is what had been said when the session's run scheduled that activity.
func (r Reader) At(ctx context.Context, session contract.BaseRef, activityID string) ([]contract.Message, error) {
	return r.until(ctx, session, func(e *historypb.HistoryEvent) bool {
		return e.GetActivityTaskScheduledEventAttributes().GetActivityId() == activityID
	})
}

func (r Reader) until(ctx context.Context, ref contract.BaseRef, last func(*historypb.HistoryEvent) bool) ([]contract.Message, error) {
	s := fold.NewSession(r.Converter)
	for token := []byte(nil); ; {
		page, err := r.Service.GetWorkflowExecutionHistory(ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
			Namespace: r.Namespace, NextPageToken: token,
			Execution: &commonpb.WorkflowExecution{WorkflowId: ref.WorkflowID, RunId: ref.RunID},
		})
		if err != nil {
			return nil, fmt.Errorf("read the history of session %s: %w", ref.WorkflowID, err)
		}
		for _, event := range page.GetHistory().GetEvents() {
			if last(event) {
				return r.said(ctx, s)
			}
			if err := s.Add(event); err != nil {
				return nil, fmt.Errorf("event %d of session %s: %w", event.GetEventId(), ref.WorkflowID, err)
			}
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return nil, fmt.Errorf("the history of session %s does not hold the event yet", ref.WorkflowID)
		}
	}
}

// said unpacks a conversation.
func (r Reader) said(ctx context.Context, s *fold.Session) ([]contract.Message, error) {
	var messages []contract.Message
	for _, p := range s.Said {
		data := p.Gzip
		if p.Blob != "" {
			if r.Blobs == nil {
				return nil, fmt.Errorf("%w: a part of the session is in %s, and there is no blob store here", blob.ErrNotFound, p.Blob)
			}
			var err error
			if data, err = r.Blobs.Get(ctx, p.Blob); err != nil {
				return nil, fmt.Errorf("read a part of the session: %w", err)
			}
		}
		t, err := fold.Unpack(data)
		if err != nil {
			return nil, err
		}
		messages = append(messages, t.Messages...)
	}
	return messages, nil
}

package activities

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/turnkeel/turnkeel/internal/fold"
)

// Transcripts gives a running model call the fold of its own run, cut at its
// own scheduled event, so that every attempt of it sees the same.
type Transcripts interface {
	Fold(ctx context.Context) (*fold.Run, error)
}

// historyTranscripts reads the run's history from the server with the client
// that the worker itself uses.
type historyTranscripts struct{ converter converter.DataConverter }

// Fold implements [Transcripts].
func (h historyTranscripts) Fold(ctx context.Context) (*fold.Run, error) {
	info := sdkactivity.GetInfo(ctx)
	client := sdkactivity.GetClient(ctx)
	it := client.GetWorkflowHistory(ctx, info.WorkflowExecution.ID, info.WorkflowExecution.RunID,
		false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	var events []*historypb.HistoryEvent
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			return nil, fmt.Errorf("read the run's history: %w", err)
		}
		events = append(events, event)
		if event.GetActivityTaskScheduledEventAttributes().GetActivityId() == info.ActivityID {
			run, err := fold.Build(events, h.converter)
			if err != nil {
				return nil, fmt.Errorf("fold the run's history: %w", err)
			}
			return run, nil
		}
	}
	return nil, fmt.Errorf("the history of run %s does not hold the activity %s yet", info.WorkflowExecution.RunID, info.ActivityID)
}

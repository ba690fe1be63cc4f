package cli

import (
	"context"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// follow reads a turn's history as it grows and tells each event of it, until
// the run is closed or ctx ends. What it returns is the fold of it all.
func follow(ctx context.Context, c sdkclient.Client, workflowID, runID string, tell func(*fold.Run, *historypb.HistoryEvent)) (*fold.Run, error) {
	return read(ctx, c, workflowID, runID, true, tell)
}

func read(ctx context.Context, c sdkclient.Client, workflowID, runID string, wait bool, tell func(*fold.Run, *historypb.HistoryEvent)) (*fold.Run, error) {
	run := fold.New(nil)
	it := c.GetWorkflowHistory(ctx, workflowID, runID, wait, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return nil, fmt.Errorf("read the history of %s: %w", workflowID, err)
		}
		if err := run.Add(event); err != nil {
			return nil, err
		}
		if tell != nil {
			tell(run, event)
		}
	}
	return run, ctx.Err()
}

// story prints a turn's events as lines for people.
func (a *app) story(run *fold.Run, e *historypb.HistoryEvent) {
	if line := storyLine(run, e); line != "" {
		a.say("%s  %s", e.GetEventTime().AsTime().Local().Format(time.TimeOnly), line)
	}
}

func storyLine(run *fold.Run, e *historypb.HistoryEvent) string {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		return startLine(run, run.Scheduled(e.GetEventId()))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		return endLine(run, run.Scheduled(e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		return endLine(run, run.Scheduled(e.GetActivityTaskFailedEventAttributes().GetScheduledEventId()))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		return endLine(run, run.Scheduled(e.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId()))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
		return endLine(run, run.Scheduled(e.GetActivityTaskCanceledEventAttributes().GetScheduledEventId()))
	default:
		return ""
	}
}

func startLine(run *fold.Run, act *fold.Activity) string {
	if act == nil {
		return ""
	}
	if tool, ok := contract.ToolOfActivity(act.Type); ok {
		in, err := run.ToolInput(act)
		if err != nil {
			return "tool   " + tool
		}
		return fmt.Sprintf("tool   %s %s  (key %.8s)", tool, contract.BoundText(in.Args, 200), in.Key)
	}
	return "model  called, step " + fmt.Sprint(len(run.Steps))
}

func endLine(run *fold.Run, act *fold.Activity) string {
	if act == nil {
		return ""
	}
	took := act.Closed.Sub(act.Scheduled).Round(time.Millisecond)
	if tool, ok := contract.ToolOfActivity(act.Type); ok {
		text, err := run.EntryText(contract.Entry{Ref: act.ID})
		if err != nil {
			text = string(act.State)
		}
		return fmt.Sprintf("tool   %s → %s  (%s%s)", tool, contract.BoundText(text, 300), took, attempts(act))
	}
	return modelLine(run, act, took)
}

func modelLine(run *fold.Run, act *fold.Activity, took time.Duration) string {
	if act.State != fold.StateCompleted {
		return fmt.Sprintf("model  %s: %s", act.State, contract.BoundText(act.Failure.GetMessage(), 300))
	}
	answer := run.Steps[len(run.Steps)-1].Answer
	line := "model  answered"
	if n := len(answer.Calls); n == 1 {
		line = "model  asks for 1 call"
	} else if n > 1 {
		line = fmt.Sprintf("model  asks for %d calls", n)
	}
	line += fmt.Sprintf("  (%s, %d tokens%s)", took, answer.Usage.Total(), attempts(act))
	if answer.Content != "" {
		line += "\n          " + contract.BoundText(answer.Content, 2_000)
	}
	return line
}

func attempts(act *fold.Activity) string {
	if act.Attempts > 1 {
		return fmt.Sprintf(", attempt %d", act.Attempts)
	}
	return ""
}

package activities

import (
	"context"

	workflowpb "go.temporal.io/api/workflow/v1"
	sdkactivity "go.temporal.io/sdk/activity"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/contract"
)

// refuse stops an AtMostOnce call that is not certainly started for the first
// time: `temporal activity pause`, `reset` and `update-options` can each start
// a call of one attempt again, and a reset does so as attempt 1.
func (a *Activities) refuse(ctx context.Context, tool string, in contract.ToolInput) error {
	if in.Class != contract.ClassAtMostOnce {
		return nil
	}
	info := sdkactivity.GetInfo(ctx)
	if info.Attempt <= 1 && !sdkactivity.HasHeartbeatDetails(ctx) {
		why := a.startedBefore(ctx, info)
		if why == "" {
			return nil
		}
		a.logger.Warn("an AtMostOnce call is refused", zap.String("tool", tool), zap.String("key", in.Key), zap.String("why", why))
	}
	return toolError(contract.ErrToolRefused, contract.OutcomeUnknown, contract.TextNotRepeated(tool), 0)
}

// startedBefore says why the call may have been started before, although its
// task says attempt 1; empty if it certainly was not. The server forgets an
// attempt that an operator resets, but not when it handed the call out last:
// that is the time the workflow scheduled it, unless something was done to it.
//
// Source: server v1.29.1 and v1.32.1, service/history/workflow/activity.go.
func (a *Activities) startedBefore(ctx context.Context, info sdkactivity.Info) string {
	described, err := a.server(ctx).DescribeWorkflowExecution(ctx, info.WorkflowExecution.ID, info.WorkflowExecution.RunID)
	if err != nil {
		return "the server cannot be asked: " + err.Error()
	}
	for _, p := range described.GetPendingActivities() {
		if p.GetActivityId() == info.ActivityID {
			return tracesOf(p, info)
		}
	}
	return "the server does not know it as pending"
}

func tracesOf(p *workflowpb.PendingActivityInfo, info sdkactivity.Info) string {
	switch {
	case p.GetAttempt() > 1 || p.GetLastFailure() != nil || p.GetLastAttemptCompleteTime() != nil:
		return "an earlier attempt has ended"
	case p.GetLastHeartbeatTime() != nil:
		return "an earlier attempt has sent heartbeats"
	case !p.GetScheduledTime().AsTime().Equal(info.ScheduledTime):
		return "an operator has made the server hand it out anew"
	default:
		return ""
	}
}

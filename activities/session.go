package activities

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	sdkactivity "go.temporal.io/sdk/activity"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// maxBaseBytes bounds the packed base in a first step's result, beside the
// answer; a larger one goes to the blob store.
const maxBaseBytes = 384 << 10

// baseOf gives the fold of a session's first step what was said before, and
// the form of it that the step records.
func (a *Activities) baseOf(ctx context.Context, in contract.CallModelInput, run *fold.Run) (*contract.Packed, error) {
	ref := run.Input.BaseOf
	if ref == nil || in.Step > 1 {
		return nil, nil
	}
	packed, messages, err := a.sessionBase(ctx, *ref)
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	run.SetMessages(messages)
	return &packed, nil
}

// sessionBase is what was said before a session's turn: read from the
// session's history once, by the turn's first step, which records it. Until
// then every attempt reads the same, up to the event that started the turn.
func (a *Activities) sessionBase(ctx context.Context, ref contract.BaseRef) (contract.Packed, []contract.Message, error) {
	turn := sdkactivity.GetInfo(ctx).WorkflowExecution.ID
	session, err := a.session(ctx, ref.WorkflowID, ref.RunID, func(e *historypb.HistoryEvent) bool { return fold.Starts(e, turn) })
	if err != nil {
		return contract.Packed{}, nil, err
	}
	messages, err := a.said(ctx, session)
	if err != nil || len(messages) == 0 {
		return contract.Packed{}, nil, err
	}
	packed, err := a.carried(ctx, contract.PackedTranscript{Messages: messages}, nil, maxBaseBytes)
	if err == nil && packed.TooLarge {
		err = modelError(contract.ErrModelContextTooLong, errors.New("what was said in this session fits no history, and this worker has no blob store"))
	}
	return packed.Transcript, messages, err
}

// PackSession is the activity [contract.ActivityPackSession]: it packs the
// conversation so far for the session's next run.
func (a *Activities) PackSession(ctx context.Context, _ contract.PackSessionInput) (contract.CarryResult, error) {
	stop := startHeartbeat(ctx, nil, heartbeatInterval)
	defer stop()
	info := sdkactivity.GetInfo(ctx)
	session, err := a.session(ctx, info.WorkflowExecution.ID, info.WorkflowExecution.RunID, func(e *historypb.HistoryEvent) bool {
		return e.GetActivityTaskScheduledEventAttributes().GetActivityId() == info.ActivityID
	})
	if err != nil {
		return contract.CarryResult{}, err
	}
	messages, err := a.said(ctx, session)
	if err != nil {
		return contract.CarryResult{}, err
	}
	return a.carried(ctx, contract.PackedTranscript{Messages: messages}, nil, contract.MaxPackedBytes)
}

// session folds a session's run up to the event that ends what is asked for.
func (a *Activities) session(ctx context.Context, workflowID, runID string, until func(*historypb.HistoryEvent) bool) (*fold.Session, error) {
	s := fold.NewSession(a.converter)
	it := sdkactivity.GetClient(ctx).GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			return nil, modelError(contract.ErrModelUnavailable, fmt.Errorf("read the history of session %s: %w", workflowID, err))
		}
		if until(event) {
			return s, nil
		}
		if err := s.Add(event); err != nil {
			return nil, modelError(contract.ErrModelBadRequest, fmt.Errorf("event %d of session %s: %w", event.GetEventId(), workflowID, err))
		}
	}
	return nil, modelError(contract.ErrModelUnavailable, fmt.Errorf("the history of session %s does not hold the event yet", workflowID))
}

// said unpacks a conversation.
func (a *Activities) said(ctx context.Context, s *fold.Session) ([]contract.Message, error) {
	var messages []contract.Message
	for _, p := range s.Said {
		data := p.Gzip
		if p.Blob != "" {
			if a.blobs == nil {
				return nil, modelError(contract.ErrBlobMissing, fmt.Errorf("a part of the session is in the blob %s, and this worker has no blob store", p.Blob))
			}
			var err error
			if data, err = a.blobs.Get(ctx, p.Blob); err != nil {
				return nil, foldError(err)
			}
		}
		t, err := fold.Unpack(data)
		if err != nil {
			return nil, foldError(err)
		}
		messages = append(messages, t.Messages...)
	}
	return messages, nil
}

// AwaitTurn is the activity [contract.ActivityAwaitTurn]: it waits for a turn
// that an earlier run of the session started, however it ends.
func (a *Activities) AwaitTurn(ctx context.Context, in contract.TurnRef) (contract.TurnResult, error) {
	stop := startHeartbeat(ctx, nil, heartbeatInterval)
	defer stop()
	var result contract.TurnResult
	err := sdkactivity.GetClient(ctx).GetWorkflow(ctx, in.TurnID, "").Get(ctx, &result)
	var execution *temporal.WorkflowExecutionError
	var gone *serviceerror.NotFound
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		if shuttingDown(ctx) {
			return result, modelError(contract.ErrModelUnavailable, errors.New("the worker was stopped while it waited"))
		}
		return result, ctx.Err()
	case errors.As(err, &gone):
		return contract.TurnResult{Status: contract.StatusFailed, Reason: "the turn is gone: its history is past retention"}, nil
	case errors.As(err, &execution):
		return endedTurn(err), nil
	default:
		return result, modelError(contract.ErrModelUnavailable, err)
	}
}

// endedTurn is the result that a failed or canceled turn carries.
func endedTurn(err error) contract.TurnResult {
	result := contract.TurnResult{Status: contract.StatusFailed}
	var app *temporal.ApplicationError
	var canceled *temporal.CanceledError
	switch {
	case errors.As(err, &app) && app.Type() == contract.ErrTurnFailed:
		_ = app.Details(&result)
	case errors.As(err, &canceled):
		result.Status = contract.StatusCanceled
		_ = canceled.Details(&result)
	}
	return result
}

// InterruptTurn is the activity [contract.ActivityInterruptTurn]. A turn that
// has ended needs no interruption.
func (a *Activities) InterruptTurn(ctx context.Context, in contract.TurnRef) (contract.Nothing, error) {
	handle, err := sdkactivity.GetClient(ctx).UpdateWorkflow(ctx, sdkclient.UpdateWorkflowOptions{
		WorkflowID: in.TurnID, UpdateName: contract.UpdateInterrupt, UpdateID: "session-interrupt",
		Args:         []any{contract.InterruptRequest{By: "session", Reason: in.Reason}},
		WaitForStage: sdkclient.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	var gone *serviceerror.NotFound
	var refused *temporal.ApplicationError
	if errors.As(err, &gone) || errors.As(err, &refused) {
		err = nil
	}
	return contract.Nothing{}, err
}

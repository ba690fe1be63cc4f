package activities

import (
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"
	sdkactivity "go.temporal.io/sdk/activity"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/conversation"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// readBase gives the fold of a session's first step what was said before, and
// says how much that is: the step records it. Later steps find it there, see
// [fold.Run.SessionBase]. Every attempt reads the same, up to the event that
// started the turn.
func (a *Activities) readBase(ctx context.Context, in contract.CallModelInput, run *fold.Run) (int, error) {
	ref := run.Input.BaseOf
	if ref == nil || in.Step > 1 {
		return 0, nil
	}
	messages, err := a.conversation(ctx).Before(ctx, *ref, sdkactivity.GetInfo(ctx).WorkflowExecution.ID)
	if err != nil {
		return 0, foldError(err)
	}
	return len(messages), run.SetMessages(messages)
}

func (a *Activities) conversation(ctx context.Context) conversation.Reader {
	return conversation.Reader{
		Service: sdkactivity.GetClient(ctx).WorkflowService(), Namespace: sdkactivity.GetInfo(ctx).Namespace,
		Converter: a.converter, Blobs: a.blobs,
	}
}

// PackSession is the activity [contract.ActivityPackSession]: it packs the
// conversation so far for the session's next run.
func (a *Activities) PackSession(ctx context.Context, _ contract.PackSessionInput) (contract.CarryResult, error) {
	stop := startHeartbeat(ctx, nil, heartbeatInterval)
	defer stop()
	info := sdkactivity.GetInfo(ctx)
	session := contract.BaseRef{WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID}
	messages, err := a.conversation(ctx).At(ctx, session, info.ActivityID)
	if err != nil {
		return contract.CarryResult{}, foldError(err)
	}
	return a.carried(ctx, contract.PackedTranscript{Messages: messages}, nil, contract.MaxPackedBytes)
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

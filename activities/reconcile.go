package activities

import (
	"context"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/mask"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// reconcile is the activity [contract.ReconcileActivity] of one tool: it looks
// up what became of a call, bounded by the input's timeout. Whatever goes wrong
// in the tool is recorded as "cannot tell". The one error is a worker that
// stops meanwhile: another may look again, since it is a read.
func (a *Activities) reconcile(ctx context.Context, tool *tooldefs.Tool, in contract.ReconcileInput) (contract.ReconcileResult, error) {
	stop := startHeartbeat(ctx, nil, heartbeatInterval)
	defer stop()
	timeout := in.Timeout.Std()
	if timeout <= 0 {
		timeout = tool.Timeout()
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if why := a.undeclared(in.Agent, tool); why != "" {
		return contract.ReconcileResult{Verdict: contract.VerdictCannotTell, Note: why}, nil
	}
	m := a.maskOf(in.Agent)
	result := tool.Reconcile(limited, a.reconcilingCall(ctx, tool, in, m), in.Args)
	result.Note = m.Text(result.Note)
	if result.Verdict == contract.VerdictCannotTell {
		if ctx.Err() != nil && shuttingDown(ctx) {
			return contract.ReconcileResult{}, temporal.NewApplicationError(
				tool.Name()+": the worker was stopped while it looked up what became of the call", contract.ErrToolTransient)
		}
		a.logger.Warn("a tool cannot tell what became of a call", zapTool(tool), zap.String("key", in.Key), zap.String("note", result.Note))
	}
	value := a.bounded(ctx, tool, maskedResult(m, contract.ToolResult{Text: result.Text, JSON: result.JSON}))
	result.Text, result.JSON = value.Text, value.JSON
	result.Truncated, result.Blob, result.Bytes = value.Truncated, value.Blob, value.Bytes
	return result, nil
}

// reconcilingCall is what the tool's Reconcile is handed: the key of the call
// in question. Its attempt counts the starts of the look-up, not of the call.
func (a *Activities) reconcilingCall(ctx context.Context, tool *tooldefs.Tool, in contract.ReconcileInput, m mask.Mask) *tooldefs.Call {
	info := sdkactivity.GetInfo(ctx)
	logger := a.logger.With(zap.String("tool", tool.Name()), zap.String("turn", info.WorkflowExecution.ID),
		zap.String("key", in.Key), zap.Bool("reconcile", true))
	return tooldefs.NewCall(tooldefs.CallInfo{
		Tool: tool.Name(), Key: in.Key, Turn: info.WorkflowExecution.ID, Session: in.Session,
		Ordinal: in.Ordinal, Attempt: int(info.Attempt),
		Logger: masked(logger, m),
		Env:    func(name string) (string, bool) { return a.env(in.Agent, name) },
	})
}

package activities

import (
	"context"
	"fmt"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/lineage"
)

// recordedCall gives what earlier runs recorded of a call, after a reset;
// settled says that the call is not to be run. It reads nothing where no reset
// can have been.
func (a *Activities) recordedCall(ctx context.Context, tool string, in contract.ToolInput) (_ contract.ToolResult, settled bool, _ error) {
	info := sdkactivity.GetInfo(ctx)
	if !in.Lineage && in.RunID == info.WorkflowExecution.RunID {
		return contract.ToolResult{}, false, nil
	}
	index, err := a.indexOf(ctx, info)
	if err != nil { // ctx has ended
		return contract.ToolResult{}, true, interrupted(ctx, tool, in)
	}
	answer := index.Call(lineage.Call{
		ActivityID: info.ActivityID, Namespace: info.Namespace, Tool: tool, Input: in,
	})
	if doubt := index.Doubt(); doubt != nil {
		a.logger.Warn("earlier runs cannot be read", zap.String("tool", tool), zap.String("key", in.Key),
			zap.String("verdict", string(answer.Verdict)), zap.Error(doubt))
	}
	switch answer.Verdict {
	case lineage.VerdictRun:
		return contract.ToolResult{}, false, nil
	case lineage.VerdictDone:
		return answer.Find.Result, true, nil
	default:
		return contract.ToolResult{}, true, recordedError(tool, answer)
	}
}

// recordedError is the failure or the unknown outcome that a run recorded, in
// the words that the model was shown then: the transcript stays the same.
func recordedError(tool string, answer lineage.Answer) error {
	f := answer.Find
	kind, outcome, text := f.Kind, f.Outcome, f.Text
	if answer.Verdict == lineage.VerdictUnknown {
		kind, outcome = contract.ErrToolUnknown, contract.OutcomeUnknown
	}
	if text == "" && f.ActivityID != "" {
		text = contract.TextUnknown(tool, "the turn was reset while it ran")
	} else if text == "" {
		text = contract.TextUnknown(tool, "earlier runs of this turn cannot be read")
	}
	return toolErrorWith(kind, contract.ToolFailure{Text: text, Outcome: outcome, FromRun: f.RunID}, 0)
}

// identify names the transcript that a model call answers. Results count as
// far as the model reads them: a continued run carries no more of them.
func (a *Activities) identify(in contract.CallModelInput, run *fold.Run) (string, error) {
	transcript, err := run.Prompt(in, a.resultChars(in, run))
	if err != nil {
		return "", err
	}
	return effect.PromptDigest(in.Step, transcript, in.WrapUp), nil
}

// recordedAnswer gives the answer that an earlier run recorded for the same
// model call, after a reset: the model, asked again, would word its arguments
// differently and so make other effects of them. A lookup that may succeed
// later is an error that is retried.
func (a *Activities) recordedAnswer(ctx context.Context, in contract.CallModelInput, run *fold.Run, digest string) (_ contract.CallModelResult, found bool, _ error) {
	info := sdkactivity.GetInfo(ctx)
	own := info.WorkflowExecution.RunID
	// A call that a reset copied has an input that knows of no reset; the
	// history's first event does.
	if !in.Lineage && (in.RunID == "" || in.RunID == own) && (run.RunID == "" || run.RunID == own) {
		return contract.CallModelResult{}, false, nil
	}
	index, err := a.indexOf(ctx, info)
	if err != nil { // ctx has ended
		return contract.CallModelResult{}, false, wireError(ctx, err, 1)
	}
	if answer, ok := index.Answer(in.Step, digest); ok {
		a.recordRun(ctx, in, &answer) // this run may begin at another step
		return answer, true, nil
	}
	if index.Passing() {
		return contract.CallModelResult{}, false, modelError(contract.ErrModelUnavailable,
			fmt.Errorf("earlier runs of the turn cannot be read: %w", index.Doubt()))
	}
	return contract.CallModelResult{}, false, nil
}

// indexOf is what the other runs of the activity's turn have recorded.
func (a *Activities) indexOf(ctx context.Context, info sdkactivity.Info) (*lineage.Index, error) {
	runID := info.WorkflowExecution.RunID
	return a.lineages.Index(ctx, runID, func(ctx context.Context) *lineage.Index {
		found := lineage.Read(ctx, a.server(ctx), info.WorkflowExecution.ID, runID, lineage.Options{DataConverter: a.converter})
		return lineage.NewIndex(found, runID)
	})
}

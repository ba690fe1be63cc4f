package workflows

import (
	"errors"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// registerInterrupt lets a person cut in: the model call and interruptible
// tools are canceled, uninterruptible ones finish, and the turn ends with a
// legal transcript.
func (t *turn) registerInterrupt(ctx workflow.Context) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateInterrupt,
		func(_ workflow.Context, r contract.InterruptRequest) (contract.InterruptReply, error) {
			if t.interrupted == nil {
				t.interrupted = &r
				t.cancelWork()
			}
			return contract.InterruptReply{Status: contract.StatusInterrupted}, nil
		},
		workflow.UpdateHandlerOptions{
			Description: "Ends the turn: what runs is canceled where it may be, and says so.",
			Validator: func(contract.InterruptRequest) error {
				if t.ended() {
					return errors.New("the turn has ended: " + string(t.result.Status))
				}
				return nil
			},
		})
}

func (t *turn) interruptReason() string {
	reason := "interrupted"
	if t.interrupted.By != "" {
		reason += " by " + contract.BoundText(t.interrupted.By, maxReasonRunes)
	}
	if t.interrupted.Reason != "" {
		reason += ": " + contract.BoundText(t.interrupted.Reason, maxReasonRunes)
	}
	return reason
}

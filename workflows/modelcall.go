package workflows

import (
	"errors"
	"strconv"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/stub"
)

// callModel asks the model for the next answer. The entries of the step
// before go with it and are nowhere else: every message is recorded once.
func (t *turn) callModel(ctx workflow.Context) (contract.CallModelResult, error) {
	if err := ctx.Err(); err != nil {
		return contract.CallModelResult{}, err
	}
	t.step++
	in := contract.CallModelInput{
		Agent:   t.in.Agent,
		Step:    t.step,
		Entries: t.entries,
		Ordinal: t.calls.ordinal + 1,
		First:   len(t.steps) == 0,
		WrapUp:  t.wrapUp,
		Stream:  t.in.Stream,
	}
	if t.step == 1 {
		in.Limits = t.in.Limits
	}
	if t.calls.lineage {
		in.RunID, in.Lineage = t.calls.runID, true
	}
	id := contract.ModelActivityID(t.step)
	t.steps = append(t.steps, contract.TranscriptStep{Model: id})
	t.running = []string{id}
	t.tell(ctx)
	ctx = workflow.WithActivityOptions(ctx, modelOptions(id, t.modelSummary(), t.limits))
	answer, err := stub.CallModel.Start(ctx, in).Result(ctx)
	t.running = nil
	if err != nil {
		return answer, err
	}
	t.entries = nil
	t.result.Usage = t.result.Usage.Add(answer.Usage)
	if answer.Agent != nil {
		t.model = answer.Agent.Model
		t.limits = answer.Agent.Limits.WithDefaults().Tighten(t.in.Limits)
	}
	if in.First {
		t.told.known = answer.Attributes
		t.calls.recorded(answer.Scope)
	}
	return answer, nil
}

func (t *turn) modelSummary() string {
	s := "step " + strconv.Itoa(t.step)
	if t.model != "" {
		s += " · " + t.model
	}
	if t.wrapUp != "" {
		s += " · wrap-up: " + t.wrapUp
	}
	return s
}

// failureType is the type of an application error, "" of others.
func failureType(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Type()
	}
	return ""
}

// failureReason is why a turn failed, in the words of the innermost error
// that has a type of ours.
func failureReason(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return contract.BoundText(app.Message(), contract.MaxErrorText)
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return "the model call timed out: " + timeout.TimeoutType().String()
	}
	return contract.BoundText(err.Error(), contract.MaxErrorText)
}

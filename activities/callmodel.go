package activities

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/wire"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// maxAnswerBytes bounds a recorded answer with its plan. A payload over 2 MiB
// is refused by the server and would be asked for again and again.
const maxAnswerBytes = 1500 << 10

// CallModel is the activity [contract.ActivityCallModel]: it folds the run's
// history into the transcript, asks the model, and plans every call of the
// answer. Planning never fails the activity: that would ask, and pay, again.
// After a reset it gives the answer that was recorded for the same transcript.
func (a *Activities) CallModel(ctx context.Context, in contract.CallModelInput) (contract.CallModelResult, error) {
	shown := streamOf(in.Stream)
	stop := startHeartbeat(ctx, shown, modelHeartbeatInterval)
	defer stop()
	run, release, err := a.transcripts.Fold(ctx)
	if err != nil {
		return contract.CallModelResult{}, foldError(err)
	}
	defer release()
	if err := a.refuseSecrets(ctx, in, run); err != nil {
		return contract.CallModelResult{}, err
	}
	before, err := a.readBase(ctx, in, run)
	if err != nil {
		return contract.CallModelResult{}, err
	}
	digest, err := a.identify(in, run)
	if err != nil {
		return contract.CallModelResult{}, modelError(contract.ErrModelBadRequest, err)
	}
	if recorded, found, err := a.recordedAnswer(ctx, in, run, digest); found || err != nil {
		return recorded, err
	}
	agent, err := a.resolveAgent(in, run)
	if err != nil {
		return contract.CallModelResult{}, err
	}
	if err := a.refuseAttachments(ctx, in, run, agent); err != nil {
		return contract.CallModelResult{}, err
	}
	result, err := a.askAndPlan(ctx, in, run, agent, shown)
	if err != nil {
		return contract.CallModelResult{}, err
	}
	result.PromptDigest = digest
	if in.Step == 1 {
		result.Agent, result.BaseSaid = &agent, before
	}
	a.recordRun(ctx, in, &result)
	return result, nil
}

// askAndPlan sends the transcript to the model and plans what it answers.
func (a *Activities) askAndPlan(ctx context.Context, in contract.CallModelInput, run *fold.Run, agent contract.Agent, shown *stream) (contract.CallModelResult, error) {
	model, modelName, err := a.modelOf(agent)
	if err != nil {
		return contract.CallModelResult{}, err
	}
	request, tools, err := a.request(in, run, agent, modelName)
	if err != nil {
		return contract.CallModelResult{}, modelError(contract.ErrModelBadRequest, err)
	}
	answer, err := a.ask(ctx, model, agent, request, shown)
	if err != nil {
		return contract.CallModelResult{}, err
	}
	result := contract.CallModelResult{
		Content:      contract.BoundText(answer.Text, maxAnswerBytes/4),
		Extra:        answer.Extra,
		Reasoning:    contract.BoundText(answer.Reasoning, 64<<10),
		Model:        answer.Model,
		FinishReason: answer.FinishReason,
		RequestID:    answer.RequestID,
		Usage:        answer.Usage,
		Origin:       answer.origin,
		Warning:      answer.warning,
	}
	if result.Content == "" {
		result.Content = contract.BoundText(answer.Refusal, contract.MaxErrorText)
	}
	if in.WrapUp == "" {
		result.Calls = a.plan(in, run, agent, tools, answer.Answer)
	}
	if size := encodedSize(result); size > maxAnswerBytes {
		return contract.CallModelResult{}, modelError(contract.ErrAnswerTooLarge,
			fmt.Errorf("the model's answer has %d bytes; at most %d can be recorded", size, maxAnswerBytes))
	}
	return result, nil
}

// recordRun adds what the first step of a run records of where it runs.
func (a *Activities) recordRun(ctx context.Context, in contract.CallModelInput, result *contract.CallModelResult) {
	if in.First {
		result.Attributes, result.Scope = a.attributes.of(ctx, a.logger), scopeOf(ctx)
	}
}

// resultChars is how much of a tool's result the model reads.
func (a *Activities) resultChars(in contract.CallModelInput, run *fold.Run) int {
	if agent := run.Agent(); agent != nil {
		return agent.Limits.WithDefaults().MaxToolResultChars
	}
	return a.agents[in.Agent].Limits.WithDefaults().Tighten(in.Limits).MaxToolResultChars
}

// resolveAgent is the worker's agent on the first step, and the recorded one
// after it: a deploy does not change a turn in flight.
func (a *Activities) resolveAgent(in contract.CallModelInput, run *fold.Run) (contract.Agent, error) {
	if in.Step > 1 {
		if agent := run.Agent(); agent != nil {
			return *agent, nil
		}
		return contract.Agent{}, modelError(contract.ErrModelBadRequest, errors.New("no earlier step recorded the agent"))
	}
	agent, ok := a.agents[in.Agent]
	if !ok {
		return contract.Agent{}, a.unknownAgent(in.Agent)
	}
	agent.Limits = agent.Limits.WithDefaults().Tighten(in.Limits)
	return agent, nil
}

func (a *Activities) unknownAgent(name string) error {
	return modelError(contract.ErrAgentUnknown, fmt.Errorf("unknown agent %q; this worker has: %s. If another worker has it, give that one a --task-queue of its own, and the turn the same",
		name, strings.Join(slices.Sorted(maps.Keys(a.agents)), ", ")))
}

// request is what the model is sent, and the tools it is shown.
func (a *Activities) request(in contract.CallModelInput, run *fold.Run, agent contract.Agent, model string) (wire.Request, []*tooldefs.Tool, error) {
	transcript, err := run.Prompt(in, agent.Limits.MaxToolResultChars)
	if err != nil {
		return wire.Request{}, nil, err
	}
	var messages []contract.Message
	if agent.Instructions != "" {
		messages = append(messages, contract.Message{Role: contract.RoleSystem, Content: agent.Instructions})
	}
	messages = append(messages, transcript...)
	request := wire.Request{
		Model: model, Temperature: agent.Temperature,
		MaxOutputTokens: agent.Limits.MaxOutputTokens, ReasoningEffort: agent.ReasoningEffort,
	}
	var tools []*tooldefs.Tool
	if in.WrapUp != "" {
		messages = append(messages, contract.Message{Role: contract.RoleUser, Content: contract.TextWrapUp(in.WrapUp)})
	} else {
		tools = a.toolsOf(agent)
		for _, t := range tools {
			request.Tools = append(request.Tools, wire.Tool{Name: t.Name(), Description: t.Description(), Schema: t.InputSchema()})
		}
	}
	request.Messages = messages
	return request, tools, nil
}

// toolsOf are the worker's current tools that the agent names.
func (a *Activities) toolsOf(agent contract.Agent) []*tooldefs.Tool {
	names := agent.Tools
	if slices.Contains(names, allTools) {
		names = a.tools.Names()
	}
	var tools []*tooldefs.Tool
	for _, name := range names {
		if t, ok := a.tools.Lookup(name); ok {
			tools = append(tools, t)
		}
	}
	return tools
}

// modelError is an error of a model call that crosses the boundary: typed,
// bounded, valid UTF-8. Only an unavailable endpoint is asked again.
func modelError(kind string, err error) error {
	message := contract.BoundText(err.Error(), contract.MaxErrorText)
	if kind == contract.ErrModelUnavailable {
		return temporal.NewApplicationError(message, kind)
	}
	return temporal.NewNonRetryableApplicationError(message, kind, nil)
}

// shuttingDown says that the worker, not the workflow, ended the activity.
func shuttingDown(ctx context.Context) bool {
	select {
	case <-sdkactivity.GetWorkerStopChannel(ctx):
		return true
	default:
		return false
	}
}

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// The repeated-input pattern: the transcript is the input of each model call.
// It is written as one writes it by hand, with nothing of ours but the message
// type, and calls no model at all: what is looked at is the history.
const (
	repeatWorkflow = "bench.Repeat"
	repeatModel    = "bench.RepeatModel"
	repeatTool     = "bench.RepeatTool"
)

func repeatTurn(ctx workflow.Context, steps int) (int, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	messages := []contract.Message{{Role: contract.RoleUser, Content: growthMessage(steps)}}
	for step := 1; ; step++ {
		var answer contract.Message
		if err := workflow.ExecuteActivity(ctx, repeatModel, messages).Get(ctx, &answer); err != nil {
			return step, err
		}
		messages = append(messages, answer)
		if len(answer.ToolCalls) == 0 || step > steps {
			return step, nil
		}
		for _, c := range answer.ToolCalls {
			var result string
			if err := workflow.ExecuteActivity(ctx, repeatTool, c.Args).Get(ctx, &result); err != nil {
				return step, err
			}
			messages = append(messages, contract.Message{Role: contract.RoleTool, ToolCallID: c.ID, Content: result})
		}
	}
}

// answerRepeat is the model of the pattern.
func answerRepeat(_ context.Context, messages []contract.Message) (contract.Message, error) {
	var steps int
	if _, err := fmt.Sscanf(messages[0].Content, growthFormat, &steps); err != nil {
		return contract.Message{}, err
	}
	answer := contract.Message{Role: contract.RoleAssistant, Content: secondText}
	if step := 1 + (len(messages)-1)/2; step <= steps {
		answer = contract.Message{Role: contract.RoleAssistant, Content: firstText, ToolCalls: []contract.ToolCall{
			{ID: fmt.Sprintf("call_%d", step), Name: growthTool, Args: growthArgs(step)},
		}}
	}
	return answer, nil
}

func runRepeatTool(context.Context, string) (string, error) { return growthResult(), nil }

func growthResult() string { return strings.Repeat("r", growthPayload) }

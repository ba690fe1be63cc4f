package main

import (
	"fmt"
	"strconv"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// bareTurn is the other side of every comparison: the loop of a turn as one
// writes it by hand in an afternoon, with nothing of ours but the payload
// types. It answers no query, shows no details, counts no limit, watches no
// loop, keeps no ledger of keys and survives no lost outcome.
//
// It schedules the very activities that our turn schedules, with the options
// of our turn written out below, and hands them the same payloads: so the
// model call folds the same history and sends the same request. The two
// differ in workflow code alone, which is what the benchmark is about. That
// they really record the same is checked in every run: see sameWork.
func bareTurn(ctx workflow.Context, in contract.TurnInput) (contract.TurnResult, error) {
	result := contract.TurnResult{Status: contract.StatusCompleted}
	runID := workflow.GetInfo(ctx).WorkflowExecution.RunID
	var entries []contract.Entry
	var model string
	for step, ordinal := 1, 1; ; step++ {
		id := "s" + strconv.Itoa(step)
		summary := "step " + strconv.Itoa(step)
		if model != "" {
			summary += " · " + model
		}
		var answer contract.CallModelResult
		err := workflow.ExecuteActivity(bareModelOptions(ctx, id, summary), contract.ActivityCallModel,
			contract.CallModelInput{Agent: in.Agent, Step: step, Entries: entries, Ordinal: ordinal}).Get(ctx, &answer)
		if err != nil {
			return result, err
		}
		if answer.Agent != nil {
			model = answer.Agent.Model
		}
		result.Steps, result.Usage = step, result.Usage.Add(answer.Usage)
		if len(answer.Calls) == 0 {
			result.Text = answer.Content
			return result, nil
		}
		if entries, err = bareCalls(ctx, in.Agent, runID, id, ordinal, answer.Calls); err != nil {
			return result, err
		}
		ordinal += len(entries)
		result.Effects.Done += len(entries)
	}
}

// bareCalls starts every call of an answer at once and waits for all: the
// benchmark's tools are parallel-safe and no more than the default width.
func bareCalls(ctx workflow.Context, agent, runID, step string, ordinal int, calls []contract.PlannedCall) ([]contract.Entry, error) {
	futures := make([]workflow.Future, len(calls))
	entries := make([]contract.Entry, len(calls))
	for i, c := range calls {
		id := step + ".c" + strconv.Itoa(ordinal+i)
		key := fmt.Sprintf("%-64s", runID+"."+id)
		entries[i] = contract.Entry{Ref: id, Outcome: contract.OutcomeDone, Key: key}
		futures[i] = workflow.ExecuteActivity(bareToolOptions(ctx, id, key, c), "tool."+c.Name, contract.ToolInput{
			Args: c.Args, Key: key, Ordinal: ordinal + i, Class: c.Run.Class, Digest: c.Run.Digest,
			Timeout: c.Run.Timeout, MaxAttempts: c.Run.MaxAttempts, Agent: agent, RunID: runID,
		})
	}
	for _, f := range futures {
		if err := f.Get(ctx, nil); err != nil { // the value stays in history
			return nil, err
		}
	}
	return entries, nil
}

// bareFinal are the SDK's own errors that our turn never retries. The list
// stands in every scheduled event, so the twin records it too.
var bareFinal = []string{contract.ErrSDKPayloadSize, contract.ErrSDKNotRegistered}

func bareModelOptions(ctx workflow.Context, id, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ActivityID: id, StartToCloseTimeout: 10 * time.Minute, HeartbeatTimeout: 3 * time.Second,
		WaitForCancellation: true, Summary: summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
			MaximumAttempts: contract.DefaultMaxModelAttempts, NonRetryableErrorTypes: bareFinal,
		},
	})
}

func bareToolOptions(ctx workflow.Context, id, key string, c contract.PlannedCall) workflow.Context {
	summary := c.Run.Summary
	if summary == "" {
		summary = c.Name
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ActivityID: id, StartToCloseTimeout: c.Run.Timeout.Std() + 5*time.Second, HeartbeatTimeout: 3 * time.Second,
		WaitForCancellation: true, Summary: summary + " · key " + key[:8],
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second,
			MaximumAttempts: int32(c.Run.MaxAttempts), NonRetryableErrorTypes: bareFinal, //nolint:gosec // small by definition
		},
	})
}

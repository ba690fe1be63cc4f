package workflows_test

import (
	"context"
	"testing"
	"time"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/workflows"
)

// sideBySide makes three calls with one override key in coroutines of its own.
func sideBySide(ctx workflow.Context) (texts []string, err error) {
	tools, err := workflows.NewTools(ctx, workflows.ToolsOptions{})
	if err != nil {
		return nil, err
	}
	texts = make([]string, 3)
	group := workflow.NewWaitGroup(ctx)
	for i := range texts {
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			value, err := tools.Call(ctx, "pay", map[string]any{"nonce": i})
			if err != nil {
				texts[i] = "error"
				return
			}
			_ = value.Get(&texts[i])
		})
	}
	group.Wait(ctx)
	return texts, nil
}

// T46, T48: calls of one override key share one execution also when a workflow
// makes them side by side. P18: a definite failure does not poison the key, and
// the calls after it still run one after the other.
func TestTools_OverrideKeySideBySide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failures int
		want     []string
	}{
		{0, []string{"paid", "paid", "paid"}},
		{1, []string{"error", "paid", "paid"}},
	} {
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestWorkflowEnvironment()
		env.SetWorkerOptions(sdkworker.Options{DeadlockDetectionTimeout: time.Minute}) // it counts wall time
		env.RegisterWorkflow(sideBySide)
		env.RegisterActivityWithOptions(func(_ context.Context, p contract.PlanCallInput) (contract.PlanCallResult, error) {
			return contract.PlanCallResult{Call: plan(p.Tool, p.Text(), func(r *contract.RunPlan) { r.Override = "order-1" })}, nil
		}, sdkactivity.RegisterOptions{Name: contract.ActivityPlanCall})
		runs := 0
		env.RegisterActivityWithOptions(func(context.Context, contract.ToolInput) (contract.ToolResult, error) {
			if runs++; runs <= c.failures {
				return contract.ToolResult{}, temporal.NewNonRetryableApplicationError("declined", contract.ErrToolFailed, nil)
			}
			return contract.ToolResult{Text: "paid"}, nil
		}, sdkactivity.RegisterOptions{Name: contract.ToolActivity("pay")})
		env.ExecuteWorkflow(sideBySide)
		var got []string
		if err := env.GetWorkflowError(); err != nil {
			t.Fatal(err)
		} else if err := env.GetWorkflowResult(&got); err != nil {
			t.Fatal(err)
		}
		paid := 0
		for _, text := range got {
			if text == "paid" {
				paid++
			}
		}
		if runs != c.failures+1 || paid != 3-c.failures {
			t.Errorf("%d executions, %v, want %v in any order", runs, got, c.want)
		}
	}
}

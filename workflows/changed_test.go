package workflows_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/turnkeel/turnkeel/contract"
)

// R07: a recorded plan is never run for another tool than the one that the
// code calls now: the workflow task fails, as it does for any other path.
func TestTools_ChangedCode(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflow(byHand)
	env.RegisterActivityWithOptions(func(context.Context, contract.PlanCallInput) (contract.PlanCallResult, error) {
		return contract.PlanCallResult{Call: plan("pay", `{}`)}, nil
	}, sdkactivity.RegisterOptions{Name: contract.ActivityPlanCall})
	env.ExecuteWorkflow(byHand, codeInput{Tool: "tip", Times: 1})
	if err := env.GetWorkflowError(); err == nil || !strings.Contains(err.Error(), `calls the tool "tip" where the history has a call of "pay"`) {
		t.Errorf("got %v", err)
	}
}

// R08: calls made side by side all ask for the scope that keys are made in: the
// one that is planned first need not come back first, and a key is the same by
// whatever a replay knows of where it runs.
func TestTools_ScopeSideBySide(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflow(sideBySide)
	var asked atomic.Int64
	env.RegisterActivityWithOptions(func(_ context.Context, p contract.PlanCallInput) (contract.PlanCallResult, error) {
		if p.First {
			asked.Add(1)
		}
		return contract.PlanCallResult{Call: plan(p.Tool, p.Text()), Scope: &contract.Scope{Namespace: "n", WorkflowID: "w"}}, nil
	}, sdkactivity.RegisterOptions{Name: contract.ActivityPlanCall})
	env.RegisterActivityWithOptions(func(context.Context, contract.ToolInput) (contract.ToolResult, error) {
		return contract.ToolResult{Text: "paid"}, nil
	}, sdkactivity.RegisterOptions{Name: contract.ToolActivity("pay")})
	env.ExecuteWorkflow(sideBySide)
	if err := env.GetWorkflowError(); err != nil || asked.Load() != 3 {
		t.Errorf("%d of 3 plans ask for the scope, %v", asked.Load(), err)
	}
}

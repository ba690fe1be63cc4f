package workflows_test

import (
	"context"
	"strings"
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

package workflows_test

import (
	"context"
	"errors"
	"testing"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/workflows"
)

// codeInput is the input of a workflow of a user's own.
type codeInput struct {
	Carried *contract.CarriedTools
	Tool    string
	Times   int
}

type codeResult struct {
	Values  []string
	Carried contract.CarriedTools
}

// byHand calls a tool by name, as a user's own workflow does.
func byHand(ctx workflow.Context, in codeInput) (codeResult, error) {
	var out codeResult
	tools, err := workflows.NewTools(ctx, workflows.ToolsOptions{Carried: in.Carried})
	if err != nil {
		return out, err
	}
	for range in.Times {
		value, err := tools.Call(ctx, in.Tool, map[string]any{"account": 9007199254740993})
		if err != nil {
			return out, err
		}
		var text string
		if err := value.Get(&text); err != nil {
			return out, err
		}
		out.Values = append(out.Values, text)
	}
	out.Carried = tools.Carry()
	return out, nil
}

func runByHand(t *testing.T, in codeInput) (codeResult, []contract.ToolInput, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflow(byHand)
	var inputs []contract.ToolInput
	env.RegisterActivityWithOptions(func(_ context.Context, p contract.PlanCallInput) (contract.PlanCallResult, error) {
		call := plan(p.Tool, p.Text())
		switch p.Tool {
		case "denied":
			call = contract.PlannedCall{Name: p.Tool, Problem: &contract.Problem{Kind: contract.ProblemPolicy, Text: "no"}}
		case "nope":
			call = contract.PlannedCall{Name: p.Tool, Problem: &contract.Problem{Kind: contract.ProblemUnknownTool, Text: "no such tool"}}
		}
		return contract.PlanCallResult{Call: call}, nil
	}, sdkactivity.RegisterOptions{Name: contract.ActivityPlanCall})
	for _, kind := range []string{"", contract.ErrToolUnknown, contract.ErrToolFailed} {
		env.RegisterActivityWithOptions(func(_ context.Context, in contract.ToolInput) (contract.ToolResult, error) {
			inputs = append(inputs, in)
			if kind != "" {
				return contract.ToolResult{}, temporal.NewNonRetryableApplicationError("text", kind, nil)
			}
			return contract.ToolResult{Text: in.Args}, nil
		}, sdkactivity.RegisterOptions{Name: contract.ToolActivity("x" + kind)})
	}
	env.ExecuteWorkflow(byHand, in)
	if err := env.GetWorkflowError(); err != nil {
		return codeResult{}, inputs, err
	}
	var out codeResult
	return out, inputs, env.GetWorkflowResult(&out)
}

// T46: code calls tools by name through the same log, with keys that go on
// over continue-as-new; every digit of an argument arrives.
func TestTools_KeysGoOn(t *testing.T) {
	t.Parallel()
	one, whole, err := runByHand(t, codeInput{Tool: "x", Times: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(one.Values) != 3 || one.Values[0] != `{"account":9007199254740993}` {
		t.Errorf("%+v", one)
	}
	two, first, err := runByHand(t, codeInput{Tool: "x", Times: 2})
	if err != nil {
		t.Fatal(err)
	}
	_, rest, err := runByHand(t, codeInput{Tool: "x", Times: 1, Carried: &two.Carried})
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range append(first, rest...) {
		if in.Key != whole[i].Key || in.Ordinal != i+1 {
			t.Errorf("call %d: key %.8s ordinal %d, want %.8s", i, in.Key, in.Ordinal, whole[i].Key)
		}
	}
}

// T46: what became of a call is a typed error. It crosses a workflow's
// boundary as an application error of that type.
func TestTools_Errors(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{
		"denied": "PolicyError", "nope": "InvalidCallError",
		"x" + contract.ErrToolUnknown: "OutcomeUnknownError", "x" + contract.ErrToolFailed: "ToolError",
	} {
		_, _, err := runByHand(t, codeInput{Tool: tool, Times: 1})
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || app.Type() != want {
			t.Errorf("%s: %v, want a %s", tool, err, want)
		}
	}
}

package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/activities"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// serving is an activity environment with these agents and tools.
func serving(t *testing.T, logger *zap.Logger, agents []contract.Agent, tools ...*tooldefs.Tool) *testsuite.TestActivityEnvironment {
	t.Helper()
	set, err := tooldefs.NewSet(tools...)
	if err != nil {
		t.Fatal(err)
	}
	acts, err := activities.New(activities.Options{
		Agents: agents, Tools: set, Logger: logger, Getenv: func(string) string { return "" },
		Env: func(agent, name string) (string, bool) { return agent + "'s " + name, true },
	})
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	acts.Register(env)
	return env
}

func planCall(t *testing.T, env *testsuite.TestActivityEnvironment, in contract.PlanCallInput) (contract.PlannedCall, error) {
	t.Helper()
	value, err := env.ExecuteActivity(contract.ActivityPlanCall, in)
	if err != nil {
		return contract.PlannedCall{}, err
	}
	var result contract.PlanCallResult
	if err := value.Get(&result); err != nil {
		t.Fatal(err)
	}
	return result.Call, nil
}

// T46: a call made by code passes the gates of a model's call, with the same
// plan, and an agent's tools and defaults are its own.
func TestT46_PlanCall(t *testing.T) {
	t.Parallel()
	nothing := func(context.Context, *tooldefs.Call, payInput) (any, error) { return nil, nil }
	other := tooldefs.Define(tooldefs.Spec[payInput, any]{Name: "other", Description: "d", Handler: nothing})
	free, err := tooldefs.Wrap(tooldefs.WrapSpec{
		Name: "free", Description: "d",
		Invoke: func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	guarded := tooldefs.Define(tooldefs.Spec[payInput, any]{
		Name: "pay", Description: "Pays.", Handler: nothing, Class: tooldefs.Keyed,
		Approval: func(in payInput) bool { return in.Amount > 10 },
	})
	env := serving(t, nil, []contract.Agent{{
		Name: "a", Tools: []string{"pay"}, OnUnknown: contract.OnUnknownAskHuman, ApprovalTimeout: contract.Duration(time.Hour),
	}}, guarded, other, free)
	got, err := planCall(t, env, contract.PlanCallInput{Agent: "a", Tool: "pay", Args: ` {"amount": 11.0} `, Ordinal: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := contract.PlannedCall{WireID: "call_3", Name: "pay", Args: `{"amount":11}`, Run: &contract.RunPlan{
		Class: contract.ClassKeyed, Effects: contract.EffectsExternal, Timeout: contract.Duration(time.Minute), MaxAttempts: 3,
		Approval:  &contract.ApprovalPlan{Reason: "the tool asks for approval", Timeout: contract.Duration(time.Hour)},
		OnUnknown: contract.OnUnknownAskHuman, AskTimeout: contract.Duration(time.Hour), Summary: `pay {"amount":11}`, Digest: guarded.ExecutionDigest(),
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct {
		in   contract.PlanCallInput
		kind contract.ProblemKind
		text string
	}{
		"another agent's tool": {contract.PlanCallInput{Agent: "a", Tool: "other", Args: `{"amount":1}`}, contract.ProblemUnknownTool, "valid tools: pay"},
		"no such tool":         {contract.PlanCallInput{Tool: "nope"}, contract.ProblemUnknownTool, "valid tools: pay, other, free"},
		"bad arguments":        {contract.PlanCallInput{Tool: "pay", Args: `{}`}, contract.ProblemArguments, "amount: is required"},
		"too large":            {contract.PlanCallInput{Tool: "free", Args: `{"a":"` + strings.Repeat("x", 300<<10) + `"}`}, contract.ProblemTooLarge, "larger than 262144 bytes"},
	} {
		got, err := planCall(t, env, c.in)
		if err != nil || got.Problem == nil || got.Problem.Kind != c.kind || !strings.Contains(got.Problem.Text, c.text) || got.Raw != "" || len(got.Args) > 1_000 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := planCall(t, env, contract.PlanCallInput{Tool: "other", Args: `{"amount":1}`}); err != nil || got.Run == nil || got.Run.OnUnknown != "" {
		t.Errorf("without an agent: %+v, %v", got, err)
	}
	_, err = planCall(t, env, contract.PlanCallInput{Agent: "b", Tool: "pay"})
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != contract.ErrAgentUnknown || !app.NonRetryable() || !strings.Contains(app.Message(), "this worker has: a") {
		t.Errorf("an unknown agent: %v", err)
	}
}

package activities

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/policy"
	"github.com/turnkeel/turnkeel/tooldefs"
)

func limited(limit contract.CallLimit) *contract.Policy {
	return &contract.Policy{Default: contract.PolicyAllow, Rules: []contract.PolicyRule{{
		ID: "few", When: contract.PolicyWhen{Tools: []string{"pay"}, OverLimit: &limit},
		Then: contract.PolicyThen{Action: contract.PolicyDeny, Reason: "no more"},
	}}}
}

func payTool() *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[struct{}, string]{Name: "pay", Description: "Pays.", Handler: func(context.Context, *tooldefs.Call, struct{}) (string, error) { return "", nil }})
}

func gateFor(t *testing.T, p *contract.Policy, run *fold.Run) *policyGate {
	t.Helper()
	a, err := New(Options{Agents: []contract.Agent{{Name: "a", Policy: p}}, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return a.policyOf(a.agents["a"], run)
}

// R30: what a turn counted in earlier runs, in this run's steps and in this
// answer is one count.
func TestR30_CountsOfAllRuns(t *testing.T) {
	t.Parallel()
	ranCall := contract.PlannedCall{Run: &contract.RunPlan{Counted: []string{"few", "other"}}}
	run := &fold.Run{
		Input: contract.TurnInput{Carried: &contract.Carried{Counted: []contract.RuleCount{{Rule: "few", Calls: 2}}}},
		Steps: []*fold.Step{
			{Answer: &contract.CallModelResult{Calls: []contract.PlannedCall{ranCall, {Problem: &contract.Problem{}}, ranCall}}}, {},
		},
	}
	want := []contract.RuleCount{{Rule: "few", Calls: 4}, {Rule: "other", Calls: 2}}
	if diff := cmp.Diff(want, countedIn(run)); diff != "" {
		t.Error(diff)
	}
	gate := gateFor(t, limited(contract.CallLimit{PerTurn: 6}), run)
	var denied []bool
	for range 3 {
		p := contract.PlannedCall{Args: "{}"}
		no := gate.denies(&p, payTool())
		if denied = append(denied, no); !no {
			p.Run = &contract.RunPlan{}
			gate.admit(&p)
		}
	}
	if diff := cmp.Diff([]bool{false, false, true}, denied); diff != "" {
		t.Error(diff)
	}
}

// R31: a recorded policy of which this worker loses a part denies everything.
func TestR31_PolicyOfALaterVersion(t *testing.T) {
	t.Parallel()
	gate := gateFor(t, limited(contract.CallLimit{PerTurn: 6}), nil)
	newer := *gate.agent.Policy
	newer.Digest = policy.Digest(contract.Policy{Default: contract.PolicyDeny})
	acts, err := New(Options{Agents: []contract.Agent{{Name: "a"}}, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	p := contract.PlannedCall{Args: "{}"}
	if !acts.policyOf(contract.Agent{Policy: &newer}, nil).denies(&p, payTool()) || p.Problem.Policy != newer.Digest {
		t.Errorf("%+v", p)
	}
}

// R30, Y01: an agent in code is checked when the worker starts.
func TestR30_AgentInCode(t *testing.T) {
	t.Parallel()
	_, err := New(Options{Agents: []contract.Agent{{Name: "a", Policy: &contract.Policy{Default: "?"}}}, Getenv: func(string) string { return "" }})
	if err == nil || !strings.Contains(err.Error(), `agent "a": policy: default "?": want allow or deny`) {
		t.Error(err)
	}
}

// Without a policy a call that its tool has approved gets the agent's terms.
func TestNoPolicy_AgentsTerms(t *testing.T) {
	t.Parallel()
	acts, err := New(Options{Agents: []contract.Agent{{Name: "a"}}, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	gate := acts.policyOf(contract.Agent{Approvers: []string{"ops"}, ApprovalTimeout: 5}, nil)
	p := contract.PlannedCall{}
	if gate.denies(&p, payTool()) {
		t.Fatal("denied without a policy")
	}
	p.Run = &contract.RunPlan{Approval: &contract.ApprovalPlan{Reason: "big"}}
	gate.admit(&p)
	if diff := cmp.Diff(&contract.RunPlan{Approval: &contract.ApprovalPlan{Reason: "big", Approvers: []string{"ops"}, Timeout: 5}}, p.Run); diff != "" {
		t.Error(diff)
	}
}

package e2e

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/policy"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type sendInput struct {
	To     string `json:"to"`
	Amount int64  `json:"amount,omitempty"`
}

// sendTool sends to ran what it is called with.
func sendTool(ran chan<- string) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[sendInput, string]{
		Name: "send", Description: "Sends money.",
		Handler: func(_ context.Context, _ *tooldefs.Call, in sendInput) (string, error) {
			ran <- in.To
			return "sent", nil
		},
	})
}

func sendCall(to string, amount any) agenttest.ScriptCall {
	return agenttest.ScriptCall{Name: "send", Args: map[string]any{"to": to, "amount": amount}}
}

func denyRule(id, reason string, when contract.PolicyWhen) contract.PolicyRule {
	return contract.PolicyRule{ID: id, When: when, Then: contract.PolicyThen{Action: contract.PolicyDeny, Reason: reason}}
}

// plans are the planned calls of a turn, and the agent it recorded.
func plans(t *testing.T, out agenttest.Outcome) ([]contract.PlannedCall, contract.Agent) {
	t.Helper()
	run, err := fold.Build(out.History.GetEvents(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var calls []contract.PlannedCall
	for _, s := range run.Steps {
		calls = append(calls, s.Answer.Calls...)
	}
	return calls, *run.Agent()
}

// T26: a call that the policy denies is answered `<tool> not allowed. reason:
// <reason>`, nothing is scheduled, and the turn goes on. R30: the number is
// compared exactly. R31: verdict, rule and the policy's digest are recorded,
// and so is the policy itself.
func TestT26_PolicyDenies(t *testing.T) {
	t.Parallel()
	ran := make(chan string, 10)
	rules := contract.Policy{Default: contract.PolicyAllow, Rules: []contract.PolicyRule{
		denyRule("too_much", "people send that much", contract.PolicyWhen{
			Tools: []string{"se*"}, Effects: []contract.Effects{contract.EffectsExternal}, Agents: []string{agenttest.AgentName},
			Args: []contract.ArgCondition{{Pointer: "/amount", GT: "9007199254740992"}},
		}),
		denyRule("abroad", "only inside the company", contract.PolicyWhen{Args: []contract.ArgCondition{{Pointer: "/to", Regex: `.*@example\.org`}}}),
	}}
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{sendTool(ran)}, Agent: contract.Agent{Policy: &rules},
		Script: agenttest.Script{Steps: []agenttest.Step{
			{Calls: []agenttest.ScriptCall{
				{Name: "send", Raw: `{"to":"a@example.com","amount":9007199254740993}`},
				{Name: "send", Raw: `{"to":"b@example.com","amount":9007199254740992}`},
				{Name: "send", Raw: `{"to":"c@example.org"}`},
				{Name: "send", Raw: `{"to":7}`},
			}},
			{Text: "one was sent"},
		}},
	})
	out := b.Run("send it")
	if out.Err != nil || out.Result.Status != contract.StatusCompleted || out.Result.Text != "one was sent" {
		t.Fatalf("%+v, %v", out.Result, out.Err)
	}
	if close(ran); len(ran) != 1 || <-ran != "b@example.com" {
		t.Error("a denied call ran")
	}
	var texts []string
	for _, m := range out.Messages {
		if m.Role == contract.RoleTool {
			texts = append(texts, m.Content)
		}
	}
	want := []string{"send not allowed. reason: people send that much", "sent", "send not allowed. reason: only inside the company"}
	if diff := cmp.Diff(want, texts[:3]); diff != "" {
		t.Error(diff)
	}
	var outcomes []contract.Outcome
	for _, e := range out.Effects {
		outcomes = append(outcomes, e.Outcome)
	}
	if diff := cmp.Diff([]contract.Outcome{contract.OutcomeDenied, contract.OutcomeDone, contract.OutcomeDenied, contract.OutcomeInvalid}, outcomes); diff != "" {
		t.Error(diff)
	}
	calls, agent := plans(t, out)
	digest := policy.Digest(rules)
	if agent.Policy == nil || agent.Policy.Digest != digest || policy.Digest(*agent.Policy) != digest {
		t.Errorf("R31: the recorded policy is %+v, want the digest %s", agent.Policy, digest)
	}
	if p := calls[0].Problem; p == nil || p.Kind != contract.ProblemPolicy || p.Rule != "too_much" || p.Policy != digest || calls[0].Run != nil {
		t.Errorf("R31: %+v", calls[0])
	}
	if r := calls[1].Run; r == nil || r.Rule != contract.PolicyDefaultRule || r.Policy != digest || r.Approval != nil {
		t.Errorf("R31: %+v", calls[1])
	}
	if p := calls[3].Problem; p == nil || p.Kind != contract.ProblemArguments || p.Rule != "" {
		t.Errorf("the policy was asked about arguments that are not valid: %+v", calls[3])
	}
}

// R30: a limit per turn counts the calls of all steps, those of the same
// answer included, and not the calls that no gate let pass.
func TestR30_LimitPerTurn(t *testing.T) {
	t.Parallel()
	ran := make(chan string, 10)
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{sendTool(ran)},
		Agent: contract.Agent{Policy: &contract.Policy{Default: contract.PolicyAllow, Rules: []contract.PolicyRule{
			denyRule("three", "no more than three a turn", contract.PolicyWhen{Tools: []string{"send"}, OverLimit: &contract.CallLimit{PerTurn: 3, PerSession: 50}}),
		}}},
		Script: agenttest.Script{Steps: []agenttest.Step{
			{Calls: []agenttest.ScriptCall{sendCall("a", 1), sendCall("b", "many"), sendCall("c", 1)}},
			{Calls: []agenttest.ScriptCall{sendCall("d", 1), sendCall("e", 1)}},
			{Calls: []agenttest.ScriptCall{sendCall("f", 1)}},
			{Text: "done"},
		}},
	})
	out := b.Run("send it")
	close(ran)
	var sent []string
	for to := range ran {
		sent = append(sent, to)
	}
	if diff := cmp.Diff([]string{"a", "c", "d"}, sent); diff != "" || out.Err != nil {
		t.Error(diff, out.Err)
	}
	calls, _ := plans(t, out)
	if !cmp.Equal(calls[0].Run.Counted, []string{"three"}) || calls[5].Problem == nil || calls[5].Problem.Rule != "three" {
		t.Errorf("%+v, %+v", calls[0].Run, calls[5])
	}
}

// R30: a limit per session counts what the session's earlier turns counted.
func TestR30_LimitPerSession(t *testing.T) {
	t.Parallel()
	ran := make(chan string, 10)
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{sendTool(ran)},
		Agent: contract.Agent{Policy: &contract.Policy{Default: contract.PolicyAllow, Rules: []contract.PolicyRule{
			denyRule("ten", "no more than ten a session", contract.PolicyWhen{Tools: []string{"send"}, OverLimit: &contract.CallLimit{PerSession: 10}}),
		}}},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{sendCall("a", 1), sendCall("b", 1)}}, {Text: "done"}}},
	})
	request := sameTurn("")
	request.Input.Counted = []contract.RuleCount{{Rule: "ten", Calls: 9}, {Rule: "gone", Calls: 99}}
	turn, err := b.Turns.Start(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	out := b.Wait(turn)
	if close(ran); len(ran) != 1 || out.Effects[1].Text != "send not allowed. reason: no more than ten a session" {
		t.Errorf("%d ran; %+v", len(ran), out.Effects)
	}
}

// R20, R31: a call that the policy wants approved waits with the policy's
// terms; a person's no is what the model sees.
func TestR31_PolicyRequiresApproval(t *testing.T) {
	t.Parallel()
	ran := make(chan string, 10)
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{sendTool(ran)},
		Agent: contract.Agent{Approvers: []string{"ops"}, Policy: &contract.Policy{Default: contract.PolicyAllow, Rules: []contract.PolicyRule{
			{ID: "ask", When: contract.PolicyWhen{Tools: []string{"send"}}, Then: contract.PolicyThen{
				Action: contract.PolicyRequireApproval, Approvers: []string{"ann"}, Timeout: contract.Duration(1e9), Message: "Is it the right account?",
			}},
		}}},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{sendCall("a", 1)}}, {Text: "done"}}},
	})
	out := b.Run("send it") // nobody decides: it expires by its own timer
	calls, _ := plans(t, out)
	got, err := json.Marshal(calls[0].Run.Approval)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"reason":"the policy's rule ask asks for it","approvers":["ann"],"timeout":"1s","message":"Is it the right account?","rule":"ask"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(ran) != 0 || out.Effects[0].Outcome != contract.OutcomeExpired || out.Result.Text != "done" {
		t.Errorf("%d ran; %+v; %+v", len(ran), out.Effects, out.Result)
	}
}

// R31: a turn keeps the policy it recorded, whatever a later deploy says.
func TestR31_ADeployDoesNotChangeTheTurn(t *testing.T) {
	t.Parallel()
	ran := make(chan string, 10)
	rules := &contract.Policy{Default: contract.PolicyAllow}
	gate, release := make(chan struct{}), make(chan struct{})
	wait := tooldefs.Define(tooldefs.Spec[struct{}, string]{
		Name: "wait", Description: "Waits.", Effects: tooldefs.None,
		Handler: func(context.Context, *tooldefs.Call, struct{}) (string, error) {
			close(gate)
			<-release
			return "waited", nil
		},
	})
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{sendTool(ran), wait}, Agent: contract.Agent{Policy: rules}, NoWorker: true,
		Script: agenttest.Script{Steps: []agenttest.Step{
			{Calls: []agenttest.ScriptCall{{Name: "wait", Args: map[string]any{}}}},
			{Calls: []agenttest.ScriptCall{sendCall("a", 1)}},
			{Text: "done"},
		}},
	})
	stop := b.StartWorker()
	turn := b.Start("send it")
	<-gate
	rules.Default = contract.PolicyDeny // the options of the workers to come
	b.StartWorker()
	close(release)
	stop()
	out := b.Wait(turn)
	if close(ran); len(ran) != 1 || out.Effects[1].Outcome != contract.OutcomeDone {
		t.Errorf("%d ran; %+v", len(ran), out.Effects)
	}
}

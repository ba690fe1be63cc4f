package activities

import (
	"fmt"

	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/policy"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// withPolicy checks an agent's policy when the worker starts, and names its
// version.
func withPolicy(agent contract.Agent) (contract.Agent, error) {
	if agent.Policy == nil {
		return agent, nil
	}
	p := *agent.Policy
	p.Digest = policy.Digest(p)
	agent.Policy = &p
	if _, err := policy.New(p); err != nil {
		return agent, fmt.Errorf("agent %q: policy: %w", agent.Name, err)
	}
	return agent, nil
}

// policyGate passes the calls of one answer by the policy that the turn has
// recorded. It decides once per call, in the order of the calls, and is not
// safe for concurrent use.
type policyGate struct {
	agent  contract.Agent
	policy *policy.Policy // nil: the agent has none, or one that cannot be read
	logger *zap.Logger

	turn, session map[string]int // what rules with a limit have counted
	verdict       policy.Verdict // on the call under way
}

// policyOf is the gate for the calls of one answer; run is what the turn has
// done so far, nil for a call made by code, where nothing is counted.
func (a *Activities) policyOf(agent contract.Agent, run *fold.Run) *policyGate {
	g := &policyGate{agent: agent, logger: a.logger, turn: map[string]int{}, session: map[string]int{}}
	if agent.Policy == nil {
		return g
	}
	var err error
	if g.policy, err = policy.New(*agent.Policy); err != nil {
		a.logger.Error("the policy of a turn cannot be read; none of its calls runs", zap.String("agent", agent.Name), zapError(err))
	}
	if run == nil {
		return g
	}
	for _, c := range countedIn(run) {
		g.turn[c.Rule] += c.Calls
	}
	for _, c := range run.Input.Counted {
		g.session[c.Rule] += c.Calls
	}
	return g
}

// countedIn is what the rules with a limit have counted in a turn, earlier
// runs of it included, in the order of the rules' first calls. It is what a
// turn carries when it continues as new.
func countedIn(run *fold.Run) []contract.RuleCount {
	var counts []contract.RuleCount
	at := map[string]int{}
	add := func(rule string, calls int) {
		i, known := at[rule]
		if !known {
			i = len(counts)
			at[rule] = i
			counts = append(counts, contract.RuleCount{Rule: rule})
		}
		counts[i].Calls += calls
	}
	if run.Input.Carried != nil {
		for _, c := range run.Input.Carried.Counted {
			add(c.Rule, c.Calls)
		}
	}
	for _, s := range run.Steps {
		if s.Answer == nil {
			continue
		}
		for _, c := range s.Answer.Calls {
			if c.Run == nil {
				continue
			}
			for _, rule := range c.Run.Counted {
				add(rule, 1)
			}
		}
	}
	return counts
}

// denies evaluates the policy for a call whose arguments are valid. A denied
// call gets its problem.
func (g *policyGate) denies(p *contract.PlannedCall, tool *tooldefs.Tool) bool {
	if g.verdict = (policy.Verdict{}); g.agent.Policy == nil {
		return false
	}
	g.verdict = g.decide(p, tool)
	if g.verdict.Action != contract.PolicyDeny {
		return false
	}
	p.Problem = problem(contract.ProblemPolicy, contract.TextPolicyDenied(tool.Name(), g.verdict.Reason))
	p.Problem.Rule, p.Problem.Policy = g.verdict.Rule, g.verdict.Policy
	return true
}

// decide denies where nothing can be decided.
func (g *policyGate) decide(p *contract.PlannedCall, tool *tooldefs.Tool) (v policy.Verdict) {
	closed := policy.Verdict{
		Action: contract.PolicyDeny, Policy: g.agent.Policy.Digest,
		Reason: "this worker cannot evaluate the policy of this turn",
	}
	if g.policy == nil {
		return closed
	}
	defer func() {
		if r := recover(); r != nil {
			g.logger.Error("evaluating a policy panicked; the call does not run", zapTool(tool), zap.Any("panic", r))
			v = closed
		}
	}()
	return g.policy.Decide(policy.Call{
		Agent: g.agent.Name, Tool: tool.Name(), Effects: tool.Effects(), Args: p.Args,
		Earlier: func(rule string) policy.Counts {
			return policy.Counts{Turn: g.turn[rule], Session: g.session[rule]}
		},
	})
}

// admit records the verdict on a call that runs, and combines its approval
// with the tool's own.
func (g *policyGate) admit(p *contract.PlannedCall) {
	if p.Run == nil {
		return // another gate stopped it: it is not counted
	}
	p.Run.Rule, p.Run.Policy, p.Run.Counted = g.verdict.Rule, g.verdict.Policy, g.verdict.Counted
	p.Run.Approval = g.verdict.Approval(p.Run.Approval, g.agent)
	for _, rule := range g.verdict.Counted {
		g.turn[rule]++
	}
}

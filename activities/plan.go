package activities

import (
	"strconv"

	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/wire"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// maxArgsBytes bounds the canonical arguments of one call: they stand twice
// in history and must fit a payload with all the others of their step.
const maxArgsBytes = 256 << 10

// plan decides about every call of an answer, in the order of the gates:
// within the step's cap, without a secret, known, parsed, valid, allowed by the policy, not too
// large. It is total: a tool author's panic stops that one call and nothing
// else.
func (a *Activities) plan(in contract.CallModelInput, run *fold.Run, agent contract.Agent,
	tools []*tooldefs.Tool, answer wire.Answer,
) []contract.PlannedCall {
	used := map[string]bool{} // by this answer
	gate := a.policyOf(agent, run)
	m := a.sureMask(agent.Name)
	calls := make([]contract.PlannedCall, len(answer.Calls))
	for i, c := range answer.Calls {
		c, secret := maskedCall(m, c)
		p := contract.PlannedCall{WireID: uniqueWireID(run, used, c.ID, in.Ordinal+i), Name: c.Name, Raw: c.Args, Extra: c.Extra}
		switch {
		case i >= agent.Limits.MaxToolCallsPerStep:
			p.Problem = problem(contract.ProblemTooMany, contract.TextTooManyCalls(agent.Limits.MaxToolCallsPerStep))
		case secret:
			p.Problem = problem(contract.ProblemArguments, contract.TextNotExecuted(p.Name, textSecretInCall))
			a.logger.Warn("a call with a variable's value in its arguments does not run; a value that is no secret can stand in the agent's file, as the default of env.optional",
				zap.String("agent", agent.Name), zap.String("tool", p.Name))
		default:
			a.planCall(&p, gate, tools, answer.Truncated && i == len(answer.Calls)-1)
		}
		calls[i] = p
	}
	return calls
}

// planCall passes one call through the gates.
func (a *Activities) planCall(p *contract.PlannedCall, gate *policyGate, tools []*tooldefs.Tool, truncated bool) {
	tool := a.allowed(p.Name, tools)
	if tool == nil {
		p.Problem = problem(contract.ProblemUnknownTool, contract.TextUnknownTool(p.Name, toolNames(tools)))
		return
	}
	if tool.Name() != p.Name {
		p.Tool = tool.Name()
	}
	raw := p.Raw
	checked := tool.Check(raw)
	p.Args = checked.Canonical
	if p.Args == raw {
		p.Raw = ""
	}
	switch {
	case truncated && (checked.Problem != "" || tool.Effects() != contract.EffectsNone):
		p.Problem = problem(contract.ProblemTruncated, contract.TextTruncatedCall())
	case checked.Problem != "":
		p.Problem = problem(contract.ProblemArguments, checked.Problem)
	case gate.denies(p, tool):
	case len(p.Args) > maxArgsBytes:
		p.Problem = problem(contract.ProblemTooLarge, contract.TextNotExecuted(tool.Name(), "its arguments are larger than "+strconv.Itoa(maxArgsBytes)+" bytes"))
	default:
		a.planRun(p, gate.agent, tool, raw)
		gate.admit(p)
	}
}

// planRun says how the call runs. A predicate sees the model's own text; an
// override key that fails closes the call.
func (a *Activities) planRun(p *contract.PlannedCall, agent contract.Agent, tool *tooldefs.Tool, raw string) {
	override, has, err := tool.OverrideKey(p.Args)
	if err != nil {
		a.logger.Warn("override key failed; the call does not run", zapTool(tool), zapError(err))
		p.Problem = problem(contract.ProblemKey, contract.TextNotExecuted(tool.Name(), "its idempotency key could not be made"))
		return
	}
	if !has {
		override = ""
	}
	p.Run = &contract.RunPlan{
		Class: tool.Class(), Effects: tool.Effects(),
		ParallelSafe:    tool.ParallelSafe(raw),
		Timeout:         contract.Duration(tool.Timeout()),
		MaxAttempts:     tool.MaxAttempts(),
		Override:        override,
		KeyScope:        string(tool.KeyScope()),
		Approval:        a.approvalOf(tool, p.Args),
		Reconcile:       tool.CanReconcile(),
		OnUnknown:       onUnknown(tool, agent),
		NoReplay:        tool.NoReplay(),
		Uninterruptible: tool.Uninterruptible(),
		MaxConcurrency:  tool.MaxConcurrency(),
		Poller:          tool.Poller(),
		TaskQueue:       tool.TaskQueue(),
		Summary:         tool.Summary(p.Args),
		Digest:          tool.ExecutionDigest(),
	}
	if p.Run.OnUnknown == contract.OnUnknownAskHuman {
		p.Run.AskTimeout = askTimeout(tool, agent)
	}
}

// approvalOf is the approval that the tool asks for; nil when it asks for none.
// What the agent and its policy add to it, the policy's gate does.
func (a *Activities) approvalOf(tool *tooldefs.Tool, args string) *contract.ApprovalPlan {
	needed, reason, err := tool.ApprovalNeeded(args)
	if err != nil {
		a.logger.Warn("the tool's rule on approval failed; approval is needed", zapTool(tool), zapError(err))
	}
	if !needed {
		return nil
	}
	return &contract.ApprovalPlan{Reason: reason, Approvers: tool.Approvers(), Timeout: contract.Duration(tool.ApprovalTimeout())}
}

// askTimeout is how long a person is asked what became of a call, by the tool's word or the agent's.
func askTimeout(tool *tooldefs.Tool, agent contract.Agent) contract.Duration {
	if own := tool.ApprovalTimeout(); own != 0 {
		return contract.Duration(own)
	}
	return agent.ApprovalTimeout
}

// onUnknown is the tool's choice, else the agent's. The outcome of a
// SafeToRetry call is never unknown: nobody is asked about it.
func onUnknown(tool *tooldefs.Tool, agent contract.Agent) contract.OnUnknown {
	if tool.OnUnknown() != contract.OnUnknownTellModel || tool.Class() == contract.ClassSafeToRetry {
		return tool.OnUnknown()
	}
	return agent.OnUnknown
}

// allowed resolves a name among the agent's own tools.
func (a *Activities) allowed(name string, tools []*tooldefs.Tool) *tooldefs.Tool {
	tool, ok := a.tools.Lookup(name)
	if !ok {
		return nil
	}
	for _, t := range tools {
		if t == tool {
			return t
		}
	}
	return nil
}

func toolNames(tools []*tooldefs.Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name()
	}
	return names
}

func problem(kind contract.ProblemKind, text string) *contract.Problem {
	return &contract.Problem{Kind: kind, Text: text}
}

// uniqueWireID keeps the endpoint's id unless it is empty or was used before
// in this turn or in what it began with: some servers repeat one id for every
// call.
func uniqueWireID(run *fold.Run, used map[string]bool, id string, ordinal int) string {
	if id == "" || len(id) > 128 {
		id = "call_" + strconv.Itoa(ordinal)
	}
	unique := id
	for n := ordinal; used[unique] || run.UsedWireID(unique); n++ {
		unique = "call_" + strconv.Itoa(n)
	}
	used[unique] = true
	return unique
}

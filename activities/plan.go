package activities

import (
	"strconv"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/wire"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// maxArgsBytes bounds the canonical arguments of one call: they stand twice
// in history and must fit a payload with all the others of their step.
const maxArgsBytes = 256 << 10

// plan decides about every call of an answer, in the order of the gates:
// known, within the step's cap, parsed, valid, allowed by the policy, not too
// large. It is total: a tool author's panic stops that one call and nothing
// else.
func (a *Activities) plan(in contract.CallModelInput, run *fold.Run, agent contract.Agent,
	tools []*tooldefs.Tool, answer wire.Answer,
) []contract.PlannedCall {
	used := wireIDs(run)
	gate := a.policyOf(agent, run)
	calls := make([]contract.PlannedCall, len(answer.Calls))
	for i, c := range answer.Calls {
		p := contract.PlannedCall{WireID: uniqueWireID(used, c.ID, in.Ordinal+i), Name: c.Name, Raw: c.Args, Extra: c.Extra}
		if i >= agent.Limits.MaxToolCallsPerStep {
			p.Problem = problem(contract.ProblemTooMany, contract.TextTooManyCalls(agent.Limits.MaxToolCallsPerStep))
		} else {
			a.planCall(&p, gate, tools, answer.Truncated && i == len(answer.Calls)-1)
		}
		calls[i] = p
	}
	return calls
}

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
	effects, class := tool.Effects(), tool.Class()
	switch {
	case truncated && (checked.Problem != "" || effects != contract.EffectsNone):
		p.Problem = problem(contract.ProblemTruncated, contract.TextTruncatedCall())
	case checked.Problem != "":
		p.Problem = problem(contract.ProblemArguments, checked.Problem)
	case gate.denies(p, tool):
	case len(p.Args) > maxArgsBytes:
		p.Problem = problem(contract.ProblemTooLarge, contract.TextNotExecuted(tool.Name(), "its arguments are larger than "+strconv.Itoa(maxArgsBytes)+" bytes"))
	default:
		a.planRun(p, tool, raw, class, effects)
		gate.admit(p)
	}
}

// planRun says how the call runs. A predicate sees the model's own text; an
// override key that fails closes the call.
func (a *Activities) planRun(p *contract.PlannedCall, tool *tooldefs.Tool, raw string, class contract.Class, effects contract.Effects) {
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
		Class: class, Effects: effects,
		ParallelSafe:    tool.ParallelSafe(raw),
		Timeout:         contract.Duration(tool.Timeout()),
		MaxAttempts:     tool.MaxAttempts(),
		Override:        override,
		KeyScope:        string(tool.KeyScope()),
		Uninterruptible: tool.Uninterruptible(),
		MaxConcurrency:  tool.MaxConcurrency(),
		Poller:          tool.Poller(),
		TaskQueue:       tool.TaskQueue(),
		Summary:         tool.Summary(p.Args),
		Digest:          tool.ExecutionDigest(),
	}
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

// wireIDs are the call ids the turn has used.
func wireIDs(run *fold.Run) map[string]bool {
	used := map[string]bool{}
	for _, s := range run.Steps {
		if s.Answer == nil {
			continue
		}
		for _, c := range s.Answer.Calls {
			used[c.WireID] = true
		}
	}
	return used
}

// uniqueWireID keeps the endpoint's id unless it is empty or was used before
// in this turn: some servers repeat one id for every call.
func uniqueWireID(used map[string]bool, id string, ordinal int) string {
	if id == "" || len(id) > 128 {
		id = "call_" + strconv.Itoa(ordinal)
	}
	unique := id
	for n := ordinal; used[unique]; n++ {
		unique = "call_" + strconv.Itoa(n)
	}
	used[unique] = true
	return unique
}

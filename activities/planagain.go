package activities

import (
	"context"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// planAgain puts into the detail how a call that was planned for another
// version of its tool would run by this one, for a person to be asked about.
// The gates are those of the plan, under the agent that the turn has recorded.
// Limits of the policy are not: the call was counted when it was planned.
//
// It puts nothing where that cannot be told: then the call just does not run.
func (a *Activities) planAgain(ctx context.Context, tool *tooldefs.Tool, in contract.ToolInput, detail *contract.ToolFailure) {
	if checked := tool.Check(in.Args); checked.Problem != "" || checked.Canonical != in.Args {
		return
	}
	agent, ok := a.agentOf(ctx, in)
	if !ok {
		return
	}
	p := contract.PlannedCall{Name: tool.Name(), Raw: in.Args}
	a.planCall(&p, a.policyOf(agent, nil), []*tooldefs.Tool{tool}, false)
	if detail.Now, detail.Problem = p.Run, p.Problem; detail.Now != nil || detail.Problem != nil {
		detail.Drift = tool.ExecutionDigest()
	}
}

// agentOf is the agent that a call is made for: as its turn has recorded it or,
// for a call made by code, as this worker has it.
func (a *Activities) agentOf(ctx context.Context, in contract.ToolInput) (contract.Agent, bool) {
	run, release, err := a.transcripts.Fold(ctx)
	if err != nil {
		a.logger.Warn("the agent of a turn cannot be read; a call whose tool has changed does not run", zapError(err))
		return contract.Agent{}, false
	}
	defer release()
	if agent := run.Agent(); agent != nil {
		return *agent, true
	}
	agent, ok := a.agents[in.Agent]
	return agent, ok || in.Agent == ""
}

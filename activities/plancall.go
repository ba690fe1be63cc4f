package activities

import (
	"context"
	"strconv"

	sdkactivity "go.temporal.io/sdk/activity"

	"github.com/turnkeel/turnkeel/contract"
)

// PlanCall is the activity [contract.ActivityPlanCall]: a call that is made by
// code passes the very gates that a model's calls pass. A call that does not
// run is a result, with its Problem; the only error is an unknown agent.
func (a *Activities) PlanCall(ctx context.Context, in contract.PlanCallInput) (contract.PlanCallResult, error) {
	agent := contract.Agent{Tools: []string{allTools}}
	if in.Agent != "" {
		var ok bool
		if agent, ok = a.agents[in.Agent]; !ok {
			return contract.PlanCallResult{}, a.unknownAgent(in.Agent)
		}
	}
	p := contract.PlannedCall{WireID: "call_" + strconv.Itoa(in.Ordinal), Name: in.Tool, Raw: in.Text()}
	a.planCall(&p, a.policyOf(agent, nil), a.toolsOf(agent), false)
	p.Raw = "" // it stands in this activity's input
	if p.Problem != nil && p.Problem.Kind == contract.ProblemTooLarge {
		p.Args = ""
	}
	result := contract.PlanCallResult{Call: p}
	if in.First {
		result.Scope = scopeOf(ctx)
	}
	return result, nil
}

// scopeOf is where the activity's workflow runs.
func scopeOf(ctx context.Context) *contract.Scope {
	info := sdkactivity.GetInfo(ctx)
	return &contract.Scope{Namespace: info.Namespace, WorkflowID: info.WorkflowExecution.ID}
}

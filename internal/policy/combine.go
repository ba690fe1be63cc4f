package policy

import (
	"github.com/turnkeel/turnkeel/contract"
)

// Approval combines what the policy asks for with the tool's own approval; nil
// is none. It only tightens: approval is needed if either asks for it, and it
// expires when the first of both would. The policy's approvers count if it
// names any, else the tool's. What neither says is as the agent says.
func (v Verdict) Approval(tool *contract.ApprovalPlan, agent contract.Agent) *contract.ApprovalPlan {
	if tool == nil && v.Action != contract.PolicyRequireApproval {
		return nil
	}
	var plan contract.ApprovalPlan
	if tool != nil {
		plan = *tool
	}
	if v.Action == contract.PolicyRequireApproval {
		plan.Rule, plan.Message = v.Rule, v.Then.Message
		plan.Reason = joined(plan.Reason, "the policy's rule "+v.Rule+" asks for it")
		if len(v.Then.Approvers) > 0 {
			plan.Approvers = v.Then.Approvers
		}
		plan.Timeout = shorter(plan.Timeout, v.Then.Timeout)
	}
	if len(plan.Approvers) == 0 {
		plan.Approvers = agent.Approvers
	}
	if plan.Timeout == 0 {
		plan.Timeout = agent.ApprovalTimeout
	}
	return &plan
}

// shorter is the shorter of two durations of which zero is for ever.
func shorter(a, b contract.Duration) contract.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
)

// askAgain asks anew for a call whose tool has changed since it was asked
// about: what a person allowed is not what would run. It is asked about, and
// then runs, as its tool is now.
func (c *caller) askAgain(ctx workflow.Context, call *toolCall) (contract.Entry, bool) {
	drift := call.drift
	call.drift, call.anew = nil, true
	if drift.Problem != nil {
		entry := problemEntry(contract.PlannedCall{Name: call.tool, Problem: drift.Problem})
		entry.Key = call.key
		return entry, false
	}
	call.redefine(drift)
	if call.plan.Run.Class == contract.ClassAtMostOnce && c.leftUnknown(call) {
		return refusedEntry(call), false
	}
	entry, ok := c.askOnce(ctx, call)
	return entry, ok && !call.settled
}

// redefine gives the call the definition that a worker has now. It keeps what
// its identity and its place in the step were made of. Histories of before the
// definition was recorded have its digest only.
func (call *toolCall) redefine(drift *contract.ToolFailure) {
	call.digest = drift.Drift
	if drift.Now == nil {
		return
	}
	was, now := *call.plan.Run, *drift.Now
	now.Override, now.KeyScope, now.TaskQueue = was.Override, was.KeyScope, was.TaskQueue
	now.ParallelSafe, now.MaxConcurrency, now.Counted = was.ParallelSafe, was.MaxConcurrency, was.Counted
	if now.Approval == nil { // a call that was asked about is asked about again
		now.Approval = was.Approval
	}
	call.plan.Run = &now
}

// leftUnknown says that an earlier use of the call's key may have taken effect.
func (c *caller) leftUnknown(call *toolCall) bool {
	if call.plan.Run.Override == "" {
		return call.was == effect.SlotUnknown
	}
	s := c.sharedOf(call.key)
	return s != nil && s.again
}

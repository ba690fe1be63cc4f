package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
	"github.com/turnkeel/turnkeel/internal/stub"
)

// toolCall is a planned call with its identity.
type toolCall struct {
	plan    contract.PlannedCall
	tool    string
	step    int
	ordinal int

	key        string
	occurrence int
	was        effect.SlotState // how the key's last use ended
	digest     string           // execution digest: of the plan, or the newer one a person approved
	cleared    string           // who settled an earlier unknown outcome as "did not happen"
	asked      *waiting

	// settled says that entry stands already: a problem, a refusal, or a
	// shared outcome.
	settled bool
	entry   contract.Entry

	lacking bool // a worker without the tool has had it

	drift  *contract.ToolFailure // what a worker has instead of the planned definition
	anew   bool                  // it was asked about again, since its tool has changed
	reason string                // the text of the last attempt's error
	value  *contract.ToolResult
}

// adopt takes a planned call in and gives it its ordinal.
func (c *caller) adopt(step int, p contract.PlannedCall) *toolCall {
	c.ordinal++
	call := &toolCall{plan: p, tool: p.ToolName(), step: step, ordinal: c.ordinal}
	if p.Problem != nil || p.Run == nil {
		call.settle(problemEntry(p))
		return call
	}
	call.digest = p.Run.Digest
	return call
}

func (call *toolCall) settle(e contract.Entry) { call.settled, call.entry = true, e }

// id is the activity id of the call's first start.
func (call *toolCall) id() string { return contract.CallActivityID(call.step, call.ordinal, 0) }

// run schedules the call and waits for what becomes of it. A call that
// certainly did nothing is scheduled again, in any class; one whose outcome is
// unknown is looked into as its tool says.
func (c *caller) run(ctx workflow.Context, call *toolCall) contract.Entry {
	if call.settled {
		return call.entry
	}
	if ctx.Err() != nil {
		return c.notStarted(call)
	}
	pause := notExecutedPause
	for again, tries := 0, 0; ; again++ {
		entry := c.attempt(ctx, call, again)
		goOn := false
		switch {
		case entry.Outcome == contract.OutcomeNotExecuted && call.drift != nil && call.asked != nil:
			entry, goOn = c.askAgain(ctx, call)
		case entry.Outcome == contract.OutcomeNotExecuted && tries < maxNotExecuted:
			goOn = c.rest(ctx, call, pause)
			pause *= 4
			tries++
		case entry.Outcome == contract.OutcomeUnknown:
			entry, goOn = c.lookInto(ctx, call, entry, again)
		}
		if !goOn {
			entry = call.last(entry)
			c.settle(call, entry)
			return entry
		}
	}
}

// rest waits before a call is scheduled again; false when the turn ends first.
func (c *caller) rest(ctx workflow.Context, call *toolCall, pause time.Duration) bool {
	timer := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{
		Summary: call.tool + " was not executed; scheduled again after " + pause.String(),
	})
	return timer.Get(ctx, nil) == nil
}

// attempt schedules the call's activity once and reads its outcome.
func (c *caller) attempt(ctx workflow.Context, call *toolCall, again int) contract.Entry {
	id := contract.CallActivityID(call.step, call.ordinal, again)
	run := *call.plan.Run
	if run.Uninterruptible {
		ctx, _ = workflow.NewDisconnectedContext(ctx)
	}
	ctx = workflow.WithActivityOptions(ctx, toolOptions(id, call.summary(), run))
	end := c.start(ctx, call)
	future := stub.Tool(call.tool).Start(ctx, c.toolInput(call))
	var receipt contract.ToolReceipt // the value itself stays in history
	err := future.Get(ctx, &receipt)
	end()
	if err == nil && c.keepValues {
		call.value = &contract.ToolResult{}
		err = future.Get(ctx, call.value)
	}
	entry := outcomeOf(call, id, err)
	entry.Key = call.key
	c.note(id, receipt.Digest)
	return entry
}

func (c *caller) toolInput(call *toolCall) contract.ToolInput {
	run := call.plan.Run
	return contract.ToolInput{
		Args:        call.plan.Args,
		Key:         call.key,
		Ordinal:     call.ordinal,
		Class:       run.Class,
		Digest:      call.digest,
		Timeout:     run.Timeout,
		MaxAttempts: run.MaxAttempts,
		Session:     c.session,
		Agent:       c.agent,
		RunID:       c.runID,
		Lineage:     c.lineage,
		Stream:      c.stream,
		Cleared:     call.cleared,
		NoReplay:    run.NoReplay,
	}
}

func (call *toolCall) summary() string {
	s := call.plan.Run.Summary
	if s == "" {
		s = call.tool
	}
	const tail = " · key "
	return boundSummaryTo(s, summaryBytes-len(tail)-8) + tail + effect.Short(call.key)
}

// notStarted is a call the turn ended before.
func (c *caller) notStarted(call *toolCall) contract.Entry {
	entry := contract.Entry{Text: contract.TextNotStarted(call.tool), Outcome: contract.OutcomeNotStarted, Key: call.key}
	if call.key != "" {
		c.settle(call, entry)
	}
	return entry
}

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
	ordinal int
	id      string // activity id; empty when nothing is to be scheduled

	key        string
	occurrence int

	// settled says that entry stands already: a problem, or a shared outcome.
	settled bool
	entry   contract.Entry
}

// prepare gives a call its ordinal and its key.
func (t *turn) prepare(p contract.PlannedCall) *toolCall {
	t.ordinal++
	c := &toolCall{plan: p, tool: p.ToolName(), ordinal: t.ordinal}
	if p.Problem != nil || p.Run == nil {
		return c.settle(problemEntry(p))
	}
	if p.Run.Override != "" {
		c.key = effect.OverrideKey(t.scopeOf(p), c.tool, p.Run.Override)
		if done, ok := t.shared[c.key]; ok {
			return c.settle(done)
		}
	} else {
		var unknown bool
		c.occurrence, unknown = t.ledger.Take(c.tool, p.Args)
		c.key = effect.Key(t.scope, c.tool, p.Args, c.occurrence)
		if unknown && p.Run.Class == contract.ClassAtMostOnce {
			t.ledger.Settle(c.tool, p.Args, c.occurrence, effect.SlotUnknown)
			return c.settle(refusedEntry(c))
		}
	}
	c.id = contract.CallActivityID(t.step, c.ordinal, 0)
	return c
}

// scopeOf is what an override key is unique in: the turn, or more where the
// tool asks for it. Then it is the system outside that deduplicates.
func (t *turn) scopeOf(p contract.PlannedCall) effect.Scope {
	switch {
	case p.Run.KeyScope == "namespace":
		return effect.Scope{Namespace: t.scope.Namespace}
	case p.Run.KeyScope == "session" && t.in.Session != "":
		return effect.Scope{Namespace: t.scope.Namespace, WorkflowID: "session:" + t.in.Session}
	default:
		return t.scope
	}
}

func (c *toolCall) settle(e contract.Entry) *toolCall {
	c.settled, c.entry = true, e
	return c
}

// run schedules the call and waits for what becomes of it. A call that
// certainly did nothing is scheduled again, in any class.
func (t *turn) run(ctx workflow.Context, c *toolCall) contract.Entry {
	if c.settled {
		return c.entry
	}
	if ctx.Err() != nil {
		return t.notStarted(c)
	}
	pause := notExecutedPause
	for again := 0; ; again++ {
		entry := t.attempt(ctx, c, again)
		if entry.Outcome != contract.OutcomeNotExecuted || again == maxNotExecuted || !t.rest(ctx, c, pause) {
			t.settle(c, entry)
			return entry
		}
		pause *= 4
	}
}

// rest waits before a call is scheduled again; false when the turn ends first.
func (t *turn) rest(ctx workflow.Context, c *toolCall, pause time.Duration) bool {
	timer := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{
		Summary: c.tool + " was not executed; scheduled again after " + pause.String(),
	})
	return timer.Get(ctx, nil) == nil
}

// attempt schedules the call's activity once and reads its outcome.
func (t *turn) attempt(ctx workflow.Context, c *toolCall, again int) contract.Entry {
	id := contract.CallActivityID(t.step, c.ordinal, again)
	run := *c.plan.Run
	if run.Uninterruptible {
		ctx, _ = workflow.NewDisconnectedContext(ctx)
	}
	ctx = workflow.WithActivityOptions(ctx, toolOptions(id, c.summary(), run))
	future := stub.Tool(c.tool).Start(ctx, t.toolInput(c))
	var receipt contract.ToolReceipt // the value itself stays in history
	err := future.Get(ctx, &receipt)
	entry := outcomeOf(c, id, err)
	entry.Key = c.key
	t.loop.note(id, receipt.Digest)
	return entry
}

func (t *turn) toolInput(c *toolCall) contract.ToolInput {
	return contract.ToolInput{
		Args:        c.plan.Args,
		Key:         c.key,
		Ordinal:     c.ordinal,
		Class:       c.plan.Run.Class,
		Digest:      c.plan.Run.Digest,
		Timeout:     c.plan.Run.Timeout,
		MaxAttempts: c.plan.Run.MaxAttempts,
		Session:     t.in.Session,
		Agent:       t.in.Agent,
		RunID:       t.runID,
		Lineage:     t.lineage,
		Stream:      t.in.Stream,
	}
}

func (c *toolCall) summary() string {
	s := c.plan.Run.Summary
	if s == "" {
		s = c.tool
	}
	const tail = " · key "
	return boundSummaryTo(s, summaryBytes-len(tail)-8) + tail + effect.Short(c.key)
}

// settle remembers what became of a call, for the keys of later ones.
func (t *turn) settle(c *toolCall, e contract.Entry) {
	if c.plan.Run.Override != "" {
		switch {
		case e.Outcome == contract.OutcomeDone:
			t.shared[c.key] = e
		case slotState(e.Outcome) == effect.SlotUnknown && c.plan.Run.Class == contract.ClassAtMostOnce:
			t.shared[c.key] = refusedEntry(c)
		}
		return
	}
	t.ledger.Settle(c.tool, c.plan.Args, c.occurrence, slotState(e.Outcome))
}

// notStarted is a call the turn ended before.
func (t *turn) notStarted(c *toolCall) contract.Entry {
	if c.plan.Run.Override == "" {
		t.ledger.Settle(c.tool, c.plan.Args, c.occurrence, effect.SlotFree)
	}
	return contract.Entry{Text: contract.TextNotStarted(c.tool), Outcome: contract.OutcomeNotStarted, Key: c.key}
}

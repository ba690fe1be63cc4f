package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
)

// caller makes tool calls, for a turn or for a workflow of a user's own: it
// gives each its identity, waits for people, schedules it and knows what
// became of it. Everything it must remember is carried over continue-as-new.
type caller struct {
	scope  effect.Scope
	scoped bool // the worker has recorded it
	runID  string

	// lineage says that an earlier run may have recorded what this one is
	// about to do: the run, or one before it, comes from a reset.
	lineage bool

	agent   string
	session string
	stream  bool

	ordinal int // the last one given
	ledger  effect.Ledger
	shared  []sharedCall // outcomes of override keys, as they came
	sharing []string     // override keys of calls that code has under way
	people  *people
	live    int // activities under way

	// changed is told when a call starts, ends, or waits for a person.
	changed func(ctx workflow.Context)
	// note is told the digest of each result.
	note func(activityID, digest string)
	// keepValues has results decoded for code that called the tool. A turn
	// leaves them in history.
	keepValues bool
}

// sharedCall is what later calls of an override key share.
type sharedCall struct {
	key     string
	entry   contract.Entry
	cleared bool // it was unknown and settled as "did not happen": the next may run
	again   bool // it is unknown, of a class that may run again under its key
	value   *contract.ToolResult
}

func newCaller(ctx workflow.Context) *caller {
	info := workflow.GetInfo(ctx)
	reset := info.OriginalRunID != "" && info.OriginalRunID != info.WorkflowExecution.RunID
	return &caller{
		scope: effect.Scope{
			Namespace:  info.Namespace,
			WorkflowID: info.WorkflowExecution.ID,
			FirstRunID: info.FirstRunID,
		},
		runID:   info.WorkflowExecution.RunID,
		lineage: reset,
		people:  &people{reset: reset, closed: func() string { return "" }},
		changed: func(workflow.Context) {},
		note:    func(string, string) {},
	}
}

// recorded takes the scope as the worker recorded it. Histories of before it
// was recorded have none.
func (c *caller) recorded(s *contract.Scope) {
	if s != nil {
		c.scoped = true
		c.scope.Namespace, c.scope.WorkflowID = s.Namespace, s.WorkflowID
	}
}

// identify gives a call its key. Calls that wait for a person are identified
// when they are asked about, all others when their batch begins.
func (c *caller) identify(call *toolCall) {
	if call.settled || call.key != "" {
		return
	}
	p := call.plan
	if p.Run.Override != "" {
		c.identifyOverride(call)
		return
	}
	if denied, ok := c.deniedBefore(call); ok {
		call.settle(denied)
		return
	}
	call.occurrence, call.was = c.ledger.Take(call.tool, p.Args)
	call.key = effect.Key(c.scope, call.tool, p.Args, call.occurrence)
	switch {
	case call.was == effect.SlotUnknown && p.Run.Class == contract.ClassAtMostOnce:
		c.ledger.Settle(call.tool, p.Args, call.occurrence, effect.SlotUnknown)
		call.settle(refusedEntry(call))
	case call.was == effect.SlotCleared:
		call.cleared = clearedByHuman
	}
}

func (c *caller) identifyOverride(call *toolCall) {
	call.key = c.overrideKey(call)
	if d, ok := c.people.denied(call.key); ok {
		call.settle(deniedBeforeEntry(call, d))
		return
	}
	if entry, ok := c.shares(call); ok {
		call.settle(entry)
	}
}

func (c *caller) overrideKey(call *toolCall) string {
	run := call.plan.Run
	return effect.OverrideKey(c.scope.Widened(run.KeyScope, c.session), call.tool, run.Override)
}

// alone waits until no other call of the same override key is under way: the
// calls share an execution, and the later finds the earlier one's outcome. A
// turn's batches see to that themselves. done ends the call; err is that the
// workflow was canceled meanwhile.
func (c *caller) alone(ctx workflow.Context, call *toolCall) (done func(), err error) {
	if call.settled || call.plan.Run.Override == "" {
		return func() {}, nil
	}
	key := c.overrideKey(call)
	if slices.Contains(c.sharing, key) && since(ctx, changeSharedCalls) {
		if err := workflow.Await(ctx, func() bool { return !slices.Contains(c.sharing, key) }); err != nil {
			return nil, err
		}
	}
	c.sharing = append(c.sharing, key)
	return func() {
		i := slices.Index(c.sharing, key)
		c.sharing = slices.Delete(c.sharing, i, i+1)
	}, nil
}

// shares gives a call of an override key the outcome of an earlier one; false
// when it is to run.
func (c *caller) shares(call *toolCall) (contract.Entry, bool) {
	s := c.sharedOf(call.key)
	switch {
	case s == nil:
		return contract.Entry{}, false
	case s.cleared:
		call.cleared = clearedByHuman
		return contract.Entry{}, false
	case s.again && call.plan.Run.Class == contract.ClassAtMostOnce:
		return refusedEntry(call), true
	case s.again:
		return contract.Entry{}, false
	}
	call.value = s.value
	return s.entry, true
}

// deniedBefore finds a person's no to an identical call of this turn.
func (c *caller) deniedBefore(call *toolCall) (contract.Entry, bool) {
	if call.plan.Run.Approval == nil {
		return contract.Entry{}, false
	}
	for i := range c.ledger.Taken(call.tool, call.plan.Args) {
		if d, ok := c.people.denied(effect.Key(c.scope, call.tool, call.plan.Args, i)); ok {
			call.key = d.Key
			return deniedBeforeEntry(call, d), true
		}
	}
	return contract.Entry{}, false
}

// settle remembers what became of a call, for the keys of later ones.
func (c *caller) settle(call *toolCall, e contract.Entry) {
	if call.plan.Run.Override == "" {
		c.ledger.Settle(call.tool, call.plan.Args, call.occurrence, effect.StateAfter(call.was, call.plan.Run.Class, e.Outcome, e.How))
		return
	}
	s := sharedCall{key: call.key, entry: e, value: call.value}
	switch {
	case e.Outcome == contract.OutcomeDone:
	case effect.StateOf(e.Outcome, e.How) == effect.SlotCleared:
		s.cleared = true
	case effect.StateOf(e.Outcome, e.How) == effect.SlotUnknown && call.plan.Run.Class == contract.ClassAtMostOnce:
		s.entry = refusedEntry(call)
	case effect.StateOf(e.Outcome, e.How) == effect.SlotUnknown:
		s.again = true // unless its tool has become AtMostOnce by then
	default:
		return // a definite failure does not poison the key
	}
	if old := c.sharedOf(call.key); old != nil {
		*old = s
		return
	}
	c.shared = append(c.shared, s)
}

func (c *caller) sharedOf(key string) *sharedCall {
	for i := range c.shared {
		if c.shared[i].key == key {
			return &c.shared[i]
		}
	}
	return nil
}

// start counts a running activity of a call; the returned func ends it.
func (c *caller) start(ctx workflow.Context, call *toolCall) (end func()) {
	c.live++
	c.people.running = append(c.people.running, call.key)
	return func() {
		c.live--
		i := slices.Index(c.people.running, call.key)
		c.people.running = slices.Delete(c.people.running, i, i+1)
		if len(c.people.pending) > 0 {
			c.changed(ctx)
		}
	}
}

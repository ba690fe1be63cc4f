package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
	"github.com/turnkeel/turnkeel/internal/stub"
)

// When a turn goes on in a new run. The server ends a run by force at 51,200
// events or 50 MiB, and suggests a new one at 4 MiB already; ours is a balance
// between those and the transcript that is carried each time.
const (
	continueEvents = 20_000
	continueBytes  = 20 << 20

	// A run that cannot be continued goes on to here and then wraps up.
	lastEvents = 45_000
	lastBytes  = 40 << 20

	// maxCarriedSlots bounds the identities that are carried: about 50 bytes
	// each, in an input that may hold 2 MiB.
	maxCarriedSlots = 8_000
)

// continueAsNew ends the run between two steps when its history has grown
// long: the error it returns is the command. Nil means that the turn goes on
// in this run.
func (t *turn) continueAsNew(ctx workflow.Context) error {
	if ctx.Err() != nil || t.ended() || !t.mustContinue(ctx) {
		return nil
	}
	carried, ok := t.carry(ctx)
	if !ok {
		t.staying = ctx.Err() == nil
		return nil
	}
	// An update may arrive while the transcript is packed; its handler has
	// recorded it by the time Await returns, and carry reads it after.
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return nil //nolint:nilerr // canceled: the loop ends the turn
	}
	if ctx.Err() != nil {
		// Who cut in meanwhile was told so. The new run would not know: an
		// activity that completes in spite of its cancellation is a success.
		return nil
	}
	carried.Calls = t.calls.carry()
	carried.Calls.Shared = resolved(carried.Calls.Shared, carried.shared)
	next := t.in
	next.Messages, next.Base, next.BasePacked, next.Carried = nil, nil, nil, &carried.Carried
	return workflow.NewContinueAsNewError(ctx, workflow.GetInfo(ctx).WorkflowType.Name, next)
}

// mustContinue says that this run's history is long enough.
func (t *turn) mustContinue(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	events, bytes := info.GetCurrentHistoryLength(), info.GetCurrentHistorySize()
	if t.staying {
		if events > lastEvents || bytes > lastBytes {
			t.lastCall("history_size")
		}
		return false
	}
	if t.in.StepsPerRun > 0 && len(t.steps) >= t.in.StepsPerRun {
		return true
	}
	return events >= continueEvents || bytes >= continueBytes || updatesRunOut(info)
}

// carrying is what is carried, with the texts of shared outcomes, which only
// the worker can resolve.
type carrying struct {
	contract.Carried
	shared []string
}

// carry has the transcript packed. It is false when nothing can be carried.
func (t *turn) carry(ctx workflow.Context) (carrying, bool) {
	in := contract.CarryInput{Step: t.step, Entries: t.entries}
	for _, s := range t.calls.shared {
		in.Shared = append(in.Shared, s.entry)
	}
	id := contract.CarryActivityID(t.step)
	ctx = workflow.WithActivityOptions(ctx, modelOptions(id, "pack the transcript for the next run", t.limits))
	packed, err := stub.Carry.Start(ctx, in).Result(ctx)
	if err != nil || packed.TooLarge || len(t.calls.ledger.Slots()) > maxCarriedSlots {
		workflow.GetLogger(ctx).Warn("the turn cannot continue in a new run and stays in this one",
			"error", err, "transcript_too_large", packed.TooLarge)
		return carrying{}, false
	}
	return carrying{shared: packed.Shared, Carried: contract.Carried{
		Transcript: packed.Transcript,
		Counted:    packed.Counted,
		Runs:       t.runs,
		Step:       t.step,
		Began:      t.clock.began,
		Parked:     contract.Duration(t.clock.parked),
		Model:      t.model,
		Limits:     t.limits,
		Loop:       t.loop.carry(),
		Usage:      t.result.Usage,
		Effects:    t.result.Effects,
		WrapUp:     t.wrapUp,
		Ending:     t.ending,
		Told:       t.told.carry(),
	}}, true
}

// packForSession puts what was said into the result, for the session's next
// turn. A turn that ends badly, or before its first model call, was part of the
// conversation too; one that held a secret is not.
func (t *turn) packForSession(ctx workflow.Context) {
	if t.unsaid || t.in.BaseOf == nil || len(t.steps) == 0 && !since(ctx, changeUnaskedTurns) {
		return
	}
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	ctx = workflow.WithActivityOptions(ctx, modelOptions(contract.CarryActivityID(t.step), "pack what was said for the session", t.limits))
	packed, err := stub.Carry.Start(ctx, contract.CarryInput{Step: t.step, Entries: t.entries, OnlyNew: true}).Result(ctx)
	if err != nil {
		workflow.GetLogger(ctx).Warn("what was said in this turn is not in its result", "error", err)
		return
	}
	if !packed.TooLarge {
		t.result.Messages = &packed.Transcript
	}
	t.result.Counted = packed.Counted
}

// restore takes up where the run before left.
func (t *turn) restore(c contract.Carried) {
	t.runs, t.step = c.Runs+1, c.Step
	t.model, t.limits = c.Model, c.Limits
	t.clock.began, t.clock.parked = c.Began, c.Parked.Std()
	t.loop.restore(c.Loop)
	t.result.Usage, t.result.Effects = c.Usage, c.Effects
	t.wrapUp, t.ending = c.WrapUp, c.Ending
	t.told.restore(c.Told)
	t.calls.restore(c.Calls)
}

// carry is what the calls so far mean for later ones.
func (c *caller) carry() contract.CarriedTools {
	carried := contract.CarriedTools{
		Ordinal: c.ordinal,
		Slots:   c.ledger.Slots(),
		Lineage: c.lineage,
		Decided: c.people.decided, Held: c.people.held,
		Resolved: c.people.resolved, HeldVerdicts: c.people.heldSays,
	}
	for _, s := range c.shared {
		carried.Shared = append(carried.Shared, contract.CarriedShared{
			Key: s.key, Outcome: s.entry.Outcome, Text: s.entry.Text, Cleared: s.cleared, Again: s.again, Value: s.value,
		})
	}
	return carried
}

func (c *caller) restore(carried contract.CarriedTools) {
	c.ordinal, c.lineage = carried.Ordinal, c.lineage || carried.Lineage
	c.ledger = effect.NewLedger(carried.Slots)
	c.people.decided, c.people.held = carried.Decided, carried.Held
	c.people.resolved, c.people.heldSays = carried.Resolved, carried.HeldVerdicts
	for _, r := range carried.HeldResolves {
		c.people.heldSays = append(c.people.heldSays, contract.HeldVerdict{Request: r})
	}
	for _, s := range carried.Shared {
		c.shared = append(c.shared, sharedCall{
			key: s.Key, cleared: s.Cleared, again: s.Again, value: s.Value,
			entry: contract.Entry{Outcome: s.Outcome, Text: s.Text, Key: s.Key},
		})
	}
}

// resolved puts the words of shared outcomes in place of their references,
// which mean nothing in another run.
func resolved(shared []contract.CarriedShared, texts []string) []contract.CarriedShared {
	for i := range shared {
		if i < len(texts) {
			shared[i].Text = texts[i]
		}
	}
	return shared
}

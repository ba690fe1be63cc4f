package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// runCalls runs the calls of one answer and leaves one entry for each, in
// source order whatever the order they finished in.
func (t *turn) runCalls(ctx workflow.Context, planned []contract.PlannedCall) {
	calls := make([]*toolCall, len(planned))
	for i, p := range planned {
		calls[i] = t.calls.adopt(t.step, p)
	}
	t.calls.askAll(ctx, calls)
	entries := make([]contract.Entry, len(calls))
	for start := 0; start < len(calls); {
		end := batchEnd(planned, start)
		t.runBatch(ctx, calls[start:end], entries[start:end])
		start = end
	}
	twoCount := func() bool { return since(ctx, changeLoopsOfTwo) }
	for i, p := range planned {
		t.result.Effects = t.result.Effects.Add(entries[i].Outcome)
		t.loop.see(p, &entries[i], twoCount)
	}
	t.entries = entries
	t.steps[len(t.steps)-1].Calls = entries
}

// batchEnd is where the batch that begins at start ends: after the longest
// run of parallel-safe calls, or after one serial call, which is a barrier.
// Two calls with one override key share an execution, so the second begins a
// batch of its own and finds the first one's outcome.
func batchEnd(calls []contract.PlannedCall, start int) int {
	if !parallel(calls[start]) {
		return start + 1
	}
	end := start + 1
	for end < len(calls) && parallel(calls[end]) && !sharesKey(calls[start:end], calls[end]) {
		end++
	}
	return end
}

// parallel says that a call may run beside others. One that does not run at
// all is no barrier.
func parallel(c contract.PlannedCall) bool { return c.Run == nil || c.Run.ParallelSafe }

func sharesKey(batch []contract.PlannedCall, c contract.PlannedCall) bool {
	if c.Run == nil || c.Run.Override == "" {
		return false
	}
	for _, b := range batch {
		if b.Run != nil && b.Run.Override == c.Run.Override && b.ToolName() == c.ToolName() {
			return true
		}
	}
	return false
}

// runBatch runs calls side by side, at most the limit at a time. Keys are
// given in source order before the first one starts, so they do not depend on
// which finishes first.
func (t *turn) runBatch(ctx workflow.Context, calls []*toolCall, entries []contract.Entry) {
	t.running = nil
	for _, call := range calls {
		if t.calls.identify(call); !call.settled {
			t.running = append(t.running, call.id())
		}
	}
	t.tell(ctx)
	defer func() { t.running = nil }()
	if len(calls) == 1 {
		entries[0] = t.runOne(ctx, calls[0], nil, nil)
		return
	}
	slots := workflow.NewSemaphore(ctx, int64(max(1, t.limits.MaxToolConcurrency)))
	caps := toolCaps(ctx, calls)
	group := workflow.NewWaitGroup(ctx)
	for i, call := range calls {
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			entries[i] = t.runOne(ctx, call, caps[call.tool], slots)
		})
	}
	// The group is waited for even when the turn is canceled: every call says
	// what became of it.
	wait, _ := workflow.NewDisconnectedContext(ctx)
	group.Wait(wait)
}

// toolCaps gives the semaphore of each tool that has a cap of its own.
func toolCaps(ctx workflow.Context, calls []*toolCall) map[string]workflow.Semaphore {
	caps := map[string]workflow.Semaphore{} // looked up by name only
	for _, c := range calls {
		if run := c.plan.Run; run != nil && run.MaxConcurrency > 0 && caps[c.tool] == nil {
			caps[c.tool] = workflow.NewSemaphore(ctx, int64(run.MaxConcurrency))
		}
	}
	return caps
}

// runOne runs a call once a person allows it, where one must, and its tool's
// own cap and the turn's have room; the tool's first, so that a call waiting
// for it takes no room from others.
func (t *turn) runOne(ctx workflow.Context, call *toolCall, toolCap, slots workflow.Semaphore) contract.Entry {
	if entry, ok := t.calls.approved(ctx, call); !ok || call.settled {
		return entry
	}
	for _, s := range []workflow.Semaphore{toolCap, slots} {
		if s == nil {
			continue
		}
		if err := s.Acquire(ctx, 1); err != nil {
			return t.calls.notStarted(call)
		}
		defer s.Release(1)
	}
	return t.calls.run(ctx, call)
}

package lineage

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
)

type pending = *workflowpb.PendingActivityInfo

// waitPending waits until the turn's one pending activity is as ok says.
func (w *world) waitPending(t *testing.T, turn *turnkeel.Turn, ok func(pending) bool) pending {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for range poll.C {
		described, err := w.Temporal.DescribeWorkflow(t.Context(), turn.ID, turn.RunID)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range described.RawResponse.GetPendingActivities() {
			if ok(p) {
				return p
			}
		}
	}
	return nil // a ticker's channel is never closed
}

func item(i int) string { return fmt.Sprintf("item-%d", i) }

// hangOnce is hangTimes for one request.
func hangOnce(step int, there chan<- struct{}, free <-chan struct{}) func(context.Context, agenttest.ModelRequest) *agenttest.Step {
	return hangTimes(1, step, there, free)
}

// hangTimes leaves the first requests for a step, as many as it is told,
// without an answer until free is closed, and says when each is there.
func hangTimes(times, step int, there chan<- struct{}, free <-chan struct{}) func(context.Context, agenttest.ModelRequest) *agenttest.Step {
	var hung atomic.Int32
	return func(ctx context.Context, r agenttest.ModelRequest) *agenttest.Step {
		if r.Step == step && int(hung.Add(1)) <= times {
			there <- struct{}{}
			select {
			case <-free:
			case <-ctx.Done():
			}
		}
		return nil
	}
}

// chargeWhatWasRead plays a model that charges the price it read, and one more
// call that does not depend on it.
func chargeWhatWasRead(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
	if r.Step != 2 {
		return nil
	}
	price := r.Messages[len(r.Messages)-1].Content
	var c []agenttest.ScriptCall
	if price == "2" { // an unrelated call before it
		c = append(c, call(read, "extra"))
	}
	return &agenttest.Step{Calls: append(c, call(once, "charge "+price), call(once, "always"))}
}

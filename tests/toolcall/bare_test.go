package toolcall

import (
	"context"
	"crypto/rand"
	"strconv"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	sdkactivity "go.temporal.io/sdk/activity"
	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
)

// bareBatch is what the benchmark compares with: so many activities of one
// length, so many at a time, as one writes it by hand with Temporal alone.
type bareBatch struct {
	Calls, Wide int
	Each        time.Duration
}

func runBareBatch(ctx workflow.Context, in bareBatch) error {
	slots := workflow.NewSemaphore(ctx, int64(in.Wide))
	group := workflow.NewWaitGroup(ctx)
	var failed error
	for i := range in.Calls {
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			if err := slots.Acquire(ctx, 1); err != nil {
				failed = err
				return
			}
			defer slots.Release(1)
			ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
				ActivityID: strconv.Itoa(i), StartToCloseTimeout: time.Minute,
			})
			if err := workflow.ExecuteActivity(ctx, "sleep", in.Each).Get(ctx, nil); err != nil {
				failed = err
			}
		})
	}
	group.Wait(ctx)
	return failed
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// bareWorker serves bareBatch on a queue of its own, with our worker options.
func bareWorker(b *testing.B, c sdkclient.Client) (queue string) {
	b.Helper()
	queue = "bare-" + rand.Text()[:12]
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(c, queue, options)
	worker.RegisterWorkflowWithOptions(runBareBatch, workflow.RegisterOptions{Name: "bare"})
	worker.RegisterActivityWithOptions(sleep, sdkactivity.RegisterOptions{Name: "sleep"})
	if err := worker.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(worker.Stop)
	return queue
}

// bareSpan runs one batch and measures it as [span] does.
func bareSpan(b *testing.B, c sdkclient.Client, queue string, in bareBatch) time.Duration {
	b.Helper()
	run, err := c.ExecuteWorkflow(b.Context(), sdkclient.StartWorkflowOptions{TaskQueue: queue}, "bare", in)
	if err != nil {
		b.Fatal(err)
	}
	if err := run.Get(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	history, err := agenttest.History(b.Context(), c, run.GetID(), run.GetRunID())
	if err != nil {
		b.Fatal(err)
	}
	var first, last time.Time
	for _, e := range history.GetEvents() {
		switch e.GetEventType() { //nolint:exhaustive // the two that bound the batch
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			if first.IsZero() {
				first = e.GetEventTime().AsTime()
			}
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			last = e.GetEventTime().AsTime()
		}
	}
	return last.Sub(first)
}

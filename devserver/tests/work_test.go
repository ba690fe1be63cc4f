package tests

import (
	"context"
	"fmt"
	"testing"
	"time"

	sdkactivity "go.temporal.io/sdk/activity"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const taskQueue = "devserver-test"

// noop is the activity that costs nothing.
func noop(context.Context) error { return nil }

// chain runs n no-op activities one after the other.
func chain(ctx workflow.Context, n int) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	for range n {
		if err := workflow.ExecuteActivity(ctx, noop).Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// fan runs n no-op activities at once.
func fan(ctx workflow.Context, n int) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	var futures []workflow.Future
	for range n {
		futures = append(futures, workflow.ExecuteActivity(ctx, noop))
	}
	for _, f := range futures {
		if err := f.Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// sleeper waits for a timer that the server keeps.
func sleeper(ctx workflow.Context, d time.Duration) (string, error) {
	return "woken", workflow.Sleep(ctx, d)
}

// counter adds up what the update "add" brings, until it is told to finish.
func counter(ctx workflow.Context) (int, error) {
	sum, finished := 0, false
	add := func(_ workflow.Context, n int) (int, error) { sum += n; return sum, nil }
	if err := workflow.SetUpdateHandler(ctx, "add", add); err != nil {
		return 0, err
	}
	if err := workflow.SetUpdateHandler(ctx, "finish", func(workflow.Context) error { finished = true; return nil }); err != nil {
		return 0, err
	}
	if err := workflow.SetQueryHandler(ctx, "sum", func() (int, error) { return sum, nil }); err != nil {
		return 0, err
	}
	err := workflow.Await(ctx, func() bool { return finished })
	return sum, err
}

// operated runs one activity, "a", that fails until something changes.
func operated(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ActivityID: "a", StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Hour},
	})
	return workflow.ExecuteActivity(ctx, "stubborn").Get(ctx, nil)
}

func named(name string) sdkactivity.RegisterOptions { return sdkactivity.RegisterOptions{Name: name} }

// signals counts up to n signals.
func signals(ctx workflow.Context, n int) (int, error) {
	for i := range n {
		var value int
		workflow.GetSignalChannel(ctx, "tick").Receive(ctx, &value)
		if value != i {
			return 0, fmt.Errorf("signal %d arrived as number %d", value, i)
		}
	}
	return n, nil
}

// work runs a worker until the test ends.
func work(t testing.TB, c sdkclient.Client) {
	t.Helper()
	w := newWorker(c)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
}

func newWorker(c sdkclient.Client) sdkworker.Worker {
	w := sdkworker.New(c, taskQueue, sdkworker.Options{})
	for _, f := range []any{chain, fan, sleeper, counter, signals} {
		w.RegisterWorkflow(f)
	}
	w.RegisterActivity(noop)
	return w
}

func run(t testing.TB, c sdkclient.Client, id string, f any, args ...any) sdkclient.WorkflowRun {
	t.Helper()
	r, err := c.ExecuteWorkflow(within(t, 30*time.Second), sdkclient.StartWorkflowOptions{ID: id, TaskQueue: taskQueue}, f, args...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

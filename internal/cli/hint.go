package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"

	"github.com/turnkeel/turnkeel/contract"
)

// hintAfter is how long a turn may wait before we look whether anyone serves
// its task queue.
const hintAfter = 3 * time.Second

// hintNoWorker says once, on standard error, that no worker serves the queue,
// should that be so. stop ends the watch.
func (a *app) hintNoWorker(ctx context.Context, s *session, queue string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
			return
		case <-time.After(hintAfter):
		}
		described, err := s.temporal.DescribeTaskQueue(ctx, queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
		if err == nil && !slices.ContainsFunc(described.GetPollers(), lives) {
			start := "go run ./worker"
			if queue != contract.DefaultTaskQueue {
				start += " --task-queue " + queue + ", or the same flag of a worker of your own"
			}
			fmt.Fprintf(a.errOut, "no worker serves the task queue %s at %s; the turn waits for one: %s\n", queue, s.info.Address, start)
		}
	}()
	return func() { cancel(); <-done }
}

// pollWait is how long a worker may wait for a task before it asks again, with
// room: the server lists one for minutes after it has died.
const pollWait = 75 * time.Second

func lives(p *taskqueue.PollerInfo) bool {
	return time.Since(p.GetLastAccessTime().AsTime()) < pollWait
}

// hintSlow says once, on standard error, that an answer is long in coming: it
// takes a server and a worker to give it.
func (a *app) hintSlow(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
		case <-time.After(hintAfter):
			fmt.Fprintln(a.errOut, "no answer yet: it takes the server and a worker, are both up? Ctrl-C gives up; it may be taken all the same")
		}
	}()
	return func() { cancel(); <-done }
}

package cli

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
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
		if err == nil && len(described.GetPollers()) == 0 {
			_, _ = a.errOut.Write([]byte("no worker serves the task queue " + queue + " at " + s.info.Address +
				"; the turn waits for one: go run ./worker\n"))
		}
	}()
	return func() { cancel(); <-done }
}

package activities

import (
	"context"
	"sync"
	"time"

	sdkactivity "go.temporal.io/sdk/activity"
)

// heartbeatInterval is how often a running call says that it lives. The
// server gives a call up after the workflow's heartbeat timeout of 3 s.
const heartbeatInterval = time.Second

// beat is the detail of a heartbeat. Its presence at a start shows that an
// attempt ran before: a pause or an operator's reset can start a call again
// with attempt 1.
type beat struct {
	Attempt int32 `json:"attempt"`
	Latest  any   `json:"latest,omitempty"`
}

// startHeartbeat beats from now until stop is called, which waits for the
// last beat. The first beat is sent before it returns, so a call is never
// given up before its handler has started. latest, if not nil, gives the
// progress to send along.
func startHeartbeat(ctx context.Context, latest func() any) (stop func()) {
	attempt := sdkactivity.GetInfo(ctx).Attempt
	send := func() {
		b := beat{Attempt: attempt}
		if latest != nil {
			b.Latest = boundProgress(latest())
		}
		sdkactivity.RecordHeartbeat(ctx, b)
	}
	send()
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(heartbeatInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				send()
			case <-done:
				return
			case <-ctx.Done():
				return
			}
		}
	})
	var once sync.Once
	return func() {
		once.Do(func() { close(done) })
		running.Wait()
	}
}

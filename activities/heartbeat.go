package activities

import (
	"context"
	"sync"
	"time"

	sdkactivity "go.temporal.io/sdk/activity"
)

const (
	// heartbeatInterval is how often a running call says that it lives. The
	// server gives a call up after the workflow's heartbeat timeout of 3 s.
	heartbeatInterval = time.Second

	// modelHeartbeatInterval is that of a model call: a beat's reply is how it
	// learns of a cancel, which is to close its connection within a second.
	modelHeartbeatInterval = 500 * time.Millisecond

	// streamInterval is how often it may say more than that, for a turn whose
	// start asked to be streamed.
	streamInterval = 100 * time.Millisecond
)

// startHeartbeat beats from now until stop is called, which waits for the
// last beat. The first beat is sent before it returns, so a call is never
// given up before its handler has started. The detail is a [contract.Frame]:
// its presence at a start shows that an attempt ran before, since a pause or
// an operator's reset can start a call again with attempt 1. What s shows, if
// it is not nil, goes along at once, and else nothing but the attempt. every is
// the longest between two beats.
func startHeartbeat(ctx context.Context, s *stream, every time.Duration) (stop func()) {
	attempt := sdkactivity.GetInfo(ctx).Attempt
	interval := every
	if s != nil {
		interval = streamInterval
	}
	first, _ := s.take(attempt)
	sdkactivity.RecordHeartbeat(ctx, first)
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		last := time.Now()
		for {
			select {
			case <-tick.C:
			case <-done:
				return
			case <-ctx.Done():
				return
			}
			// Half a tick of room: one that comes a little early is not left out,
			// which would double the time between two beats.
			if frame, news := s.take(attempt); news || time.Since(last) >= every-interval/2 {
				last = time.Now()
				sdkactivity.RecordHeartbeat(ctx, frame)
			}
		}
	})
	var once sync.Once
	return func() {
		once.Do(func() { close(done) })
		running.Wait()
	}
}

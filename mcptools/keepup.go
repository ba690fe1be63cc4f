package mcptools

import (
	"context"
	"time"
)

const (
	// The wait between two tries to connect again, doubled from the first to the
	// last.
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 30 * time.Second

	// healthEvery is how often a server that does nothing is asked whether it
	// lives, and healthTime how long it has to answer.
	healthEvery = 30 * time.Second
	healthTime  = 10 * time.Second

	// doubtTime is how long a server has to answer that left a request without
	// an answer.
	doubtTime = 3 * time.Second
)

// keepUp watches the session and makes another one when it ends.
func (c *Connection) keepUp(s *session) {
	defer close(c.ended)
	var b backoff
	for {
		began := time.Now()
		c.watch(s)
		c.doubted.Store(false)
		c.set(nil, nil)
		if c.ctx.Err() != nil {
			s.stop()
			return
		}
		b.ended(time.Since(began), s.served.Load())
		c.log.Warn("the connection to the server ended; connecting again", "error", s.fault(), "next_try_in", b.wait())
		s.kill()
		s.stop()
		if s = c.again(&b); s == nil {
			return
		}
		c.log.Info("connected to the server again")
		c.set(s, nil)
	}
}

// watch returns when the session is over, or has to be.
func (c *Connection) watch(s *session) {
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	for {
		limit := healthTime
		select {
		case <-c.ctx.Done():
			return
		case <-s.over:
			return
		case <-s.dropped:
			return
		case <-c.doubt:
			limit = doubtTime
		case <-tick.C:
		}
		if c.calls.Load() == 0 && !c.healthy(s, limit) {
			return
		}
	}
}

// healthy asks the server whether it lives. Calls under way count as life: a
// server that works on one thing may be deaf to all else.
func (c *Connection) healthy(s *session, limit time.Duration) bool {
	ctx, stop := context.WithTimeout(c.ctx, limit)
	defer stop()
	err := s.alive(ctx)
	if err == nil {
		c.doubted.Store(false)
		return true
	}
	if c.ctx.Err() != nil || c.calls.Load() > 0 {
		return true
	}
	c.log.Warn("the server does not answer a ping", "error", err)
	return false
}

// question has the server asked whether it lives, once no call is under way: it
// left a request without an answer.
func (c *Connection) question() {
	c.doubted.Store(true)
	c.wake()
}

func (c *Connection) wake() {
	select {
	case c.doubt <- struct{}{}:
	default:
	}
}

// again tries to connect until it succeeds, or gives nil when the connection is
// closed.
func (c *Connection) again(b *backoff) *session {
	for {
		select {
		case <-c.ctx.Done():
			return nil
		case <-time.After(b.next()):
		}
		ctx, stop := context.WithTimeout(c.ctx, c.server.startTimeout())
		s, err := c.dial(ctx)
		stop()
		if err == nil {
			return s
		}
		c.log.Warn("the server cannot be connected again yet", "error", err, "next_try_in", b.wait())
		c.set(nil, err)
	}
}

// backoff is how long to wait before a server is connected again. It grows also
// with sessions that end before they were of any use: a server that greets and
// dies is started no more often than one that does not start. The zero value is
// ready.
type backoff struct{ tries int }

// wait is what the next try has to wait.
func (b *backoff) wait() time.Duration {
	return min(firstBackoff<<min(b.tries, 10), lastBackoff)
}

func (b *backoff) next() time.Duration {
	wait := b.wait()
	b.tries++
	return wait
}

// ended takes in how long a session lived and whether it answered a call.
func (b *backoff) ended(lived time.Duration, served bool) {
	if served || lived >= healthEvery {
		b.tries = 0
	}
}

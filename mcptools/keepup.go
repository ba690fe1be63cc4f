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
	for {
		c.watch(s)
		c.doubted.Store(false)
		c.set(nil, nil)
		if c.ctx.Err() != nil {
			s.stop()
			return
		}
		c.log.Warn("the connection to the server ended; connecting again", "error", s.fault())
		s.kill()
		s.stop()
		if s = c.again(); s == nil {
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
func (c *Connection) again() *session {
	for wait := firstBackoff; ; wait = min(2*wait, lastBackoff) {
		select {
		case <-c.ctx.Done():
			return nil
		case <-time.After(wait):
		}
		ctx, stop := context.WithTimeout(c.ctx, c.server.startTimeout())
		s, err := c.dial(ctx)
		stop()
		if err == nil {
			return s
		}
		c.log.Warn("the server cannot be connected again yet", "error", err, "next_try_in", min(2*wait, lastBackoff))
		c.set(nil, err)
	}
}

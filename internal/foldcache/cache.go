package foldcache

import (
	"container/list"
	"sync"
	"time"

	"github.com/turnkeel/turnkeel/internal/fold"
)

// runKey names a run.
type runKey struct{ namespace, workflowID, runID string }

// folded is the fold of a run, up to an activity's scheduled event.
type folded struct {
	run     *fold.Run
	cut     string // id of that activity
	batches int    // how many batches of events the next step is expected to add
}

// maxIdle is how long a fold is kept that nobody asks for. A turn that waits
// for a person may do so for weeks, ten thousand of them at a time: each is
// read again, once, when it goes on.
const maxIdle = time.Minute

// cache keeps folds of recent runs. A fold that is in use is not in it, so
// nobody else sees one that changes. It is safe for concurrent use.
type cache struct {
	max int64 // in bytes, as [fold.Run.Size] counts

	mu     sync.Mutex
	used   int64
	byRun  map[runKey]*list.Element
	recent *list.List // of *cached, the most recent first
	sweeps bool       // a sweep is due while the cache holds anything
}

type cached struct {
	key  runKey
	fold *folded
	size int64 // when it was put: the fold does not change in here
	put  time.Time
}

func newCache(maxBytes int64) *cache {
	return &cache{max: maxBytes, byRun: map[runKey]*list.Element{}, recent: list.New()}
}

// take gives the run's fold to the caller alone, nil when there is none.
func (c *cache) take(key runKey) *folded {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.byRun[key]
	if at == nil {
		return nil
	}
	return c.remove(at).fold
}

// put gives a fold (back) to the cache; the caller does not touch it again.
// Of two for one run the one that has come further is kept.
func (c *cache) put(key runKey, f *folded) {
	size := f.run.Size()
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.byRun[key]; at != nil {
		if at.Value.(*cached).fold.run.LastID > f.run.LastID {
			return
		}
		c.remove(at)
	}
	if size > c.max {
		return
	}
	c.byRun[key] = c.recent.PushFront(&cached{key, f, size, time.Now()})
	c.used += size
	for c.used > c.max {
		c.remove(c.recent.Back())
	}
	if !c.sweeps && c.recent.Len() > 0 {
		c.sweeps = true
		time.AfterFunc(maxIdle, c.sweep)
	}
}

// sweep drops what has been idle for too long, and comes back for the rest.
func (c *cache) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at := c.recent.Back(); at != nil; at = c.recent.Back() {
		if left := maxIdle - time.Since(at.Value.(*cached).put); left > 0 {
			time.AfterFunc(left, c.sweep)
			return
		}
		c.remove(at)
	}
	c.sweeps = false
}

func (c *cache) remove(at *list.Element) *cached {
	e := c.recent.Remove(at).(*cached)
	delete(c.byRun, e.key)
	c.used -= e.size
	return e
}

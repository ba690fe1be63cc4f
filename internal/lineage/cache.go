package lineage

import (
	"context"
	"slices"
	"sync"
)

// Bounds of a [Cache].
const (
	maxCachedRuns  = 32
	maxCachedBytes = 64 << 20 // of the histories indexed
)

// Cache keeps the index of each run that asked. While a run is open all others
// of its lineage are closed, so an index never grows old. The zero value is
// ready for use, also concurrently: calls of one run share one lookup.
type Cache struct {
	mu      sync.Mutex
	entries []*cached // the one used last is the last
}

type cached struct {
	runID string
	busy  chan struct{} // held by who looks up
	index *Index        // guarded by busy
	bytes int64         // guarded by Cache.mu
}

// Index gives the index of a run, from load unless it is kept. An index whose
// doubt may pass is not kept.
func (c *Cache) Index(ctx context.Context, runID string, load func(context.Context) *Index) (*Index, error) {
	e := c.entry(runID)
	select {
	case e.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-e.busy }()
	if e.index != nil {
		return e.index, nil
	}
	index := load(ctx)
	if !index.Passing() {
		e.index = index
		c.keep(e, index.bytes)
	}
	return index, nil
}

func (c *Cache) entry(runID string) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.entries, func(e *cached) bool { return e.runID == runID })
	e := &cached{runID: runID, busy: make(chan struct{}, 1)}
	if i >= 0 {
		e = c.entries[i]
		c.entries = slices.Delete(c.entries, i, i+1)
	}
	c.entries = append(c.entries, e)
	return e
}

// keep makes room for what was just indexed, the least used going first.
func (c *Cache) keep(e *cached, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.bytes = bytes
	total := int64(0)
	for _, other := range c.entries {
		total += other.bytes
	}
	for len(c.entries) > 0 && (len(c.entries) > maxCachedRuns || total > maxCachedBytes) {
		total -= c.entries[0].bytes
		c.entries = slices.Delete(c.entries, 0, 1)
	}
}

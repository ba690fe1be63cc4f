package lineage

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// Calls of one run share a lookup; one whose doubt may pass is made again.
func TestCache(t *testing.T) {
	t.Parallel()
	var c Cache
	var loads atomic.Int32
	load := func(x Index) func(context.Context) *Index {
		return func(context.Context) *Index {
			loads.Add(1)
			return &x
		}
	}
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if _, err := c.Index(t.Context(), "a", load(Index{permanent: true})); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := loads.Swap(0); n != 1 {
		t.Errorf("%d lookups for one run", n)
	}
	for range 2 {
		_, _ = c.Index(t.Context(), "b", load(Index{doubt: errGone}))
		_, _ = c.Index(t.Context(), "c", load(Index{doubt: errGone, permanent: true}))
	}
	if n := loads.Swap(0); n != 3 {
		t.Errorf("%d lookups, want 2 of b and 1 of c", n)
	}
	for i := range 2 * maxCachedRuns {
		_, _ = c.Index(t.Context(), strconv.Itoa(i), load(Index{permanent: true, bytes: maxCachedBytes / 4}))
	}
	if n := len(c.entries); n > 4 {
		t.Errorf("%d indexes are kept, over the bound", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.entry("d").busy <- struct{}{}
	if _, err := c.Index(ctx, "d", load(Index{})); err == nil {
		t.Error("a lookup outlives its context")
	}
}

package foldcache

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/turnkeel/turnkeel/internal/fold"
)

// foldOf is a fold of n events, of about size bytes each.
func foldOf(t *testing.T, n, size int) *folded {
	t.Helper()
	run := fold.New(nil)
	for i := range n {
		err := run.Add(&historypb.HistoryEvent{
			EventId: int64(i + 1), EventType: enumspb.EVENT_TYPE_MARKER_RECORDED,
			Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{
				Details: map[string]*commonpb.Payloads{"d": {Payloads: []*commonpb.Payload{{Data: make([]byte, size)}}}},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return &folded{run: run}
}

func key(n int) runKey { return runKey{"ns", "turn", strconv.Itoa(n)} }

// A fold is one caller's at a time; what was put is found again.
func TestCache_TakesOut(t *testing.T) {
	t.Parallel()
	c := newCache(1 << 20)
	f := foldOf(t, 1, 100)
	c.put(key(1), f)
	if c.take(key(2)) != nil || c.take(key(1)) != f || c.take(key(1)) != nil || c.used != 0 {
		t.Errorf("used %d", c.used)
	}
	// An attempt that overlaps brings an older fold back: the newer one stays.
	newer := foldOf(t, 3, 100)
	c.put(key(1), newer)
	c.put(key(1), f)
	if got := c.take(key(1)); got != newer {
		t.Error("the older fold replaced the newer one")
	}
}

// R21: turns that wait for a person leave no fold behind, and those that go on
// keep theirs.
func TestCache_ForgetsWhatIsIdle(t *testing.T) {
	t.Parallel()
	f := foldOf(t, 1, 100)
	synctest.Test(t, func(t *testing.T) {
		c := newCache(1 << 20)
		for i := range 100 {
			c.put(key(i), f)
			time.Sleep(time.Second)
		}
		for range 5 { // one that is used, each time just before it would go
			time.Sleep(maxIdle - 2*time.Second)
			synctest.Wait()
			if c.take(key(99)) == nil {
				t.Fatal("a fold went while it was in use")
			}
			if c.recent.Len() > 60 {
				t.Errorf("%d folds are kept", c.recent.Len())
			}
			c.put(key(99), f)
		}
		time.Sleep(maxIdle)
		synctest.Wait()
		if c.recent.Len() != 0 || len(c.byRun) != 0 || c.used != 0 || c.sweeps {
			t.Errorf("%d folds are kept, %d bytes", c.recent.Len(), c.used)
		}
		c.put(key(0), f) // and begins anew
		time.Sleep(maxIdle)
		synctest.Wait()
		if c.recent.Len() != 0 {
			t.Error("nothing sweeps any more")
		}
	})
}

// The cache stays below its bound, and gives up what was not used for longest.
func TestCache_IsBounded(t *testing.T) {
	t.Parallel()
	one := foldOf(t, 1, 1000).run.Size()
	c := newCache(3*one + one/2)
	for i := range 3 {
		c.put(key(i), foldOf(t, 1, 1000))
	}
	c.put(key(0), c.take(key(0)))
	c.put(key(3), foldOf(t, 1, 1000)) // 1 goes
	c.put(key(4), foldOf(t, 100, 1000))
	for i, want := range []bool{true, false, true, true, false} {
		if got := c.byRun[key(i)] != nil; got != want {
			t.Errorf("fold %d is there: %v, want %v", i, got, want)
		}
	}
	if c.used != 3*one || c.recent.Len() != 3 {
		t.Errorf("%d bytes in %d folds, want %d in 3", c.used, c.recent.Len(), 3*one)
	}
	none := newCache(-1)
	none.put(key(0), foldOf(t, 1, 1))
	if none.take(key(0)) != nil {
		t.Error("a cache of no size keeps something")
	}
}

// Many attempts of few runs at once: no fold is shared (the race detector
// sees to it), and the count comes out even.
func TestCache_ManyAtOnce(t *testing.T) {
	t.Parallel()
	c := newCache(20 << 10)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 200 {
				k := key((i + j) % 5)
				f := c.take(k)
				if f == nil {
					f = foldOf(t, 1, 1000)
				}
				f.batches++
				if err := f.run.Add(&historypb.HistoryEvent{EventId: f.run.LastID + 1}); err != nil {
					t.Error(err)
				}
				c.put(k, f)
			}
		})
	}
	group.Wait()
	var sum int64
	for at := c.recent.Front(); at != nil; at = at.Next() {
		sum += at.Value.(*cached).size
	}
	if sum != c.used || c.used > c.max || len(c.byRun) != c.recent.Len() {
		t.Errorf("%d bytes counted as %d of %d, %d folds of %d", sum, c.used, c.max, len(c.byRun), c.recent.Len())
	}
}

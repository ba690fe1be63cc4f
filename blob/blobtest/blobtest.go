// Package blobtest holds a [blob.Store] to its rules. It is for tests, of the
// stores here and of your own; the entry point is [Run].
package blobtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/turnkeel/turnkeel/blob"
)

// Options describe the store under test.
type Options struct {
	// Open gives a store that is empty, or at least has none of the random
	// blobs of the test. Required. Every call gives a view of the same store.
	Open func(t *testing.T) blob.Store

	// Damage changes what the store holds under ref, behind its back. If nil,
	// the store is not tested for noticing it.
	Damage func(t *testing.T, ref string)
}

// Run runs the tests as subtests of t.
func Run(t *testing.T, o Options) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(t *testing.T, o Options)
	}{
		{"gives back what was put", roundTrip},
		{"a blob is named by what it holds", sameRef},
		{"what is missing is not found", missing},
		{"refuses what is no reference", badRefs},
		{"an ended context is an error", endedContext},
		{"many at once", concurrent},
		{"notices damage", damaged},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, o) })
	}
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

func put(t *testing.T, s blob.Store, data []byte) string {
	t.Helper()
	ref, err := s.Put(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func holds(t *testing.T, s blob.Store, ref string, want []byte) {
	t.Helper()
	got, err := s.Get(t.Context(), ref)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s gives %d bytes, %v; want %d", ref, len(got), err, len(want))
	}
}

func roundTrip(t *testing.T, o Options) {
	for _, data := range [][]byte{{}, {0}, []byte("a\x00\xff<\n"), random(1 << 10), random(6 << 20)} {
		s := o.Open(t)
		holds(t, s, put(t, s, data), data)
	}
}

func sameRef(t *testing.T, o Options) {
	data := random(100)
	first := put(t, o.Open(t), data)
	kept := bytes.Clone(data)
	if again := put(t, o.Open(t), data); again != first || first != blob.Ref(data) {
		t.Errorf("%s, then %s; want %s", first, again, blob.Ref(data))
	}
	clear(data) // the store keeps none of the caller's memory
	holds(t, o.Open(t), first, kept)
}

func missing(t *testing.T, o Options) {
	if _, err := o.Open(t).Get(t.Context(), blob.Ref(random(32))); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func badRefs(t *testing.T, o Options) {
	s := o.Open(t)
	for _, ref := range []string{
		"", "x", "sha256:", "sha256:12", "md5:" + strings.Repeat("0", 64), strings.Repeat("0", 64),
		"sha256:" + strings.Repeat("A", 64), "sha256:" + strings.Repeat("0", 65), "sha256:../" + strings.Repeat("0", 61),
	} {
		if _, err := s.Get(t.Context(), ref); !errors.Is(err, blob.ErrBadRef) {
			t.Errorf("%q: got %v, want ErrBadRef", ref, err)
		}
	}
}

func endedContext(t *testing.T, o Options) {
	s := o.Open(t)
	data := random(10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(ctx, data); !errors.Is(err, context.Canceled) {
		t.Errorf("Put: %v", err)
	}
	if _, err := s.Get(ctx, blob.Ref(data)); !errors.Is(err, context.Canceled) {
		t.Errorf("Get: %v", err)
	}
}

// concurrent writes a few blobs from many goroutines and reads each as soon
// as a Put has returned.
func concurrent(t *testing.T, o Options) {
	s := o.Open(t)
	var all [4][]byte
	for i := range all {
		all[i] = random(64 << 10)
	}
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			data := all[i%len(all)]
			ref, err := s.Put(t.Context(), data)
			if err != nil {
				t.Error(err)
				return
			}
			holds(t, s, ref, data)
		})
	}
	group.Wait()
}

func damaged(t *testing.T, o Options) {
	if o.Damage == nil {
		return
	}
	s := o.Open(t)
	data := random(1 << 10)
	ref := put(t, s, data)
	o.Damage(t, ref)
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, blob.ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
	put(t, s, data) // a fresh Put mends it
	holds(t, s, ref, data)
}

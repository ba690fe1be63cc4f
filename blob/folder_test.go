package blob_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/blob/blobtest"
)

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "yet", "there")
	blobtest.Run(t, blobtest.Options{
		Open: func(*testing.T) blob.Store { return blob.Folder(dir) },
		Damage: func(t *testing.T, ref string) {
			t.Helper()
			digest, err := blob.Digest(ref)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, digest[:2], digest), []byte("cut"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	})
	// Nothing half-written stays behind.
	left, err := filepath.Glob(filepath.Join(dir, "*", ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A folder that cannot be written is an error, and leaves nothing.
func TestFolder_CannotBeMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, ""} {
		if ref, err := blob.Folder(dir).Put(t.Context(), []byte("x")); err == nil {
			t.Errorf("%q kept %s", dir, ref)
		}
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	const want = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of "hello"
	if got, err := blob.Digest(blob.Ref([]byte("hello"))); err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := blob.Digest(strings.Repeat("x", 1<<20)); !errors.Is(err, blob.ErrBadRef) || len(err.Error()) > 300 {
		t.Errorf("a long reference gives %.400v", err)
	}
}

func ExampleFolder() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "blobs")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	store := blob.Folder(dir)
	ref, err := store.Put(ctx, []byte("hello"))
	if err != nil {
		panic(err)
	}
	data, err := store.Get(ctx, ref)
	fmt.Println(ref[:15], string(data), err)
	_, err = store.Get(ctx, blob.Ref([]byte("never put")))
	fmt.Println(errors.Is(err, blob.ErrNotFound))
	// Output:
	// sha256:2cf24dba hello <nil>
	// true
}

package blob_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/turnkeel/turnkeel/blob"
)

// putsVariable makes this test's binary a program that keeps blobs in a folder
// until it is killed.
const putsVariable = "TURNKEEL_TEST_PUTS"

func TestMain(m *testing.M) {
	dir := os.Getenv(putsVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	store := blob.Folder(dir)
	for i := 0; ; i++ {
		if _, err := store.Put(context.Background(), large(i)); err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString("x")
	}
}

// large is one of three blobs of 4 MiB.
func large(i int) []byte { return bytes.Repeat([]byte{byte('a' + i%3)}, 4<<20) }

// T45: what has a blob's name is whole, whenever the processes that wrote it
// side by side were killed.
func TestFolder_KilledInTheMiddle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			cmd := exec.CommandContext(t.Context(), self) //nolint:gosec // this test
			cmd.Env = append(os.Environ(), putsVariable+"="+dir)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Error(err)
				return
			}
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			_, _ = out.Read(make([]byte, 1)) // one is kept, the next is under way
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
	writers.Wait()
	store := blob.Folder(dir)
	kept := 0
	for i := range 3 {
		data, err := store.Get(t.Context(), blob.Ref(large(i)))
		switch {
		case err == nil && bytes.Equal(data, large(i)):
			kept++
		case !errors.Is(err, blob.ErrNotFound):
			t.Errorf("blob %d: %d bytes, %v", i, len(data), err)
		}
	}
	if kept == 0 {
		t.Error("nothing was kept")
	}
	for i := range 3 { // what they left behind is in nobody's way
		if _, err := store.Put(t.Context(), large(i)); err != nil {
			t.Error(err)
		}
	}
}

// T45: a folder that is a link serves; a name that leads elsewhere gives nothing
// that is not the blob.
func TestFolder_Links(t *testing.T) {
	t.Parallel()
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	ref, err := blob.Folder(link).Put(t.Context(), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if data, err := blob.Folder(dir).Get(t.Context(), ref); err != nil || string(data) != "x" {
		t.Errorf("%q, %v", data, err)
	}
	digest := strings.TrimPrefix(ref, "sha256:")
	path := filepath.Join(dir, digest[:2], digest)
	if err := errors.Join(os.Remove(path), os.Symlink("/etc/passwd", path)); err != nil {
		t.Fatal(err)
	}
	if data, err := blob.Folder(dir).Get(t.Context(), ref); !errors.Is(err, blob.ErrCorrupt) || len(data) > 0 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if _, err := blob.Folder(dir).Put(t.Context(), []byte("x")); err != nil {
		t.Error(err)
	}
	if data, err := blob.Folder(dir).Get(t.Context(), ref); err != nil || string(data) != "x" {
		t.Errorf("after it was put again: %q, %v", data, err)
	}
	if target, err := os.Readlink(path); err == nil {
		t.Errorf("it is still a link to %s", target)
	}
}

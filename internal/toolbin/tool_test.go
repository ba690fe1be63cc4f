package toolbin

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// greeter is a module with a main package that the test can build in a moment.
func greeter(t *testing.T, source string) tool {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.test/greeter\n\ngo 1.26\n", "go.sum": "", "main.go": source,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return tool{name: "greeter", pkg: "example.test/greeter", module: dir, cache: filepath.Join(t.TempDir(), "cache")}
}

const hello = "package main\n\nfunc main() { print(\"hello\") }\n"

func TestEnsureBuildsOnce(t *testing.T) {
	t.Parallel()
	tl := greeter(t, hello)
	paths := make([]string, 4)
	var wait sync.WaitGroup
	for i := range paths {
		wait.Go(func() {
			path, err := tl.ensure(t.Context())
			if err != nil {
				t.Error(err)
			}
			paths[i] = path
		})
	}
	wait.Wait()
	for _, path := range paths[1:] {
		if path != paths[0] {
			t.Errorf("paths %q differ", paths)
		}
	}
	out, err := exec.CommandContext(t.Context(), paths[0]).CombinedOutput()
	if err != nil || string(out) != "hello" {
		t.Errorf("the tool said %q, %v", out, err)
	}
	entries, err := os.ReadDir(tl.cache)
	if err != nil || len(entries) != 2 { // the build and the lock
		t.Errorf("cache holds %v, %v: want one build and the lock", entries, err)
	}
}

func TestEnsureFollowsThePins(t *testing.T) {
	t.Parallel()
	tl := greeter(t, hello)
	before, err := tl.ensure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tl.module, "go.mod"), []byte("module example.test/greeter\n\ngo 1.25\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	after, err := tl.ensure(t.Context())
	if err != nil || after == before {
		t.Errorf("other pins gave %q, %v: want another build than %q", after, err, before)
	}
}

func TestEnsureShowsTheCompilersWords(t *testing.T) {
	t.Parallel()
	tl := greeter(t, "package main\n\nfunc main() { missing() }\n")
	_, err := tl.ensure(t.Context())
	if err == nil || !strings.Contains(err.Error(), "undefined: missing") || !strings.Contains(err.Error(), tl.pkg) {
		t.Errorf("error %v: want the package and what the compiler said", err)
	}
	if left, _ := filepath.Glob(filepath.Join(tl.cache, "building-*")); len(left) > 0 {
		t.Errorf("a failed build left %q", left)
	}
}

func TestEnsureWaitsNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	tl := greeter(t, hello)
	if err := os.MkdirAll(tl.cache, 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := lock(t.Context(), filepath.Join(tl.cache, "greeter.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := tl.ensure(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the deadline while another process builds", err)
	}
}

func TestTemporalPinIsWhole(t *testing.T) {
	t.Parallel()
	root, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "tests", "temporalcli", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "github.com/temporalio/cli v1.5.1") {
		t.Error("the Temporal CLI is not pinned to v1.5.1; docs and e2e tests name that version")
	}
}

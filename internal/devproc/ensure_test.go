package devproc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// alive reports whether a process exists and is not a zombie (an orphan that
// nobody in this container reaps).
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// slowPIDs waits for the slow go command to be in its build.
func slowPIDs(t *testing.T, file string) (pids [2]int) {
	t.Helper()
	eventually(t, "the build runs", func() bool {
		data, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		_, err = fmt.Sscan(string(data), &pids[0], &pids[1])
		return err == nil
	})
	return pids
}

// buildDirs returns what a cache holds besides its lock.
func buildDirs(t *testing.T, cache string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestBuildOnceAndRun(t *testing.T) {
	b := builder{src: tinyModule(t, `println("hello")`), cache: t.TempDir()}
	var phases []string
	note := func(p Progress) {
		if !slices.Contains(phases, p.Phase) {
			phases = append(phases, p.Phase)
		}
	}
	bin, err := b.ensure(t.Context(), note)
	if err != nil {
		t.Fatal(err)
	}
	// Compiling is left out when the go command's own cache has the packages.
	phases = slices.DeleteFunc(phases, func(p string) bool { return p == PhaseCompiling })
	if want := []string{PhaseChecking, PhaseLinking, PhaseReady}; !slices.Equal(phases, want) {
		t.Errorf("phases %q, want %q", phases, want)
	}
	if out, err := exec.Command(bin).CombinedOutput(); err != nil || string(out) != "hello\n" {
		t.Errorf("the binary: %q, %v", out, err)
	}
	phases = nil
	again, err := b.ensure(t.Context(), note)
	if again != bin || err != nil || phases != nil {
		t.Errorf("second ensure: %s, %v, phases %q", again, err, phases)
	}
	write(t, filepath.Join(b.src, "main_test.go"), "package main\n", 0o644)
	if again, err = b.ensure(t.Context(), note); again != bin || err != nil {
		t.Errorf("a test file changed the build: %s, %v", again, err)
	}
	write(t, filepath.Join(b.src, "more.go"), "package main\n", 0o644)
	if again, err = b.ensure(t.Context(), note); again == bin || err != nil {
		t.Errorf("a source file did not change the build: %s, %v", again, err)
	}
}

func TestTwoProcessesBuildOnce(t *testing.T) {
	src, cache := tinyModule(t, ""), t.TempDir()
	lock, err := tryLock(filepath.Join(cache, "devserver.lock"))
	if err != nil {
		t.Fatal(err)
	}
	_, first := helper(t, "build", src, cache)
	_, second := helper(t, "build", src, cache)
	for _, lines := range []<-chan string{first, second} {
		if got := next(t, lines); got != PhaseWaiting {
			t.Fatalf("first phase %q, want %q", got, PhaseWaiting)
		}
	}
	lock.unlock()
	built := 0
	for _, lines := range []<-chan string{first, second} {
		var last string
		for last = range lines {
			if last == PhaseLinking {
				built++
			}
		}
		if last != PhaseReady {
			t.Errorf("a process ended with %q", last)
		}
	}
	if built != 1 || len(buildDirs(t, cache)) != 1 {
		t.Errorf("built %d times, cache %q", built, buildDirs(t, cache))
	}
}

func TestCancelKillsBuild(t *testing.T) {
	b := builder{src: tinyModule(t, ""), cache: t.TempDir()}
	file := slowGo(t)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := b.ensure(ctx, nil)
		result <- err
	}()
	pids := slowPIDs(t, file)
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	eventually(t, "the process group is gone", func() bool { return !alive(pids[0]) && !alive(pids[1]) })
	if left := buildDirs(t, b.cache); left != nil {
		t.Errorf("left in the cache: %q", left)
	}
	if lock, err := tryLock(filepath.Join(b.cache, "devserver.lock")); lock == nil {
		t.Errorf("the lock is still held (%v)", err)
	}
}

func TestKilledBuilderLeavesNoLock(t *testing.T) {
	src, cache := tinyModule(t, ""), t.TempDir()
	path := os.Getenv("PATH")
	file := slowGo(t)
	cmd, _ := helper(t, "build", src, cache)
	pids := slowPIDs(t, file)
	t.Cleanup(func() { _ = syscall.Kill(-pids[0], syscall.SIGKILL) })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
	b := builder{src: src, cache: cache}
	if _, err := b.ensure(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if dirs := buildDirs(t, cache); len(dirs) != 1 || !strings.HasPrefix(dirs[0], cachePrefix) {
		t.Errorf("cache: %q", dirs)
	}
}

func TestBuildErrorShowsCompiler(t *testing.T) {
	b := builder{src: tinyModule(t, "undefined()"), cache: t.TempDir()}
	var last Progress
	_, err := b.ensure(t.Context(), func(p Progress) { last = p })
	if err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Errorf("error %v", err)
	}
	if last.Phase != PhaseFailed || !last.Final {
		t.Errorf("last report %+v", last)
	}
	if left := buildDirs(t, b.cache); left != nil {
		t.Errorf("left in the cache: %q", left)
	}
}

// A Go that is too old and may not be replaced is the reader's to change.
func TestBuildErrorOfAnOldGo(t *testing.T) {
	t.Setenv("GOTOOLCHAIN", "local")
	b := builder{src: tinyModule(t, ""), cache: t.TempDir()}
	mod := filepath.Join(b.src, "go.mod")
	if err := os.WriteFile(mod, []byte("module example.com/tiny\n\ngo 1.999.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := b.ensure(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "unset GOTOOLCHAIN") {
		t.Errorf("error %v", err)
	}
}

func TestSweepKeepsNewest(t *testing.T) {
	b := builder{cache: t.TempDir()}
	for i, name := range []string{"devserver-a", "devserver-b", "devserver-c", "building-1"} {
		dir := filepath.Join(b.cache, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		used := time.Now().Add(time.Duration(-i) * time.Hour)
		if err := os.Chtimes(dir, used, used); err != nil {
			t.Fatal(err)
		}
	}
	b.sweep()
	if got := buildDirs(t, b.cache); !slices.Equal(got, []string{"devserver-a", "devserver-b"}) {
		t.Errorf("kept %q", got)
	}
}

func TestUnwritableCacheFallsBack(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	blocked := filepath.Join(t.TempDir(), "file")
	write(t, blocked, "", 0o644)
	b := builder{src: tinyModule(t, ""), cache: filepath.Join(blocked, "cache")}
	bin, err := b.ensure(t.Context(), nil)
	if err != nil || !strings.HasPrefix(bin, tempCacheDir()) {
		t.Fatalf("%s, %v", bin, err)
	}
	if err := os.Chmod(tempCacheDir(), 0o777); err != nil {
		t.Fatal(err)
	}
	b.cache = filepath.Join(blocked, "cache")
	if bin, err = b.ensure(t.Context(), nil); err == nil {
		t.Errorf("took %s from a directory others can write to", bin)
	}
}

func TestCountsPackages(t *testing.T) {
	b := builder{track: newTracker(nil)}
	stale := []string{"fmt", "example.com/a", "example.com/main"}
	b.track.phase(PhaseCompiling, len(stale))
	for line, want := range map[string]bool{"fmt": true, "# example.com/a": false, "a.go:1: bad": false} {
		if got := b.countPackage(line, stale); got != want {
			t.Errorf("%q counted: %v", line, got)
		}
	}
	if p := b.track.p; p.Done != 1 || p.Total != 3 || p.Phase != PhaseCompiling {
		t.Errorf("after one package: %+v", p)
	}
	b.countPackage("example.com/main", stale)
	if p := b.track.p; p.Phase != PhaseLinking {
		t.Errorf("after the program: %+v", p)
	}
	b.track.finish(nil)
}

func TestCountsDownloads(t *testing.T) {
	b := builder{track: newTracker(nil)}
	defer b.track.finish(nil)
	b.track.phase(PhaseChecking, 0)
	b.countDownload()
	b.countDownload()
	if p := b.track.p; p.Phase != PhaseDownloading || p.Done != 2 {
		t.Errorf("after two downloads: %+v", p)
	}
}

func TestPrinter(t *testing.T) {
	var out bytes.Buffer
	print := Printer(&out)
	for s := range 25 {
		print(Progress{Phase: PhaseCompiling, Done: s * 10, Total: 240, Elapsed: time.Duration(s) * time.Second})
	}
	print(Progress{Phase: PhaseReady, Elapsed: 25 * time.Second, Final: true})
	want := PhaseCompiling + ": 0 of 240 packages (0s)\n" +
		PhaseCompiling + ": 100 of 240 packages (10s)\n" +
		PhaseCompiling + ": 200 of 240 packages (20s)\n" +
		PhaseReady + " (25s)\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

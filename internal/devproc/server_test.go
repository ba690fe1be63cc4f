package devproc

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary returns the real server's binary.
func binary(t *testing.T) string {
	t.Helper()
	bin, err := Ensure(t.Context(), Printer(os.Stderr))
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// run starts a server that the test's end stops.
func run(t *testing.T, bin string, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), bin, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s
}

// serves reports whether something accepts connections at address.
func serves(address string) bool {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// port returns the port of a host:port.
func port(t *testing.T, address string) int {
	t.Helper()
	_, p, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(p)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEnsureTwiceIsQuick(t *testing.T) {
	bin := binary(t)
	start := time.Now()
	again, err := Ensure(t.Context(), func(p Progress) { t.Errorf("reported %s", p) })
	if err != nil || again != bin {
		t.Errorf("%s, %v; the first was %s", again, err, bin)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestStartStop(t *testing.T) {
	bin := binary(t)
	s := run(t, bin, Options{})
	if s.Namespace == "" || s.UI == "" || s.PID == 0 || !serves(s.Address) {
		t.Errorf("not serving: %+v", s)
	}
	if pgid, err := syscall.Getpgid(s.PID); err != nil || pgid != s.PID {
		t.Errorf("process group %d, %v; want its own, %d", pgid, err, s.PID)
	}
	if _, err := os.Stat(s.DB); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := s.Stop(t.Context()); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	<-s.Done()
	if alive(s.PID) || serves(s.Address) {
		t.Error("still there after Stop")
	}
	if _, err := os.Stat(filepath.Dir(s.DB)); !os.IsNotExist(err) {
		t.Errorf("the temp directory is still there (%v)", err)
	}
}

func TestKillAndStartAgainOnSameData(t *testing.T) {
	bin, dir := binary(t), t.TempDir()
	s := run(t, bin, Options{Dir: dir})
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.Err(); err != nil || alive(s.PID) {
		t.Errorf("after Kill: alive %v, Err %v", alive(s.PID), err)
	}
	again := run(t, bin, Options{Dir: dir, Port: port(t, s.Address)})
	if again.Address != s.Address || again.DB != s.DB || !serves(again.Address) {
		t.Errorf("got %+v, want the address and data of %+v", again, s)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("Stop after Kill: %v", err)
	}
}

func TestUnexpectedEndIsReported(t *testing.T) {
	s := run(t, binary(t), Options{})
	if s.Err() != nil {
		t.Errorf("Err while it runs: %v", s.Err())
	}
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if err := s.Stop(t.Context()); err == nil || s.Err() == nil {
		t.Errorf("Stop %v, Err %v", err, s.Err())
	}
}

func TestTakenIsSaid(t *testing.T) {
	bin := binary(t)
	s := run(t, bin, Options{})
	taken := port(t, s.Address)
	for what, o := range map[string]Options{
		strconv.Itoa(taken): {Port: taken},
		s.DB:                {Dir: filepath.Dir(s.DB)},
		"no-such-flag":      {ExtraArgs: []string{"--no-such-flag"}},
	} {
		start := time.Now()
		second, err := Start(t.Context(), bin, o)
		if err == nil {
			_ = second.Stop(t.Context())
			t.Errorf("%s: started", what)
			continue
		}
		t.Log(err)
		if !strings.Contains(err.Error(), what) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q, want one line with %q", err, what)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s: took %s", what, took)
		}
	}
	if !serves(s.Address) {
		t.Error("the first server is gone")
	}
}

func TestLifelineAlone(t *testing.T) {
	s := run(t, binary(t), Options{})
	if err := s.lifeline.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Done():
	case <-time.After(15 * time.Second):
		t.Fatal("runs on without its lifeline")
	}
}

func TestParentKilled(t *testing.T) {
	bin := binary(t)
	cmd, lines := helper(t, "serve", bin, t.TempDir())
	var s Server
	if line := next(t, lines); json.Unmarshal([]byte(line), &s) != nil {
		t.Fatal(line)
	}
	if !alive(s.PID) || !serves(s.Address) {
		t.Fatalf("not serving: %d %s", s.PID, s.Address)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is gone", func() bool { return !alive(s.PID) && !serves(s.Address) })
}

func TestCancelledStart(t *testing.T) {
	bin, dir := binary(t), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if s, err := Start(ctx, bin, Options{Dir: dir}); err == nil {
		_ = s.Stop(t.Context())
		t.Fatal("a start that was given 50 ms says that it served")
	}
	run(t, bin, Options{Dir: dir}) // nothing holds the data
}

func TestManyAtOnce(t *testing.T) {
	bin := binary(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			s, err := Start(t.Context(), bin, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestTailFindsReason(t *testing.T) {
	for log, want := range map[string]string{
		"":                               "",
		"one\ntwo\n\n":                   "two",
		"devserver: port taken\nlater\n": "port taken",
		"log\npanic: boom\n\ngoroutine 1:\n\tx\n": "panic: boom",
	} {
		logs := &tail{}
		_, _ = logs.Write([]byte(log))
		if got := logs.String(); got != want {
			t.Errorf("of %q: %q, want %q", log, got, want)
		}
	}
	logs := &tail{}
	for range tailMax {
		_, _ = logs.Write([]byte("123456789\n"))
	}
	if len(logs.last) > 2*tailMax {
		t.Errorf("keeps %d bytes", len(logs.last))
	}
}

func TestSweepTempDirs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	held, err := newTempDir()
	if err != nil {
		t.Fatal(err)
	}
	defer held.remove()
	dead, err := newTempDir()
	if err != nil {
		t.Fatal(err)
	}
	dead.lock.unlock() // as the kernel does when the owner is killed
	old := time.Now().Add(-time.Hour)
	for _, d := range []*tempDir{held, dead} {
		if err := os.Chtimes(filepath.Join(d.path, ownerLock), old, old); err != nil {
			t.Fatal(err)
		}
	}
	sweepTempDirs()
	if _, err := os.Stat(held.path); err != nil {
		t.Errorf("removed one in use: %v", err)
	}
	if _, err := os.Stat(dead.path); !os.IsNotExist(err) {
		t.Errorf("kept one of a dead owner: %v", err)
	}
}

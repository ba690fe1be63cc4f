package mcptools

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
)

// D05, T66: when a worker is killed, the server that a shell or a package runner
// started for it ends, too, though it cares neither for the end of its input nor
// for its parent's.
func TestKilledHostLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newScripted(t, script{Tools: oneTool("send", "Sends.", textSchema), OnStart: "stay"})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(self)
	host.Env = append(os.Environ(), hostVariable+"="+s.file)
	out, err := host.StdoutPipe()
	if err == nil {
		err = host.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	pid := strings.TrimPrefix(s.lines("start ")[0], "start ")
	if !lives(pid) {
		t.Fatal("the server does not live")
	}
	_ = host.Process.Kill()
	_ = host.Wait()
	eventually(t, "the server is gone", func() bool { return !lives(pid) })
}

// lives says that there is a process that is more than an entry.
func lives(pid string) bool {
	data, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(data), ") ")
	return !strings.HasPrefix(state, "Z")
}

// children are the processes that this one has.
func children(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		t.Fatalf("this test looks for processes in /proc: %v", err)
	}
	n := 0
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // of the system
		if err != nil {
			continue // it has just ended
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			n++
		}
	}
	return n
}

// T66, D05: connecting again and again leaves nothing behind: no process, no
// file, no goroutine.
func TestReconnectsLeaveNothing(t *testing.T) { // not beside others: it counts what this process has
	s := newScripted(t, script{Tools: oneTool("send", "Sends.", textSchema), Result: []byte(fineResult)})
	c := s.connect(Options{})
	h := newRawHTTP(t, tool(textSchema))
	remote := h.connect(t, Options{})
	var first, last [3]int
	for i := range 60 {
		for _, c := range []*Connection{c, remote} {
			if _, v := run(t, c.Tools()[0], `{"text":"a"}`); v.Outcome != contract.OutcomeDone {
				t.Fatalf("got %+v", v)
			}
		}
		last = [3]int{children(t), files(t), runtime.NumGoroutine()}
		if i == 9 {
			first = last
		}
		killServer(t, s)
		remote.mu.Lock()
		live := remote.live
		remote.mu.Unlock()
		if live != nil {
			live.drop()
		}
	}
	for i, what := range []string{"processes", "files", "goroutines"} {
		if last[i] > first[i]+10 {
			t.Errorf("%s grew from %d to %d", what, first[i], last[i])
		}
	}
	t.Logf("processes, files, goroutines: %v after 10, %v after 60", first, last)
}

func files(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

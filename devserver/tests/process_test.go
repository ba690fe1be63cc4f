// Package tests runs the built devserver as its users do: as a process, with real signals and real clients.
// It is not in package main, so that testing does not compile the whole server a second time.
package tests

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
)

const (
	config    = "../../temporal-dev.yaml"
	readyWait = 60 * time.Second // a loaded machine; 0.5 s on an idle one
)

var binary string

// TestMain builds the binary once, with the flags and the environment of internal/devproc, so that the packages
// come from the same build cache entries.
func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "devserver-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "devserver")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", "-s -w", "-o", binary, "..")
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot build the devserver: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// process is a devserver, running or ended.
type process struct {
	t     testing.TB
	cmd   *exec.Cmd
	stdin io.WriteCloser // with --stdin-lifeline, what it watches
	ready chan string    // the line on standard output
	done  chan struct{}

	mu     sync.Mutex
	stdout []string
	stderr bytes.Buffer

	// From the line, once awaited.
	Address, UI, HTTP, Namespace, DB string
	PID                              int
}

// launch starts a devserver on the repository's configuration and does not wait for it.
func launch(t testing.TB, args ...string) *process {
	t.Helper()
	p := &process{t: t, ready: make(chan string, 1), done: make(chan struct{})}
	p.cmd = exec.Command(binary, append([]string{"--config", config}, args...)...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr = writer(func(b []byte) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stderr.Write(b)
	})
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			p.mu.Lock()
			p.stdout = append(p.stdout, lines.Text())
			if len(p.stdout) == 1 {
				p.ready <- lines.Text()
			}
			p.mu.Unlock()
		}
		_ = p.cmd.Wait()
	}()
	t.Cleanup(p.kill)
	return p
}

// start launches a devserver on free ports and waits until it is ready.
func start(t testing.TB, db string, args ...string) *process {
	t.Helper()
	return launch(t, append([]string{"--port", "0", "--db", db}, args...)...).await()
}

func (p *process) await() *process {
	p.t.Helper()
	select {
	case line := <-p.ready:
		if err := json.Unmarshal([]byte(line), p); err != nil {
			p.t.Fatalf("the line on standard output is not JSON: %v\n%s", err, line)
		}
	case <-p.done:
		p.t.Fatalf("ended before it was ready: %s", p.errors())
	case <-time.After(readyWait):
		p.t.Fatalf("not ready after %s: %s", readyWait, p.errors())
	}
	return p
}

// ends waits for the end of the process, and fails when it takes longer than limit.
func (p *process) ends(limit time.Duration) (exitCode int) {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		p.t.Fatalf("still running after %s", limit)
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// stop ends it as a user does and expects a clean end.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.ends(10 * time.Second); code != 0 {
		p.t.Fatalf("exit code %d after SIGTERM: %s", code, p.errors())
	}
}

// kill ends it as a crash does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

func (p *process) errors() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.TrimSpace(p.stderr.String())
}

func (p *process) output() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.stdout...)
}

// client dials the server; it is closed with the test.
func (p *process) client() sdkclient.Client {
	p.t.Helper()
	c, err := sdkclient.Dial(sdkclient.Options{HostPort: p.Address, Namespace: p.Namespace, Logger: quiet{}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(c.Close)
	return c
}

func newDB(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "temporal.db")
}

func within(t testing.TB, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// eventually repeats check until it returns nil. It is for what Temporal itself promises only eventually:
// visibility, and what follows a server's restart.
func eventually(t testing.TB, limit time.Duration, check func() error) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still not so after %s: %v", limit, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// writer makes an io.Writer of a function.
type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// quiet is an SDK logger that says nothing: workers complain about servers that tests kill.
type quiet struct{}

func (quiet) Debug(string, ...any)            {}
func (quiet) Info(string, ...any)             {}
func (quiet) Warn(string, ...any)             {}
func (quiet) Error(string, ...any)            {}
func (q quiet) With(...any) log.Logger        { return q }
func (q quiet) WithCallerSkip(int) log.Logger { return q }

var errNotYet = errors.New("not yet")

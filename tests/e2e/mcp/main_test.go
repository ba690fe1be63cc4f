// Package mcp runs agents with MCP servers that nobody here wrote, on a real
// Temporal server.
package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdkworker "go.temporal.io/sdk/worker"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tests/npm"
	"github.com/turnkeel/turnkeel/tooldefs"
)

var server agenttest.Server

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == ownServer {
		serveOwn(os.Args[2])
		return
	}
	os.Exit(agenttest.RunMain(m, &server))
}

// bench is a worker that reads its agent from a file.
type bench struct {
	*agenttest.Bench
	t      *testing.T
	folder string // of the agents
	tools  []*tooldefs.Tool
	Host   *turnkeel.Host
	Log    *observer.ObservedLogs
	stop   func() // of the latest worker
}

// newBench writes the agent's file, to which the model is added, and runs a
// worker on it. What the steps call are tools of the agent.
func newBench(t *testing.T, yaml string, steps ...agenttest.Step) *bench {
	t.Helper()
	return newBenchOf(t, nil, yaml, steps...)
}

// newBenchOf is [newBench] with tools of the worker.
func newBenchOf(t *testing.T, tools []*tooldefs.Tool, yaml string, steps ...agenttest.Step) *bench {
	t.Helper()
	b := &bench{
		tools: tools,
		Bench: agenttest.NewBench(t, agenttest.BenchOptions{Server: server, NoWorker: true, Script: agenttest.Script{Steps: steps}}),
		t:     t, folder: t.TempDir(),
	}
	dir := filepath.Join(b.folder, agenttest.AgentName)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("model: openai/scripted\nendpoint: {base_url: %q}\n%s", b.Model.URL(), yaml)
	for name, text := range map[string]string{"agent.yaml": text, "first.md": "Be the first.", "second.md": "Be the second."} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.serve()
	return b
}

// serve runs a worker until stop is called or the test ends.
func (b *bench) serve() {
	b.t.Helper()
	core, log := observer.New(zap.DebugLevel)
	b.Log = log
	b.Host, b.stop = work(b.t, b.Bench, turnkeel.Options{AgentsDir: b.folder, Tools: b.tools, Logger: zap.New(core)})
}

// work runs a worker until stop is called or the test ends.
func work(t *testing.T, b *agenttest.Bench, o turnkeel.Options) (host *turnkeel.Host, stop func()) {
	t.Helper()
	host, err := turnkeel.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(b.Temporal, b.Queue, options)
	host.Register(worker)
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		worker.Stop()
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return host, stop
}

// pending is the one call that waits for a person.
func (b *bench) pending(turn *turnkeel.Turn) contract.Pending {
	b.t.Helper()
	var found contract.Pending
	eventually(b.t, "a call waits for a person", func() bool {
		status, err := b.Turns.Status(b.t.Context(), turn.ID)
		if err != nil || len(status.Pending) != 1 {
			return false
		}
		found = status.Pending[0]
		return true
	})
	return found
}

func (b *bench) approve(turn *turnkeel.Turn, p contract.Pending) {
	b.t.Helper()
	_, err := b.Turns.Decide(b.t.Context(), turn.ID, contract.DecideRequest{Key: p.Key, Digest: p.Digest, Approve: true, By: "ann"})
	if err != nil {
		b.t.Fatal(err)
	}
}

func call(name string, args map[string]any) agenttest.Step {
	return agenttest.Step{Calls: []agenttest.ScriptCall{{Name: name, Args: args}}}
}

func said(text string) agenttest.Step { return agenttest.Step{Text: text} }

// wantEffects compares tool, class and outcome, in order.
func wantEffects(t *testing.T, out agenttest.Outcome, want ...string) {
	t.Helper()
	var got []string
	for _, e := range out.Effects {
		got = append(got, fmt.Sprintf("%s %s %s", e.Tool, e.Class, e.Outcome))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("effects\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if out.Err != nil || out.Result.Status != contract.StatusCompleted {
		t.Errorf("the turn ended as %s: %v", out.Result.Status, out.Err)
	}
}

// results are the texts of the tool messages, as the model reads them.
func results(out agenttest.Outcome) []string {
	var texts []string
	for _, m := range out.Messages {
		if m.Role == contract.RoleTool {
			texts = append(texts, m.Content)
		}
	}
	return texts
}

// eventually waits for a condition of another process.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to be that %s", what)
		}
		time.Sleep(20 * time.Millisecond) // another process says nothing that could be waited for
	}
}

// servers are the processes that have the mark among their arguments.
func servers(t *testing.T, mark string) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("this test finds a server's process in /proc: %v", err)
	}
	var pids []int
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // of the system
		if err != nil {
			continue // it has just ended
		}
		for _, arg := range strings.Split(string(data), "\x00") {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); arg == mark && err == nil && pid != os.Getpid() {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func everything(t *testing.T) string {
	return npm.Module(t, "@modelcontextprotocol/server-everything/dist/index.js")
}

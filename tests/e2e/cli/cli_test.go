// Package cli runs the starter and the worker as a user does: as processes,
// with signals, beside the temporal command line.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/internal/toolbin"
)

var (
	server  agenttest.Server
	starter string
	worker  string
	agents  string
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "turnkeel-cli")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	starter, worker = filepath.Join(dir, "starter"), filepath.Join(dir, "worker")
	for bin, pkg := range map[string]string{starter: "./starter", worker: "./worker"} {
		build := exec.CommandContext(ctx, "go", "build", "-o", bin, pkg) //nolint:gosec // our own
		build.Dir = "../../.."
		if out, err := build.CombinedOutput(); err != nil {
			return fail(fmt.Errorf("build %s: %w\n%s", pkg, err, out))
		}
	}
	if agents, err = filepath.Abs("../../../agents"); err != nil {
		return fail(err)
	}
	var stop func()
	if server, stop, err = agenttest.MainServer(ctx); err != nil {
		return fail(err)
	}
	defer stop()
	return m.Run()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// result is a finished command.
type result struct {
	out, errOut string
	code        int
}

// command is a starter or worker that works in a folder of its own. Variables
// of the model are taken away, unless env sets them.
func command(t *testing.T, dir, bin string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bin, args...) //nolint:gosec // a test's own
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OPENAI_") && !strings.HasPrefix(v, "TEMPORAL_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

func onServer() []string { return []string{"TEMPORAL_ADDRESS=" + server.Address} }

func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v\n%s", cmd, err, errOut.String())
	}
	return result{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

type report struct {
	WorkflowID string `json:"workflow_id"`
	RunID      string `json:"run_id"`
	Status     string `json:"status"`
	Text       string `json:"text"`
	Steps      int    `json:"steps"`
	WebUI      string `json:"web_ui"`
	Effects    []struct {
		Ordinal, Attempts  int
		Tool, Key, Outcome string
	} `json:"effects"`
}

// demo runs the demo on the test's server and decodes its one JSON object.
func demo(t *testing.T, dir string) report {
	t.Helper()
	r := finish(t, command(t, dir, starter, onServer(), "demo", "--agents", agents, "--output", "json"))
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	var got report
	dec := json.NewDecoder(strings.NewReader(r.out))
	if err := dec.Decode(&got); err != nil {
		t.Fatalf("%v in:\n%s", err, r.out)
	}
	if dec.More() {
		t.Errorf("more than one object:\n%s", r.out)
	}
	return got
}

func TestDemo_JSON(t *testing.T) {
	t.Parallel()
	got := demo(t, t.TempDir())
	if got.Status != "completed" || got.Steps != 3 || len(got.Effects) != 3 || got.Text == "" || got.WebUI == "" {
		t.Fatalf("%+v", got)
	}
	if n := got.Effects[2].Attempts; n != 2 {
		t.Errorf("%d attempts of the refund: its worker was to die once", n)
	}
	for i, tool := range []string{"lookup_order", "lookup_customer", "refund"} {
		if e := got.Effects[i]; e.Tool != tool || e.Outcome != "done" || e.Ordinal != i+1 || len(e.Key) != 64 {
			t.Errorf("effect %d: %+v", i+1, e)
		}
	}
}

// The demo with a server of its own: text, exit code, nothing left behind, and
// one line in the ledger although the worker was killed in the refund.
func TestDemo_OwnServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := finish(t, command(t, dir, starter, nil, "demo", "--agents", agents, "--port", "0"))
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	for _, want := range []string{"a script plays it", "asks for 2 calls", "the worker is killed", "attempt 2", "Web UI: http://", "has 1 line"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the demo does not say %q:\n%s", want, r.out)
		}
	}
}

// Ctrl-C at any moment: one line, non-zero, no process and no lock left: the
// same folder serves a demo again at once.
func TestDemo_CtrlC(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{50, 400, 1200, 2000} {
		after *= time.Millisecond
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := command(t, dir, starter, nil, "demo", "--agents", agents, "--port", "0", "--keep")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			cmd.Cancel = func() error { return cmd.Process.Kill() }
			time.AfterFunc(after, func() {
				if cmd.Process != nil {
					_ = cmd.Process.Signal(os.Interrupt)
				}
			})
			r := finish(t, cmd)
			if r.code == 0 && !strings.Contains(r.out, "Ctrl-C stops them") {
				t.Errorf("exit code 0 after an interrupt\n%s%s", r.out, r.errOut)
			}
			if left := processesIn(t, dir); left != "" {
				t.Errorf("left behind:\n%s", left)
			}
			again := finish(t, command(t, dir, starter, nil, "demo", "--agents", agents, "--port", "0"))
			if again.code != 0 {
				t.Errorf("the next demo: exit code %d\n%s", again.code, again.errOut)
			}
		})
	}
}

// processesIn lists processes whose command line or working directory is dir.
func processesIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(entries) == 0 {
		t.Log("no /proc here")
		return ""
	}
	var left []string
	for _, p := range entries {
		line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		cwd, _ := os.Readlink(filepath.Join(p, "cwd"))
		if strings.HasPrefix(cwd, dir) || strings.Contains(string(line), dir) {
			left = append(left, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return strings.Join(left, "\n")
}

// Bad input gives one clear line that says what to do, and a non-zero exit.
func TestBadInput(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	empty := t.TempDir()
	nobody := []string{"TEMPORAL_ADDRESS=127.0.0.1:1"}
	for _, c := range []struct {
		name string
		bin  string
		env  []string
		args []string
		code int
		want string
	}{
		{"no server, starter", starter, nobody, []string{"list"}, 3, "starter dev"},
		{"no server, worker", worker, nobody, []string{"--agents", agents}, 1, "starter dev"},
		{"no agents", worker, onServer(), []string{"--agents", empty}, 1, "agent.yaml"},
		{"agents not there", worker, onServer(), []string{"--agents", filepath.Join(empty, "nope")}, 1, "nope"},
		{"demo without agents", starter, onServer(), []string{"demo"}, 1, "--agents"},
		{"port taken", starter, nil, []string{"demo", "--agents", agents, "--port", port, "--ui-port", "0"}, 1, "--port 0"},
		{"unknown command", starter, nil, []string{"nope"}, 2, "--help"},
		{"unknown flag", worker, nil, []string{"--nope"}, 2, "--help"},
		{"bad output", starter, nil, []string{"list", "--output", "xml"}, 2, "json"},
		{"no such turn", starter, onServer(), []string{"show", "nope"}, 3, "nope"},
		{"no message", starter, onServer(), []string{"run", "--agent", "support", " "}, 2, "message"},
		{"no agent named", starter, onServer(), []string{"run", "hello"}, 2, "agent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := finish(t, command(t, t.TempDir(), c.bin, c.env, c.args...))
			if r.code != c.code || !strings.Contains(r.errOut, c.want) {
				t.Errorf("exit code %d, want %d; wanted %q in:\n%s", r.code, c.code, c.want, r.errOut)
			}
			if n := strings.Count(strings.TrimSpace(r.errOut), "\n"); n > 2 {
				t.Errorf("%d lines:\n%s", n+1, r.errOut)
			}
		})
	}
}

// startStock runs the stock worker on a queue until the test ends.
func startStock(t *testing.T, queue string, env ...string) {
	t.Helper()
	startWorker(t, t.TempDir(), agents, queue, append(onServer(), env...)...)
}

// startWorker starts a worker in a folder, with agents of some folder, until the
// test ends.
func startWorker(t *testing.T, dir, agents, queue string, env ...string) {
	t.Helper()
	like := command(t, dir, worker, env)
	cmd := exec.Command(worker, "--agents", agents, "--task-queue", queue) //nolint:gosec // it must outlive the test's ctx, to be stopped in an orderly way
	cmd.Dir, cmd.Env = like.Dir, like.Env
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the worker did not stop cleanly: %v\n%s", err, log.String())
		}
	})
}

// Turns that cannot work end as failed, with one line that says what to do.
func TestRun_Failures(t *testing.T) {
	t.Parallel()
	startStock(t, "no-key")
	startStock(t, "no-endpoint", "OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_API_KEY=x")
	for _, c := range []struct{ name, queue, agent, want string }{
		{"unknown agent", "no-key", "nobody", "support"},
		{"no key", "no-key", "support", "OPENAI_API_KEY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := finish(t, command(t, t.TempDir(), starter, onServer(), "run", "--agent", c.agent, "--task-queue", c.queue, "hello"))
			if r.code != 1 || !strings.Contains(r.errOut, c.want) {
				t.Errorf("exit code %d; wanted %q in:\n%s", r.code, c.want, r.errOut)
			}
		})
	}
}

// The temporal command line, against a demo's run.
func TestTemporalCLI(t *testing.T) {
	t.Parallel()
	cli, err := toolbin.TemporalCLI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ran := demo(t, dir)
	startStock(t, ran.WorkflowID) // a query needs a worker on the turn's queue
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"workflow", "list", "--query", "TurnkeelAgent = 'support'"}, []string{ran.WorkflowID}},
		{[]string{"workflow", "show", "--workflow-id", ran.WorkflowID}, []string{"ActivityTaskScheduled", "WorkflowExecutionCompleted"}},
		{[]string{"workflow", "describe", "--workflow-id", ran.WorkflowID}, []string{"turnkeel.Turn", "COMPLETED"}},
		{[]string{"workflow", "query", "--workflow-id", ran.WorkflowID, "--type", "status"}, []string{`"status":"completed"`, `"step":3`}},
		{[]string{"workflow", "metadata", "--workflow-id", ran.WorkflowID}, []string{"status"}},
	} {
		t.Run(strings.Join(c.args[:2], " "), func(t *testing.T) {
			out := eventually(t, cli, c.args, c.want[0])
			for _, want := range c.want {
				if !strings.Contains(strings.ReplaceAll(out, " ", ""), strings.ReplaceAll(want, " ", "")) {
					t.Errorf("%q is not in:\n%s", want, out)
				}
			}
		})
	}
	file := filepath.Join(dir, "history.json")
	show := finish(t, exec.CommandContext(t.Context(), cli, "workflow", "show", "--workflow-id", ran.WorkflowID, "--output", "json", "--address", server.Address)) //nolint:gosec // the pinned CLI
	if err := os.WriteFile(file, []byte(show.out), 0o600); err != nil {
		t.Fatal(err)
	}
	r := finish(t, command(t, dir, starter, onServer(), "effects", "--file", file, "--output", "json"))
	if r.code != 0 || strings.Count(r.out, "\n") != 3 {
		t.Errorf("effects of a saved history: exit code %d\n%s%s", r.code, r.out, r.errOut)
	}
}

// eventually runs a command of the CLI until it prints what is wanted:
// visibility follows a run with a delay.
func eventually(t *testing.T, cli string, args []string, want string) string {
	t.Helper()
	args = append(args, "--address", server.Address)
	var r result
	for range 50 {
		r = finish(t, exec.CommandContext(t.Context(), cli, args...)) //nolint:gosec // the pinned CLI
		if r.code == 0 && strings.Contains(r.out, want) {
			return r.out
		}
		time.Sleep(200 * time.Millisecond)
	}
	return r.out + r.errOut
}

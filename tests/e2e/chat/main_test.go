// Package chat runs conversations at a real terminal: the starter on a pty, a
// real Temporal server, worker processes that are killed, a scripted model.
package chat

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
	"github.com/turnkeel/turnkeel/tools/attachment"
)

var (
	server  agenttest.Server
	starter string
)

// What a worker process of a test is told. Its first variable makes the test
// binary one.
const (
	workerEnv = "TURNKEEL_TEST_WORKER" // task queue
	modelEnv  = "TURNKEEL_TEST_MODEL"
	ledgerEnv = "TURNKEEL_TEST_LEDGER"
	blobsEnv  = "TURNKEEL_BLOBS"
)

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		os.Exit(serveWorker())
	}
	dir, err := os.MkdirTemp("", "turnkeel-chat")
	if err == nil {
		starter = filepath.Join(dir, "starter")
		err = exec.Command("go", "build", "-o", starter, "../../../starter").Run() //nolint:gosec // our own
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the starter:", err)
	} else {
		code = agenttest.RunMain(m, &server)
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

type amount struct {
	Cents int    `json:"cents"`
	Note  string `json:"note,omitempty"`
}

// tools write each effect to the ledger, a file with one line for each.
func tools(ledger string) []*tooldefs.Tool {
	write := func(call *tooldefs.Call, what string) error {
		f, err := os.OpenFile(ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the test's own
		if err == nil {
			_, err = fmt.Fprintln(f, what, call.IdempotencyKey())
			err = errors.Join(err, f.Close())
		}
		return err
	}
	return []*tooldefs.Tool{
		tooldefs.Define(tooldefs.Spec[amount, string]{
			Name: "pay", Description: "Pays.", Approval: tooldefs.Always,
			Handler: func(_ context.Context, call *tooldefs.Call, in amount) (string, error) {
				return "paid", write(call, fmt.Sprint("pay ", in.Cents))
			},
		}),
		tooldefs.Define(tooldefs.Spec[amount, string]{
			Name: "work", Description: "Works until it is cut.", Effects: tooldefs.None, Timeout: time.Hour,
			Handler: func(ctx context.Context, call *tooldefs.Call, _ amount) (string, error) {
				call.Progress("half way")
				<-ctx.Done()
				return "", errors.Join(ctx.Err(), write(call, "work was cut"))
			},
		}),
		tooldefs.Define(tooldefs.Spec[amount, string]{
			Name: "wire", Description: "Wires, and does not know.", OnUnknown: tooldefs.AskHuman,
			Handler: func(_ context.Context, call *tooldefs.Call, _ amount) (string, error) {
				return "", errors.Join(write(call, "wire"), tooldefs.Unknown(errors.New("the line was cut")))
			},
		}),
	}
}

// workerTools are the tools, and read_attachment where blobs are kept.
func workerTools() ([]*tooldefs.Tool, error) {
	offered := tools(os.Getenv(ledgerEnv))
	dir := os.Getenv(blobsEnv)
	if dir == "" || dir == "none" {
		return offered, nil
	}
	reads, err := attachment.Builtin().New(tooldefs.BuiltinDeps{Blobs: blob.Folder(dir)})
	return append(offered, reads...), err
}

func serveWorker() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	offered, err := workerTools()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	err = turnkeel.Run(ctx, turnkeel.Options{
		TaskQueue: os.Getenv(workerEnv), Tools: offered,
		Agents: []contract.Agent{{
			Name: agenttest.AgentName, Model: "openai/scripted", Tools: []string{"all"},
			Endpoint: contract.Endpoint{BaseURL: os.Getenv(modelEnv)},
		}},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// world is what a chat runs in. Its worker is a process of its own.
type world struct {
	*agenttest.Bench
	ledger string
	server agenttest.Server
	blobs  string // the worker's folder, or "none"
}

func newWorld(t *testing.T, s agenttest.Script) *world {
	t.Helper()
	return newWorldOn(t, server, s)
}

func newWorldOn(t *testing.T, on agenttest.Server, s agenttest.Script) *world {
	t.Helper()
	ledger := filepath.Join(t.TempDir(), "ledger")
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: on, NoWorker: true, Script: s, Tools: tools(ledger)})
	return &world{b, ledger, on, "none"}
}

// worker runs a worker process. kill ends it as a crash does.
func (w *world) worker(t *testing.T) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0]) //nolint:gosec // this test
	cmd.Env = append(os.Environ(), workerEnv+"="+w.Queue, modelEnv+"="+w.Model.URL(), ledgerEnv+"="+w.ledger,
		"TEMPORAL_ADDRESS="+w.server.Address, "TEMPORAL_NAMESPACE="+w.server.Namespace, blobsEnv+"="+w.blobs)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dead := false
	kill = func() {
		if !dead {
			dead = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(kill)
	return kill
}

// effects are the ledger's lines.
func (w *world) effects(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(w.ledger)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var what []string
	lines := bufio.NewScanner(strings.NewReader(string(data)))
	for lines.Scan() {
		name, _, _ := strings.Cut(lines.Text(), " ")
		what = append(what, name)
	}
	return what
}

// person is somebody at a terminal.
type person struct {
	*screen
	t    *testing.T
	cmd  *exec.Cmd
	keys *os.File
	over chan struct{}
}

// command is the starter in a folder and an environment of its own.
func command(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), starter, args...) //nolint:gosec // our own
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"TEMPORAL_ADDRESS=" + server.Address, "TURNKEEL_USER=ann", "TERM=xterm", "HOME=" + cmd.Dir}, env...)
	return cmd
}

// sit runs the starter at a terminal.
func sit(t *testing.T, env []string, args ...string) *person {
	t.Helper()
	return sitAt(t, 240, env, args...)
}

// sitAt runs it at a terminal of so many columns.
func sitAt(t *testing.T, columns int, env []string, args ...string) *person {
	t.Helper()
	cmd := command(t, env, args...)
	keys, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(columns), Rows: 40}) //nolint:gosec // few
	if err != nil {
		t.Fatal(err)
	}
	p := &person{newScreen(columns), t, cmd, keys, make(chan struct{})}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := keys.Read(buf)
			_, _ = p.Write(buf[:n])
			if err != nil { // the other end is closed
				_ = cmd.Wait()
				close(p.over)
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.over
		_ = keys.Close()
		if t.Failed() {
			t.Logf("the screen:\n%s", p.text())
		}
	})
	return p
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := p.keys.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// sees waits until the text stands on the screen n times.
func (p *person) sees(text string, n int) {
	p.t.Helper()
	p.until(strconv.Quote(text), func() bool { return strings.Count(p.text(), text) >= n })
}

// until waits until the screen is as wanted.
func (p *person) until(what string, wanted func() bool) {
	p.t.Helper()
	for {
		changed := p.change()
		if wanted() {
			return
		}
		select {
		case <-changed:
		case <-p.over:
			if wanted() {
				return
			}
			p.t.Fatalf("it ended without %s", what)
		case <-time.After(time.Minute):
			p.t.Fatalf("%s does not come", what)
		}
	}
}

// left waits for the end and gives the exit code.
func (p *person) left() int {
	p.t.Helper()
	<-p.over
	return p.cmd.ProcessState.ExitCode()
}

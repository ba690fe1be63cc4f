package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/examples/support"
	"github.com/turnkeel/turnkeel/tools"
)

// workerProcessCommand is the hidden command by which the starter runs a
// worker as a process of its own.
const workerProcessCommand = "worker-process"

// workerCommand serves turns until it is told to stop, or until its standard
// input ends: then its parent is gone, and nothing is left behind.
func (a *app) workerCommand() *cobra.Command {
	var o turnkeel.Options
	var ledger string
	var dies bool
	cmd := &cobra.Command{
		Use: workerProcessCommand, Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			go func() {
				_, _ = io.Copy(io.Discard, a.in)
				cancel()
			}()
			o.Tools, o.Builtins = support.Tools(ledger), tools.All()
			if dies {
				o.Tools = support.CrashingTools(ledger, killSelf)
			}
			return turnkeel.Run(ctx, o)
		},
	}
	cmd.Flags().StringVar(&o.TaskQueue, "task-queue", "", "")
	cmd.Flags().StringVar(&o.AgentsDir, "agents", "", "")
	cmd.Flags().StringVar(&ledger, "ledger", "", "")
	cmd.Flags().BoolVar(&dies, "dies", false, "")
	return cmd
}

// killSelf is SIGKILL, after which nothing of this process runs.
func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// workerProcess is a worker that runs as a child of the starter.
type workerProcess struct {
	cmd  *exec.Cmd
	life io.WriteCloser
	done chan struct{}
	err  error // of the process, once done is closed

	stopOnce sync.Once
}

type workerConfig struct {
	queue, agents, ledger string
	env                   []string
	log                   io.Writer
	dies                  bool // in the middle of its first refund
}

func startWorker(c workerConfig) (*workerProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self, workerProcessCommand, "--task-queue", c.queue, "--agents", c.agents, "--ledger", c.ledger, "--dies="+strconv.FormatBool(c.dies)) //nolint:gosec // our own binary
	cmd.Env, cmd.Stdout, cmd.Stderr = c.env, c.log, c.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C is ours to pass on
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the worker: %w", err)
	}
	w := &workerProcess{cmd: cmd, life: life, done: make(chan struct{})}
	go func() {
		w.err = cmd.Wait()
		close(w.done)
	}()
	return w, nil
}

// killed says whether SIGKILL ended it; only once done is closed.
func (w *workerProcess) killed() bool {
	status, ok := w.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// stop asks the worker to stop, and kills it if it does not.
func (w *workerProcess) stop() {
	w.stopOnce.Do(func() {
		_ = w.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-w.done:
		case <-time.After(turnkeel.DefaultStopTimeout + 5*time.Second):
			_ = w.cmd.Process.Kill()
			<-w.done
		}
		_ = w.life.Close()
	})
}

// localEnv is this process's environment, pointed at a server of our own: no
// profile or key of another cluster reaches it.
func localEnv(address, namespace string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "TEMPORAL_") {
			env = append(env, v)
		}
	}
	return append(env, "TEMPORAL_ADDRESS="+address, "TEMPORAL_NAMESPACE="+namespace, "TEMPORAL_CONFIG_FILE="+os.DevNull)
}

// tail keeps the last bytes written to it: what a dead process said last.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = t.text[over:]
	}
	return len(p), nil
}

func (t *tail) lastLines() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	if text == "" {
		return errors.New("the worker ended without a word")
	}
	return errors.New("the worker ended:\n" + text)
}

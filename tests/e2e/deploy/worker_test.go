package deploy

import (
	"bufio"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// shop is a task queue with a scripted model that has the agent pay once. Its
// workers are processes.
type shop struct {
	*agenttest.Bench
	t *testing.T
}

func newShop(t *testing.T) *shop {
	t.Helper()
	return &shop{t: t, Bench: agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, NoWorker: true,
		Script: agenttest.Script{Steps: []agenttest.Step{
			{Calls: []agenttest.ScriptCall{{Name: "pay", Args: map[string]any{"cents": 500}}}}, {Text: "done"},
		}},
	})}
}

// env is that of the shop's worker of a code and, if not empty, build.
func (s *shop) env(code, build string, more ...string) []string {
	env := append([]string{codeEnv + "=" + code, modelEnv + "=" + s.Model.URL()}, more...)
	if build != "" {
		env = append(env, "TURNKEEL_BUILD_ID="+build)
	}
	return env
}

// worker runs a worker process until stop, which ends it as a deploy does, or
// the test's end. It returns once the worker polls.
func (s *shop) worker(code, build string, more ...string) (stop func()) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), workerBinary(), "run", "--task-queue", s.Queue, "--stop-timeout", "1s") //nolint:gosec // this test
	cmd.Env = environment(s.env(code, build, more...)...)
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	lines, done := bufio.NewScanner(log), make(chan struct{})
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), "worker serves turns") {
			break
		}
	}
	go func() {
		for lines.Scan() { // a full pipe would stop the worker
		}
		_ = cmd.Wait()
		close(done)
	}()
	if lines.Err() != nil || len(said) == 0 || !strings.Contains(said[len(said)-1], "worker serves turns") {
		s.t.Fatalf("the worker does not serve:\n%s", strings.Join(said, "\n"))
	}
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-done
	}
	s.t.Cleanup(stop)
	return stop
}

// current makes a build the current one of the shop's deployment, which has
// the task queue's name. The server knows a build once its worker has polled.
func (s *shop) current(build string) {
	s.t.Helper()
	until(s.t, "make "+build+" current", func() (bool, string) {
		r := command(s.t, nil, temporal, "worker", "deployment", "set-current-version",
			"--deployment-name", s.Queue, "--build-id", build, "--yes")
		return r.code == 0, r.out + r.errOut
	})
}

// registered waits until the server knows a build: its worker has polled.
func (s *shop) registered(build string) {
	s.t.Helper()
	until(s.t, "the server knows "+build, func() (bool, string) {
		r := command(s.t, nil, temporal, "worker", "deployment", "describe-version", "--deployment-name", s.Queue, "--build-id", build)
		return r.code == 0, r.out + r.errOut
	})
}

// parked waits until a turn, or an order, waits for a person.
func (s *shop) parked(id string) contract.Pending {
	s.t.Helper()
	var waits contract.Pending
	until(s.t, id+" parks", func() (bool, string) {
		status, err := s.Turns.Status(s.t.Context(), id)
		if err != nil {
			return false, err.Error()
		}
		if len(status.Pending) == 1 {
			waits = status.Pending[0]
		}
		return len(status.Pending) == 1, string(status.Status)
	})
	return waits
}

func (s *shop) approve(id string, p contract.Pending) {
	s.t.Helper()
	if _, err := s.Turns.Decide(s.t.Context(), id, contract.DecideRequest{Key: p.Key, Digest: p.Digest, Approve: true, By: "ann"}); err != nil {
		s.t.Fatal(err)
	}
}

// order starts the worker's own workflow.
func (s *shop) order() client.WorkflowRun {
	s.t.Helper()
	run, err := s.Temporal.ExecuteWorkflow(s.t.Context(), client.StartWorkflowOptions{ID: "order-" + s.Queue, TaskQueue: s.Queue}, orderType, 500)
	if err != nil {
		s.t.Fatal(err)
	}
	return run
}

// replay runs the command replay of the shop's worker of that code.
func (s *shop) replay(code string, args ...string) result {
	s.t.Helper()
	return command(s.t, s.env(code, ""), workerBinary(), append([]string{"replay"}, args...)...)
}

package agenttest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	sdkworker "go.temporal.io/sdk/worker"

	"go.temporal.io/sdk/interceptor"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/conn"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// crashEnv makes a test binary a worker process; it holds a crashConfig.
const crashEnv = "TURNKEEL_CRASH_WORKER"

// crashConfig is what a worker process is told.
type crashConfig struct {
	Name        string         `json:"name"` // its identity at the server
	Server      Server         `json:"server"`
	Queue       string         `json:"queue"`
	Agent       contract.Agent `json:"agent"`
	StopTimeout time.Duration  `json:"stop_timeout"`
	Signal      syscall.Signal `json:"signal"` // by which it ends itself when told so
}

// CrashWorker makes this process a worker of [Crash], if that has started it:
// then it serves turns with the tools and never returns. In all other processes
// it does nothing. Call it first in TestMain:
//
//	func TestMain(m *testing.M) {
//		agenttest.CrashWorker(myTools)
//		os.Exit(m.Run())
//	}
//
// tools is only called in a worker process. What they need to know (the address
// of the service that they call) comes by [CrashOptions.Env].
func CrashWorker(tools func() []*tooldefs.Tool) {
	text := os.Getenv(crashEnv)
	if text == "" {
		return
	}
	var c crashConfig
	err := json.Unmarshal([]byte(text), &c)
	if err == nil {
		err = c.serve(tools())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve is a worker at default settings, until a stop signal or the end of its
// standard input: then the test is gone.
func (c crashConfig) serve(tools []*tooldefs.Tool) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tap := &crashTap{out: os.NewFile(3, "reports"), signal: c.Signal}
	go func() {
		tap.listen(os.Stdin)
		cancel()
	}()
	options, info, err := c.Server.options()
	if err != nil {
		return err
	}
	options.Identity = c.Name
	client, err := conn.DialOptions(ctx, options, info)
	if err != nil {
		return err
	}
	defer client.Close()
	worker := sdkworker.New(client, c.Queue, c.options(tap))
	for _, t := range tools {
		c.Agent.Tools = append(c.Agent.Tools, t.Name())
	}
	if err := turnkeel.Register(worker, turnkeel.Options{Tools: tools, Agents: []contract.Agent{c.Agent}}); err != nil {
		return err
	}
	if err := worker.Start(); err != nil {
		return err
	}
	tap.report(crashReport{Kind: crashReady})
	<-ctx.Done()
	worker.Stop()
	return nil
}

func (c crashConfig) options(tap *crashTap) sdkworker.Options {
	options := sdkworker.Options{
		WorkerStopTimeout: c.StopTimeout,
		Interceptors:      []interceptor.WorkerInterceptor{tap},
	}
	turnkeel.SetWorkerDefaults(&options)
	return options
}

// listen takes commands until in ends.
func (t *crashTap) listen(in io.Reader) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		t.doom(crashPoint(lines.Text()))
	}
}

// end sends this process the signal that it is to end by.
func (t *crashTap) end() {
	t.report(crashReport{Kind: crashEnd})
	err := syscall.Kill(os.Getpid(), t.signal)
	if t.signal != syscall.SIGKILL {
		return
	}
	panic(errors.Join(errors.New("a killed process goes on"), err))
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/internal/conn"
	"github.com/turnkeel/turnkeel/internal/devproc"
)

// workerQueue is where a worker process takes its turns from.
const workerQueue = "bench-worker"

// workerSettings are what a worker process is told on its standard input, as
// one line of JSON.
type workerSettings struct {
	Address   string `json:"address"`
	Namespace string `json:"namespace"`
	Model     string `json:"model"` // base URL
	Cache     int    `json:"cache"` // workflows kept in memory
}

// reading is what a worker process says of itself: one line of JSON for each
// line that it reads.
type reading struct {
	RSS        int64 `json:"rss_bytes"` // after what is free was given back to the system
	Heap       int64 `json:"heap_bytes"`
	Goroutines int   `json:"goroutines"`
	Beats      int64 `json:"heartbeats"` // sent to the server so far
}

// rig is a tuned server, a client in this process and a worker in another.
type rig struct {
	server *devproc.Server
	client sdkclient.Client
	turns  *turnkeel.Client

	worker *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	close  []func()
}

// startRig brings everything up; nothing of it is left after an error.
func startRig(ctx context.Context, stderr io.Writer, model string, cache int) (_ *rig, err error) {
	r := &rig{}
	defer func() {
		if err != nil {
			r.stop()
		}
	}()
	bin, err := devproc.Ensure(ctx, devproc.Printer(stderr))
	if err != nil {
		return nil, err
	}
	if r.server, err = devproc.Start(ctx, bin, devproc.Options{Stderr: io.Discard}); err != nil {
		return nil, err
	}
	r.close = append(r.close, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = r.server.Stop(ctx)
	})
	r.client, err = conn.DialOptions(ctx, sdkclient.Options{HostPort: r.server.Address, Namespace: r.server.Namespace, Logger: quiet{}},
		conn.Info{Address: r.server.Address, Namespace: r.server.Namespace})
	if err != nil {
		return nil, err
	}
	r.close = append(r.close, r.client.Close)
	r.turns = turnkeel.NewClient(r.client, turnkeel.ClientOptions{Namespace: r.server.Namespace, TaskQueue: workerQueue})
	return r, r.startWorker(stderr, workerSettings{Address: r.server.Address, Namespace: r.server.Namespace, Model: model, Cache: cache})
}

// startWorker runs this program again as a worker, and waits until it serves.
func (r *rig) startWorker(stderr io.Writer, s workerSettings) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r.worker = exec.Command(self, workerCommand) //nolint:gosec // this program
	r.worker.Stderr = stderr
	if r.in, err = r.worker.StdinPipe(); err != nil {
		return err
	}
	out, err := r.worker.StdoutPipe()
	if err != nil {
		return err
	}
	r.out = bufio.NewScanner(out)
	if err := r.worker.Start(); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	r.close = append(r.close, func() { // the end of its input is the end of it
		_ = r.in.Close()
		_ = r.worker.Wait()
	})
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if _, err := r.in.Write(append(line, '\n')); err != nil {
		return err
	}
	_, err = r.read()
	return err
}

// measure has the worker give memory back and say how much it has.
func (r *rig) measure() (reading, error) {
	if _, err := r.in.Write([]byte("\n")); err != nil {
		return reading{}, fmt.Errorf("ask the worker: %w", err)
	}
	return r.read()
}

func (r *rig) read() (reading, error) {
	var got reading
	if !r.out.Scan() {
		return got, errors.Join(errors.New("the worker has ended; its last words stand above"), r.out.Err())
	}
	return got, json.Unmarshal(r.out.Bytes(), &got)
}

func (r *rig) stop() {
	for i := len(r.close) - 1; i >= 0; i-- {
		r.close[i]()
	}
	r.close = nil
}

// scripted runs a rig with a scripted model.
func scripted(ctx context.Context, stderr io.Writer, script agenttest.Script, cache int) (*rig, error) {
	model, err := agenttest.NewModelServer(script)
	if err != nil {
		return nil, err
	}
	r, err := startRig(ctx, stderr, model.URL(), cache)
	if err != nil {
		model.Close()
		return nil, err
	}
	r.close = append([]func(){model.Close}, r.close...)
	return r, nil
}

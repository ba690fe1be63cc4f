package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"google.golang.org/grpc"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// workerCommand makes this program a worker that says what it uses: see
// [workerSettings] and [reading]. It ends with its standard input.
const workerCommand = "worker-process"

// payTool is the worker's tool, which a person must allow.
const payTool = "pay"

type payment struct {
	Cents int `json:"cents"`
}

func runWorker(stdin io.Reader, stdout, stderr io.Writer) int {
	if err := workerProcess(stdin, stdout); err != nil {
		fmt.Fprintln(stderr, "bench worker:", err)
		return 1
	}
	return 0
}

func workerProcess(stdin io.Reader, stdout io.Writer) error {
	lines := bufio.NewScanner(stdin)
	if !lines.Scan() {
		return lines.Err()
	}
	var s workerSettings
	if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
		return err
	}
	var beats atomic.Int64
	options := sdkclient.Options{HostPort: s.Address, Namespace: s.Namespace, Logger: quiet{}}
	options.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(countBeats(&beats))}
	client, err := sdkclient.Dial(options)
	if err != nil {
		return err
	}
	defer client.Close()
	sdkworker.SetStickyWorkflowCacheSize(s.Cache)
	worker, err := payingWorker(client, s.Model)
	if err != nil {
		return err
	}
	defer worker.Stop()
	for answer := json.NewEncoder(stdout); ; {
		now, err := readSelf(beats.Load())
		if err == nil {
			err = answer.Encode(now)
		}
		if err != nil || !lines.Scan() {
			return err
		}
	}
}

func payingWorker(client sdkclient.Client, model string) (sdkworker.Worker, error) {
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(client, workerQueue, options)
	pay := tooldefs.Define(tooldefs.Spec[payment, string]{
		Name: payTool, Description: "Pays.", Approval: tooldefs.Always,
		Handler: func(context.Context, *tooldefs.Call, payment) (string, error) { return "paid", nil },
	})
	err := turnkeel.Register(worker, turnkeel.Options{Tools: []*tooldefs.Tool{pay}, Agents: []contract.Agent{{
		Name: agentName, Model: "openai/scripted", Tools: []string{payTool}, Endpoint: contract.Endpoint{BaseURL: model},
	}}})
	if err != nil {
		return nil, err
	}
	return worker, worker.Start()
}

// countBeats counts the heartbeats that reach the server, as it bills them.
func countBeats(n *atomic.Int64) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if strings.HasSuffix(method, "/RecordActivityTaskHeartbeat") {
			n.Add(1)
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}
}

// readSelf gives free memory back to the system and reads what is left.
func readSelf(beats int64) (reading, error) {
	debug.FreeOSMemory()
	debug.FreeOSMemory() // what finalizers and pools held is free only now
	rss, err := rssOf("self")
	if err != nil {
		return reading{}, err
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return reading{RSS: rss, Heap: int64(m.HeapAlloc), Goroutines: runtime.NumGoroutine(), Beats: beats}, nil //nolint:gosec // far below the limit
}

// rssOf is the resident memory of a process, in bytes, as Linux tells it.
func rssOf(process string) (int64, error) {
	data, err := os.ReadFile("/proc/" + process + "/statm")
	if err != nil {
		return 0, fmt.Errorf("resident memory is read from /proc, so this needs Linux: %w", err)
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(data), &size, &resident); err != nil {
		return 0, fmt.Errorf("read /proc/%s/statm: %w", process, err)
	}
	return resident * int64(os.Getpagesize()), nil
}

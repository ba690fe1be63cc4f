package toolcall

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"google.golang.org/grpc"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// beats counts the heartbeats that a client sends, by task token.
type beats struct {
	mu sync.Mutex
	by map[string]int
}

func (b *beats) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if r, ok := req.(*workflowservice.RecordActivityTaskHeartbeatRequest); ok {
		b.mu.Lock()
		b.by[string(r.GetTaskToken())]++
		b.mu.Unlock()
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}

func (b *beats) sent() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.by)
}

// counted is a metrics handler that says when the counter of abandoned handlers
// goes up.
type counted struct {
	sdkclient.MetricsHandler
	up chan struct{}
}

func (c counted) WithTags(map[string]string) sdkclient.MetricsHandler { return c }

func (c counted) Counter(name string) sdkclient.MetricsCounter {
	if name == "turnkeel_abandoned_handlers" {
		return c
	}
	return c.MetricsHandler.Counter(name)
}

func (c counted) Inc(int64) { c.up <- struct{}{} }

// T35, T37: a handler that ignores its ctx is left behind alone: the call ends at
// its timeout and frees its worker's one slot, no heartbeat is sent for it any
// more, and a metric counts it.
func TestT35_AHandlerIsLeftBehind(t *testing.T) {
	t.Parallel()
	sent := &beats{by: map[string]int{}}
	abandoned := make(chan struct{}, 10)
	client, err := sdkclient.DialContext(t.Context(), sdkclient.Options{
		HostPort: server.Address, Namespace: server.Namespace, MetricsHandler: counted{sdkclient.MetricsNopHandler, abandoned},
		ConnectionOptions: sdkclient.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(sent.intercept)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	tools := []*tooldefs.Tool{
		named("deaf", func(s *tooldefs.Spec[noteIn, any]) {
			s.Timeout = time.Second
			s.Handler = func(context.Context, *tooldefs.Call, noteIn) (any, error) { <-release; return nil, nil }
		}),
		named("next", func(s *tooldefs.Spec[noteIn, any]) {
			s.Handler = func(ctx context.Context, _ *tooldefs.Call, _ noteIn) (any, error) {
				before := sent.sent()
				select { // comes later than the next heartbeat would
				case <-abandoned:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				grown := 0
				for token, n := range sent.sent() {
					if n > before[token] {
						grown++
					}
				}
				return grown, nil
			}
		}),
	}
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: tools, NoWorker: true,
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{callOf("deaf", 1), callOf("next", 2)}}, {Text: "done"}}},
	})
	options := sdkworker.Options{MaxConcurrentActivityExecutionSize: 1, WorkerStopTimeout: 100 * time.Millisecond}
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(client, b.Queue, options)
	if err := turnkeel.Register(worker, turnkeel.Options{Tools: tools, Agents: []contract.Agent{{
		Name: agenttest.AgentName, Model: "openai/scripted", Tools: []string{"all"}, Endpoint: contract.Endpoint{BaseURL: b.Model.URL()},
	}}}); err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Stop)
	out := b.Run("go")
	if e := out.Effects[0]; e.Outcome != contract.OutcomeUnknown || e.Attempts != 1 {
		t.Errorf("the deaf one: %+v", e)
	}
	if e := out.Effects[1]; e.Outcome != contract.OutcomeDone || e.Text != "1" { // its own heartbeats alone
		t.Errorf("heartbeats were sent for %s activities: %+v", e.Text, e)
	}
}

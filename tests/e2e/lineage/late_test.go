package lineage

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// slowLine holds back the first completion of a tool call on its way to the
// server, until it is released, and keeps what the server answers to it then.
type slowLine struct {
	held    chan struct{} // closed when it is held
	release chan struct{}
	answer  chan error
	used    atomic.Bool
}

func (l *slowLine) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	r, ok := req.(*workflowservice.RespondActivityTaskCompletedRequest)
	if !ok || !strings.Contains(r.GetResult().String(), "late ok") || !l.used.CompareAndSwap(false, true) {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	close(l.held)
	<-l.release
	err := invoke(context.WithoutCancel(ctx), method, req, reply, cc, opts...)
	l.answer <- err
	return err
}

// C08, F01: the effect happened, the handler said so, and its completion comes
// to the server when the attempt is over there. It is refused: a Keyed call has
// run again under its key by then, any other is unknown and stays so.
func TestLateCompletion_OnTheLine(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]struct {
		outcome            contract.Outcome
		attempts, arrivals int
	}{
		once:  {contract.OutcomeUnknown, 1, 1},
		keyed: {contract.OutcomeDone, 2, 2},
		read:  {contract.OutcomeDone, 2, 2},
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, script(calls(call(tool, "late"))), worldOptions{noWorker: true})
			line := &slowLine{held: make(chan struct{}), release: make(chan struct{}), answer: make(chan error, 1)}
			w.workOver(t, line)
			turn := w.Start("go")
			<-line.held
			out := w.Wait(turn)
			completed(t, out)
			close(line.release)
			if err := <-line.answer; status.Code(err) != codes.NotFound {
				t.Errorf("the late completion was answered with %v", err)
			}
			e := out.Effects[0]
			if e.Outcome != want.outcome || e.Attempts != want.attempts {
				t.Errorf("%s after %d attempts, want %+v: %s", e.Outcome, e.Attempts, want, e.Text)
			}
			w.ledger.want(t, "late", want.arrivals)
			for _, key := range w.ledger.of("late") {
				if key != e.Key {
					t.Errorf("an attempt came under the key %.8s, the call's is %.8s", key, e.Key)
				}
			}
			ended := 0
			for _, event := range w.events(t, turn.ID, turn.RunID) {
				switch event.GetEventType() {
				case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
					ended++
				default:
				}
			}
			if ended != 3 { // two model calls and the tool's
				t.Errorf("%d activities ended", ended)
			}
		})
	}
}

// workOver runs a worker in this process whose completions take the line.
func (w *world) workOver(t *testing.T, line *slowLine) {
	t.Helper()
	client, err := sdkclient.DialContext(t.Context(), sdkclient.Options{
		HostPort: server.Address, Namespace: server.Namespace,
		ConnectionOptions: sdkclient.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(line.intercept)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(client, w.Queue, options)
	err = turnkeel.Register(worker, turnkeel.Options{
		Tools: toolset(w.ledger.url, w.timeout),
		Agents: []contract.Agent{{
			Name: agenttest.AgentName, Model: "openai/scripted", Tools: []string{"all"}, Endpoint: contract.Endpoint{BaseURL: w.Model.URL()},
		}},
	})
	if err == nil {
		err = worker.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Stop)
}

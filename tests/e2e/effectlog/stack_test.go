package effectlog

import (
	"context"
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/tooldefs"
)

var server agenttest.Server

func TestMain(m *testing.M) {
	os.Exit(agenttest.RunMain(m, &server))
}

const agentName = "log"

// options are what a test's worker has beside a scripted model.
type options struct {
	tools       []*tooldefs.Tool
	script      agenttest.Script
	limits      contract.Limits
	converter   converter.DataConverter
	blobs       blob.Store
	stepsPerRun int    // see contract.TurnInput
	stream      bool   // see contract.TurnInput
	endpoint    string // in place of the scripted model
}

// stack is a worker whose client has its own converter and counts metrics.
type stack struct {
	t      testing.TB
	client sdkclient.Client
	turns  *turnkeel.Client
	model  *agenttest.ModelServer
	queue  string
	meter  *meter
	o      options
}

func newStack(t testing.TB, o options) *stack {
	t.Helper()
	if o.endpoint != "" {
		o.script = agenttest.Script{Steps: []agenttest.Step{{Text: "not asked"}}}
	}
	model, err := agenttest.NewModelServer(o.script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	t.Cleanup(func() { model.Check(t) })
	s := &stack{t: t, model: model, queue: "log-" + strings.ToLower(rand.Text()[:12]), meter: newMeter(), o: o}
	s.client, err = sdkclient.DialContext(t.Context(), sdkclient.Options{
		HostPort: server.Address, Namespace: server.Namespace, DataConverter: o.converter,
		MetricsHandler: s.meter, Logger: quiet{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.client.Close)
	s.turns = turnkeel.NewClient(s.client, turnkeel.ClientOptions{Namespace: server.Namespace, TaskQueue: s.queue})
	s.work()
	return s
}

// work runs a worker until stop is called or the test ends.
func (s *stack) work() (stop func()) {
	s.t.Helper()
	agent := contract.Agent{
		Name: agentName, Model: "openai/scripted", Limits: s.o.limits, Endpoint: contract.Endpoint{BaseURL: s.model.URL()},
	}
	if s.o.endpoint != "" {
		agent.Endpoint.BaseURL = s.o.endpoint
	}
	for _, tool := range s.o.tools {
		agent.Tools = append(agent.Tools, tool.Name())
	}
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(s.client, s.queue, options)
	err := turnkeel.Register(worker, turnkeel.Options{
		Tools: s.o.tools, Agents: []contract.Agent{agent}, DataConverter: s.o.converter, Blobs: s.o.blobs,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		s.t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			worker.Stop()
		}
	}
	s.t.Cleanup(stop)
	return stop
}

// run runs a turn to its end.
func (s *stack) run(message string) outcome {
	s.t.Helper()
	return s.wait(s.start(message))
}

func (s *stack) start(message string) *turnkeel.Turn {
	s.t.Helper()
	turn, err := s.turns.Start(s.t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent: agentName, StepsPerRun: s.o.stepsPerRun, Stream: s.o.stream, Messages: []contract.Message{{Role: contract.RoleUser, Content: message}},
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	return turn
}

func (s *stack) wait(turn *turnkeel.Turn) outcome {
	s.t.Helper()
	out := outcome{id: turn.ID, runID: turn.RunID}
	out.result, out.err = turn.Result(s.t.Context())
	out.events = s.history(turn.ID, turn.RunID)
	var err error
	if out.run, err = fold.Build(out.events, s.o.converter); err != nil {
		s.t.Fatal(err)
	}
	return out
}

type outcome struct {
	id, runID string
	result    contract.TurnResult
	err       error
	events    []*historypb.HistoryEvent
	run       *fold.Run
}

func (s *stack) history(workflowID, runID string) []*historypb.HistoryEvent {
	s.t.Helper()
	var events []*historypb.HistoryEvent
	it := s.client.GetWorkflowHistory(s.t.Context(), workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			s.t.Fatal(err)
		}
		events = append(events, event)
	}
	return events
}

// steps is a model that asks for one call of tool a step, each with other
// arguments, and then answers.
func steps(tool string, n int) agenttest.Script {
	return agenttest.Script{Hook: func(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
		if r.Step > n {
			return &agenttest.Step{Text: "done"}
		}
		return &agenttest.Step{Calls: []agenttest.ScriptCall{{ID: "same", Name: tool, Raw: `{"n":` + strconv.Itoa(r.Step) + `}`}}}
	}}
}

// number is the input of the tests' tools.
type number struct {
	N int `json:"n"`
}

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

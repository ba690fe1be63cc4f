package agenttest

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	historypb "go.temporal.io/api/history/v1"
	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/conversation"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/replay"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// AgentName is the agent that a [Bench] serves.
const AgentName = "test"

// BenchOptions describe an agent under test. The zero value has no tools and
// an empty script.
type BenchOptions struct {
	// Tools are shown to the model and run for real.
	Tools []*tooldefs.Tool

	// Script is what the model says.
	Script Script

	// Agent is the agent, if the defaults do not do: its name, model endpoint
	// and tools are set for it.
	Agent contract.Agent

	// Server is where it runs. If zero, a server of its own.
	Server Server

	// StopTimeout is the worker's: see [turnkeel.Options.StopTimeout].
	StopTimeout time.Duration

	// NoWorker leaves it to the test to run a worker.
	NoWorker bool
}

// Bench is a worker with one agent, a scripted model and a real Temporal
// server. It ends with the test, which fails if the model was ever sent an
// illegal request.
type Bench struct {
	Temporal sdkclient.Client
	Turns    *turnkeel.Client
	Model    *ModelServer
	Queue    string

	t           testing.TB
	server      Server
	options     turnkeel.Options
	stopTimeout time.Duration
}

// NewBench brings the parts up.
func NewBench(t testing.TB, o BenchOptions) *Bench {
	t.Helper()
	if o.Server.Address == "" {
		o.Server = StartServer(t)
	}
	model, err := NewModelServer(o.Script)
	if err != nil {
		t.Fatalf("the scripted model: %v", err)
	}
	t.Cleanup(model.Close)
	t.Cleanup(func() { model.Check(t) })
	agent := o.Agent
	agent.Name, agent.Model, agent.Endpoint.BaseURL, agent.Tools = AgentName, "openai/scripted", model.URL(), nil
	for _, tool := range o.Tools {
		agent.Tools = append(agent.Tools, tool.Name())
	}
	b := &Bench{
		Temporal:    o.Server.Dial(t),
		Model:       model,
		Queue:       "test-" + strings.ToLower(rand.Text()[:12]),
		t:           t,
		server:      o.Server,
		stopTimeout: o.StopTimeout,
		options:     turnkeel.Options{Tools: o.Tools, Agents: []contract.Agent{agent}},
	}
	b.Turns = turnkeel.NewClient(b.Temporal, turnkeel.ClientOptions{Namespace: o.Server.Namespace, TaskQueue: b.Queue})
	if !o.NoWorker {
		b.StartWorker()
	}
	return b
}

// StartWorker runs a worker in this process until the returned stop is called
// or the test ends.
func (b *Bench) StartWorker() (stop func()) {
	b.t.Helper()
	return b.serve(b.options)
}

// Deploy is [Bench.StartWorker] with other tools: the next version of a program,
// for turns that the one before began. The agent has all of them.
func (b *Bench) Deploy(tools ...*tooldefs.Tool) (stop func()) {
	b.t.Helper()
	agent := b.options.Agents[0]
	agent.Tools = nil
	for _, tool := range tools {
		agent.Tools = append(agent.Tools, tool.Name())
	}
	return b.serve(turnkeel.Options{Tools: tools, Agents: []contract.Agent{agent}})
}

func (b *Bench) serve(o turnkeel.Options) (stop func()) {
	b.t.Helper()
	options := sdkworker.Options{WorkerStopTimeout: b.stopTimeout}
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(b.Temporal, b.Queue, options)
	if err := turnkeel.Register(worker, o); err != nil {
		b.t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		b.t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			worker.Stop()
		}
	}
	b.t.Cleanup(stop)
	return stop
}

// Start starts a turn with one user message.
func (b *Bench) Start(message string) *turnkeel.Turn {
	b.t.Helper()
	turn, err := b.Turns.Start(b.t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent: AgentName, Messages: []contract.Message{{Role: contract.RoleUser, Content: message}},
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	return turn
}

// Run runs a turn to its end and replays its history against the code at
// hand: a turn that cannot be replayed fails the test.
func (b *Bench) Run(message string) Outcome {
	b.t.Helper()
	return b.Wait(b.Start(message))
}

// Outcome is an ended turn.
type Outcome struct {
	Turn     *turnkeel.Turn
	Result   contract.TurnResult
	Err      error // of a failed or canceled turn
	Effects  []fold.Effect
	Messages []contract.Message
	History  *historypb.History
}

// Wait waits for a turn's end, as [Bench.Run] does.
func (b *Bench) Wait(turn *turnkeel.Turn) Outcome {
	b.t.Helper()
	out := Outcome{Turn: turn}
	out.Result, out.Err = turn.Result(b.t.Context())
	var err error
	if out.History, err = History(b.t.Context(), b.Temporal, turn.ID, turn.RunID); err != nil {
		b.t.Fatal(err)
	}
	run, err := fold.Build(out.History.GetEvents(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if session := run.SessionBase(); session != nil {
		reader := conversation.Reader{Service: b.Temporal.WorkflowService(), Namespace: b.server.Namespace}
		said, err := reader.Before(b.t.Context(), *session, run.WorkflowID)
		if err == nil {
			err = run.SetMessages(said)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	out.Effects = run.Effects()
	if out.Messages, err = run.Transcript(); err != nil {
		b.t.Fatal(err)
	}
	Replay(b.t, out.History)
	return out
}

// History reads a run's whole history; an empty runID is the latest.
func History(ctx context.Context, c sdkclient.Client, workflowID, runID string) (*historypb.History, error) {
	return replay.History(ctx, c, workflowID, runID)
}

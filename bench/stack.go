package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/operatorservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/devproc"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// The task queues of the two sides. Each has a worker of its own in this
// process: the twin's workflow has the same type name as ours, since the model
// call reads its messages from the start of a turn and of nothing else.
// The names are equally long, for the bytes of history.
const (
	queueOurs = "bench-ours"
	queueBare = "bench-bare"
)

// stack is a server, a scripted model and the two workers.
type stack struct {
	client sdkclient.Client
	turns  *turnkeel.Client
	model  *agenttest.ModelServer
	close  []func()

	// attributes are those our client sets on this server, for the twin.
	attributes temporal.SearchAttributes
}

// startStack brings everything up; close it also when it fails.
func startStack(ctx context.Context, bin string, stock bool) (_ *stack, err error) {
	s := &stack{}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	server, err := devproc.Start(ctx, bin, devproc.Options{Stock: stock, Stderr: io.Discard})
	if err != nil {
		return nil, err
	}
	s.close = append(s.close, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = server.Stop(ctx)
	})
	if s.model, err = agenttest.NewModelServer(script(shapes)); err != nil {
		return nil, err
	}
	s.close = append(s.close, s.model.Close)
	s.client, err = sdkclient.DialContext(ctx, sdkclient.Options{HostPort: server.Address, Namespace: server.Namespace, Logger: quiet{}})
	if err != nil {
		return nil, err
	}
	s.close = append(s.close, s.client.Close)
	if err := s.learnAttributes(ctx, server.Namespace); err != nil {
		return nil, err
	}
	s.turns = turnkeel.NewClient(s.client, turnkeel.ClientOptions{Namespace: server.Namespace, TaskQueue: queueOurs})
	return s, s.startWorkers()
}

// learnAttributes finds out, as our client does, whether the server has our
// search attributes: a stock one may not.
func (s *stack) learnAttributes(ctx context.Context, namespace string) error {
	known, err := s.client.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("list the search attributes: %w", err)
	}
	if _, ok := known.GetCustomAttributes()[contract.AttributeAgent]; ok {
		s.attributes = temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(contract.AttributeAgent).ValueSet(agentName))
	}
	return nil
}

// startWorkers runs a worker for each side, with one set of options.
func (s *stack) startWorkers() error {
	options := turnkeel.Options{
		Tools: []*tooldefs.Tool{look()},
		Agents: []contract.Agent{{
			Name: agentName, Model: "openai/scripted", Tools: []string{toolName},
			Endpoint: contract.Endpoint{BaseURL: s.model.URL()},
		}},
	}
	for _, queue := range []string{queueOurs, queueBare} {
		var workerOptions sdkworker.Options
		turnkeel.SetWorkerDefaults(&workerOptions)
		worker := sdkworker.New(s.client, queue, workerOptions)
		registry := turnkeel.Registry(worker)
		if queue == queueBare {
			registry = withBareTurn{worker}
		}
		if err := turnkeel.Register(registry, options); err != nil {
			return err
		}
		if err := worker.Start(); err != nil {
			return err
		}
		s.close = append(s.close, worker.Stop)
	}
	return nil
}

// withBareTurn is a worker that gets our activities and the twin's workflow in
// place of ours.
type withBareTurn struct{ turnkeel.Registry }

// RegisterWorkflowWithOptions registers the twin whatever it is given.
func (r withBareTurn) RegisterWorkflowWithOptions(_ any, o workflow.RegisterOptions) {
	r.Registry.RegisterWorkflowWithOptions(bareTurn, o)
}

// stop takes everything down, the last first.
func (s *stack) stop() {
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
	s.close = nil
}

// ended is a turn that came to its end.
type ended struct {
	id, runID string
	took      time.Duration // from before the start to the result in hand
}

// runner runs one turn of a shape.
type runner func(ctx context.Context, s shape) (ended, error)

// ours runs a turn as a program of a user does.
func (s *stack) ours(ctx context.Context, sh shape) (ended, error) {
	began := time.Now()
	turn, err := s.turns.Start(ctx, turnkeel.TurnRequest{Input: sh.input()})
	if err != nil {
		return ended{}, err
	}
	result, err := turn.Result(ctx)
	took := time.Since(began)
	return ended{turn.ID, turn.RunID, took}, sh.checked("our turn", result, err)
}

// bare runs the twin: the SDK's own calls with what our client would set.
func (s *stack) bare(ctx context.Context, sh shape) (ended, error) {
	began := time.Now()
	in := sh.input()
	run, err := s.client.ExecuteWorkflow(ctx, sdkclient.StartWorkflowOptions{
		ID:                       "turn-" + agentName + "-" + strings.ToLower(rand.Text()[:12]),
		TaskQueue:                queueBare,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		StaticSummary:            in.Agent + ": " + in.Messages[0].Content,
		TypedSearchAttributes:    s.attributes,
	}, contract.WorkflowTurn, in)
	if err != nil {
		return ended{}, fmt.Errorf("start the bare twin: %w", err)
	}
	var result contract.TurnResult
	err = run.Get(ctx, &result)
	took := time.Since(began)
	return ended{run.GetID(), run.GetRunID(), took}, sh.checked("the bare twin", result, err)
}

// checked makes a turn that did not do its work an error: a fast failure must
// never count as a fast turn.
func (s shape) checked(who string, r contract.TurnResult, err error) error {
	if err != nil {
		return fmt.Errorf("%s of %s: %w", who, s.Name, err)
	}
	if r.Status != contract.StatusCompleted || r.Text != secondText || r.Steps != models || r.Effects.Done != s.Tools {
		return fmt.Errorf("%s of %s did not do its work: %+v", who, s.Name, r)
	}
	return nil
}

// history reads the events of an ended turn.
func (s *stack) history(ctx context.Context, t ended) ([]*historypb.HistoryEvent, error) {
	var events []*historypb.HistoryEvent
	it := s.client.GetWorkflowHistory(ctx, t.id, t.runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			return nil, err
		}
		events = append(events, event)
	}
	return events, nil
}

// quiet drops the SDK's log: what matters is an error here.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

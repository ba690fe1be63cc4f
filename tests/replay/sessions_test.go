package replay

import (
	"context"
	"strings"
	"sync"

	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// again asks for one call for ever, as long as there are tools.
func again(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
	if len(r.Tools) == 0 {
		return &agenttest.Step{Text: "enough"}
	}
	return &agenttest.Step{Calls: calls("pay", 1)}
}

func reconciles(says tooldefs.Reconciled[string]) change {
	return func(s *tooldefs.Spec[payInput, string]) {
		s.Reconcile = func(context.Context, *tooldefs.Call, payInput) (tooldefs.Reconciled[string], error) { return says, nil }
	}
}

// paying is a script whose answer to "pay" is a call.
func paying() agenttest.Script {
	return agenttest.Script{
		Turns: []agenttest.ScriptTurn{{When: "pay", Steps: []agenttest.Step{{Calls: calls("pay", 1)}, {Text: "paid"}}}},
		Steps: []agenttest.Step{{Text: "fine"}},
	}
}

func session(k *keeper) {
	b := k.bench(agenttest.BenchOptions{Tools: []*tooldefs.Tool{tool("pay", gated)}, Script: paying()})
	id := "session-" + b.Queue
	busy := k.send(b, turnkeel.Message{Text: "pay", MessageID: "m1"})
	k.send(b, turnkeel.Message{Text: "pay", MessageID: "m1"})
	k.parked(b, busy.TurnID, 1)
	_, err := b.Turns.Send(k.Context(), turnkeel.Message{Session: id, Text: "hm", WhileBusy: contract.BusyReject})
	if err == nil || !strings.Contains(err.Error(), "busy") {
		k.Fatalf("not refused: %v", err)
	}
	queued := k.send(b, turnkeel.Message{Text: "and then", MessageID: "m2"})
	last := k.send(b, turnkeel.Message{Text: "never mind", MessageID: "m3", WhileBusy: contract.BusyInterrupt})
	for _, reply := range []contract.SendReply{busy, queued, last} {
		turn, err := b.Turns.Sent(k.Context(), reply.TurnID)
		if err != nil {
			k.Fatal(err)
		}
		k.end(b, turn.ID, "")
	}
	run := b.Temporal.GetWorkflow(k.Context(), id, "").GetRunID()
	k.keep("session-turn-1", b, busy.TurnID, "")
	k.keep("session-turn-2", b, queued.TurnID, "")
	k.idle(b, id, 3)
	k.keep("session", b, id, "")
	described, err := b.Temporal.DescribeWorkflow(k.Context(), id, run)
	if err != nil {
		k.Fatal(err)
	}
	k.reset(b, id, described.WorkflowExecution.RunID, 4)
	k.idle(b, id, 3)
	k.keep("session-reset", b, id, "")
	if err := b.Turns.Cancel(k.Context(), id); err != nil {
		k.Fatal(err)
	}
	k.end(b, id, "")
	k.keep("session-canceled", b, id, "")
}

// awaits cancels a session that was reset and waits for a turn of before.
func awaits(k *keeper) {
	b := k.bench(agenttest.BenchOptions{Tools: []*tooldefs.Tool{tool("pay", gated)}, Script: paying()})
	id := "session-" + b.Queue
	k.send(b, turnkeel.Message{Text: "hello", MessageID: "m1"})
	k.idle(b, id, 1)
	parked := k.send(b, turnkeel.Message{Text: "pay", MessageID: "m2"})
	k.parked(b, parked.TurnID, 1)
	run := k.reset(b, id, "", 4)
	for waits := false; !waits; {
		described, err := b.Temporal.DescribeWorkflow(k.Context(), id, run)
		if err != nil {
			k.Fatal(err)
		}
		for _, p := range described.RawResponse.GetPendingActivities() {
			waits = waits || p.GetActivityId() == "await.m2"
		}
	}
	if err := b.Turns.Cancel(k.Context(), id); err != nil {
		k.Fatal(err)
	}
	k.end(b, id, run)
	k.keep("session-awaits", b, id, run)
	k.keep("session-turn-said", b, parked.TurnID, "")
}

// idle waits until a session has ended so many turns and waits for a message.
func (k *keeper) idle(b *agenttest.Bench, id string, turns int) {
	k.Helper()
	for {
		s, err := b.Turns.SessionStatus(k.Context(), id)
		if err == nil && s.Turns == turns && s.Running == nil && len(s.Queue) == 0 {
			return
		}
		if k.Context().Err() != nil {
			k.Fatalf("%+v, %v", s, err)
		}
	}
}

// unasked interrupts a session's turn whose model has not answered yet.
func unasked(k *keeper) {
	asked := make(chan struct{})
	var once sync.Once
	b := k.bench(agenttest.BenchOptions{Script: agenttest.Script{Hook: func(ctx context.Context, r agenttest.ModelRequest) *agenttest.Step {
		if strings.Contains(r.User, "hang") {
			once.Do(func() { close(asked) })
			<-ctx.Done()
		}
		return &agenttest.Step{Text: "fine"}
	}}})
	hung := k.send(b, turnkeel.Message{Text: "hang"})
	<-asked
	next := k.send(b, turnkeel.Message{Text: "never mind", WhileBusy: contract.BusyInterrupt})
	turn, err := b.Turns.Sent(k.Context(), next.TurnID)
	if err != nil {
		k.Fatal(err)
	}
	k.end(b, turn.ID, "")
	k.keep("unasked", b, hung.TurnID, "")
	run := k.reset(b, hung.TurnID, "", 4) // there the interruption comes first
	k.end(b, hung.TurnID, run)
	k.keep("unasked-reset", b, hung.TurnID, run)
}

// sessionRuns has a session continue in a new run while a message waits.
func sessionRuns(k *keeper) {
	b := k.bench(agenttest.BenchOptions{Tools: []*tooldefs.Tool{tool("pay", gated)}, Script: paying()})
	id := "session-" + b.Queue
	first, err := b.Temporal.ExecuteWorkflow(k.Context(), sdkclient.StartWorkflowOptions{ID: id, TaskQueue: b.Queue},
		contract.WorkflowSession, contract.SessionInput{ID: id, Agent: agenttest.AgentName, TurnsPerRun: 1})
	if err != nil {
		k.Fatal(err)
	}
	busy := k.send(b, turnkeel.Message{Text: "pay", MessageID: "m1"})
	p := k.parked(b, busy.TurnID, 1)[0]
	k.send(b, turnkeel.Message{Text: "and then", MessageID: "m2"})
	k.decide(b, busy.TurnID, p, true)
	k.idle(b, id, 2)
	second := nextRun(k.keep("session-run-1", b, id, first.GetRunID()))
	k.keep("session-run-2", b, id, second)
}

func ownScenario(k *keeper) {
	b := k.bench(agenttest.BenchOptions{
		Tools:  []*tooldefs.Tool{tool("pay", gated), tool("tip"), tool("share", oneKey)},
		Script: agenttest.Script{Steps: []agenttest.Step{{Text: "hello"}}},
	})
	queue := b.Queue + "-own"
	k.serve(b, queue, func(w sdkworker.Worker) error {
		w.RegisterWorkflowWithOptions(ownWorkflow, workflow.RegisterOptions{Name: ownType})
		return nil
	})
	run, err := b.Temporal.ExecuteWorkflow(k.Context(), sdkclient.StartWorkflowOptions{ID: "own-" + b.Queue, TaskQueue: queue}, ownType, ownInput{Queue: b.Queue})
	if err != nil {
		k.Fatal(err)
	}
	k.decide(b, run.GetID(), k.parked(b, run.GetID(), 1)[0], true)
	first := run.GetRunID()
	if err := run.Get(k.Context(), nil); err != nil {
		k.Fatal(err)
	}
	k.keep("own-2", b, run.GetID(), nextRun(k.keep("own-1", b, run.GetID(), first)))
}

package replay

import (
	"context"
	"time"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"

	sdkworker "go.temporal.io/sdk/worker"
)

// scenarios are what is recorded. The oldest histories of testdata have none:
// they are of before this table.
var scenarios = []struct {
	name string
	run  func(k *keeper)
}{
	{"approvals", approvals}, {"late", lateApproval}, {"drift", drift}, {"resolve", resolve}, {"reconcile", reconcile},
	{"continued", continued}, {"endings", endings}, {"limits", limits}, {"inputs", inputs},
	{"session", session}, {"awaits", awaits}, {"twos", twos}, {"unasked", unasked}, {"session runs", sessionRuns}, {"own", ownScenario},
}

func approvals(k *keeper) {
	b := k.bench(agenttest.BenchOptions{
		Tools:  []*tooldefs.Tool{tool("pay", gated), tool("share", gated, oneKey), tool("expire", expiring(time.Second))},
		Script: asks(calls("pay", 1, 2), calls("share", 3, 4), calls("expire", 5)),
	})
	turn := k.start(b, contract.TurnInput{})
	waiting := k.parked(b, turn.ID, 4) // those of one key have one question
	k.decide(b, turn.ID, waiting[0], true)
	k.decide(b, turn.ID, waiting[1], false)
	k.decide(b, turn.ID, waiting[2], true)
	k.end(b, turn.ID, "")
	k.keep("approvals", b, turn.ID, "")
}

func lateApproval(k *keeper) {
	b := k.bench(agenttest.BenchOptions{NoWorker: true, Tools: []*tooldefs.Tool{tool("pay", expiring(4*time.Second))}, Script: asks(calls("pay", 7))})
	stop := b.StartWorker()
	turn := k.start(b, contract.TurnInput{})
	p := k.parked(b, turn.ID, 1)[0]
	stop()
	k.fired(b, turn.ID)
	k.late(b, turn.ID, p)
	b.StartWorker()
	k.end(b, turn.ID, "")
	k.keep("late", b, turn.ID, "")
}

func drift(k *keeper) {
	b := k.bench(agenttest.BenchOptions{
		NoWorker: true, Script: asks(calls("pay", 1)),
		Tools: []*tooldefs.Tool{tool("pay", gated, classed(tooldefs.Keyed, tooldefs.Sandbox))},
	})
	stop := b.StartWorker()
	turn := k.start(b, contract.TurnInput{})
	first := k.parked(b, turn.ID, 1)[0]
	stop()
	k.serve(b, b.Queue, func(w sdkworker.Worker) error {
		return turnkeel.Register(w, turnkeel.Options{
			Tools: []*tooldefs.Tool{tool("pay", gated, classed(tooldefs.AtMostOnce, tooldefs.External))},
			Agents: []contract.Agent{{
				Name: agenttest.AgentName, Model: "openai/scripted", Tools: []string{"all"}, Endpoint: contract.Endpoint{BaseURL: b.Model.URL()},
			}},
		})
	})
	k.decide(b, turn.ID, first, true)
	again := first
	for again.Digest == first.Digest {
		again = k.parked(b, turn.ID, 1)[0]
	}
	k.decide(b, turn.ID, again, true)
	k.end(b, turn.ID, "")
	k.keep("drift", b, turn.ID, "")
}

// serve runs a worker of the scenario's own.
func (k *keeper) serve(b *agenttest.Bench, queue string, register func(sdkworker.Worker) error) {
	k.Helper()
	options := sdkworker.Options{}
	turnkeel.SetWorkerDefaults(&options)
	w := sdkworker.New(b.Temporal, queue, options)
	err := register(w)
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		k.Fatal(err)
	}
	k.Cleanup(w.Stop)
}

func resolve(k *keeper) {
	b := k.bench(agenttest.BenchOptions{
		Tools:  []*tooldefs.Tool{tool("pay", lost, asksPeople), tool("ask", gated)},
		Script: asks(calls("pay", 5), calls("ask", 1)),
	})
	turn := k.start(b, contract.TurnInput{})
	waiting := k.parked(b, turn.ID, 2)
	unknown, asked := waiting[0], waiting[1]
	if unknown.Kind != contract.PendingUnknown {
		unknown, asked = asked, unknown
	}
	_, err := b.Turns.Resolve(k.Context(), turn.ID, contract.ResolveRequest{Key: unknown.Key, Verdict: contract.VerdictHappened, By: "ann", Value: "receipt 7"})
	if err != nil {
		k.Fatal(err)
	}
	k.decide(b, turn.ID, asked, true)
	k.end(b, turn.ID, "")
	k.keep("resolve-told", b, turn.ID, "")
	run := k.reset(b, turn.ID, turn.RunID, 4)
	k.end(b, turn.ID, run)
	k.keep("resolve-reset", b, turn.ID, run)
}

func reconcile(k *keeper) {
	for name, says := range map[string]tooldefs.Reconciled[string]{
		"reconciled": tooldefs.Happened("receipt 7"), "repeated": tooldefs.DidNotHappen[string](),
	} {
		b := k.bench(agenttest.BenchOptions{Tools: []*tooldefs.Tool{tool("pay", lostOnce(), reconciles(says))}, Script: asks(calls("pay", 5))})
		turn := k.start(b, contract.TurnInput{})
		k.end(b, turn.ID, "")
		k.keep(name, b, turn.ID, "")
	}
}

func continued(k *keeper) {
	b := k.bench(agenttest.BenchOptions{Tools: []*tooldefs.Tool{tool("pay", gated)}, Script: agenttest.Script{
		Steps: []agenttest.Step{{Calls: calls("pay", 1)}, {Calls: calls("pay", 1)}, {Text: "done"}},
	}})
	turn := k.start(b, contract.TurnInput{StepsPerRun: 1})
	first := k.parked(b, turn.ID, 1)[0]
	k.decide(b, turn.ID, first, true)
	again := first
	for again.Key == first.Key {
		again = k.parked(b, turn.ID, 1)[0]
	}
	k.decide(b, turn.ID, again, true)
	if _, err := turn.Result(k.Context()); err != nil {
		k.Fatal(err)
	}
	second := nextRun(k.keep("continued-1", b, turn.ID, turn.RunID))
	k.keep("continued-2", b, turn.ID, second)
}

// endings are turns that a person or the world ends.
func endings(k *keeper) {
	b := k.bench(agenttest.BenchOptions{Tools: []*tooldefs.Tool{tool("pay", gated)}, Script: asks(calls("pay", 1))})
	cut := k.start(b, contract.TurnInput{})
	k.parked(b, cut.ID, 1)
	if err := b.Turns.Interrupt(k.Context(), cut.ID, contract.InterruptRequest{By: "ann"}); err != nil {
		k.Fatal(err)
	}
	canceled := k.start(b, contract.TurnInput{})
	k.parked(b, canceled.ID, 1)
	if err := b.Turns.Cancel(k.Context(), canceled.ID); err != nil {
		k.Fatal(err)
	}
	for name, turn := range map[string]*turnkeel.Turn{
		"interrupted": cut, "canceled": canceled, "failed": k.start(b, contract.TurnInput{Agent: "nobody"}),
		"timed-out": k.start(b, contract.TurnInput{Limits: &contract.Limits{MaxWallClock: contract.Duration(time.Second)}}),
	} {
		k.end(b, turn.ID, "")
		k.keep(name, b, turn.ID, "")
	}
}

// limits are turns that their limits end.
func limits(k *keeper) {
	b := k.bench(agenttest.BenchOptions{Tools: []*tooldefs.Tool{tool("pay")}, Script: agenttest.Script{Hook: again}})
	for name, l := range map[string]*contract.Limits{"limited": {MaxSteps: 1}, "loop": nil} {
		turn := k.start(b, contract.TurnInput{Limits: l})
		k.end(b, turn.ID, "")
		k.keep(name, b, turn.ID, "")
	}
}

// inputs are turns that are started in particular ways.
func inputs(k *keeper) {
	b := k.bench(agenttest.BenchOptions{
		Tools: []*tooldefs.Tool{tool("pay")}, Script: asks(calls("pay", 1, 2)),
		Agent: contract.Agent{Policy: &contract.Policy{Default: contract.PolicyAllow, Rules: []contract.PolicyRule{{
			ID: "one", When: contract.PolicyWhen{Tools: []string{"pay"}, OverLimit: &contract.CallLimit{PerTurn: 1}},
			Then: contract.PolicyThen{Action: contract.PolicyDeny, Reason: "once"},
		}}}},
	})
	for name, in := range map[string]contract.TurnInput{
		"policy": {}, "stream": {Stream: true},
		"based": {Base: []contract.Message{{Role: contract.RoleUser, Content: "hello"}, {Role: contract.RoleAssistant, Content: "hi"}}},
	} {
		turn := k.start(b, in)
		k.end(b, turn.ID, "")
		k.keep(name, b, turn.ID, "")
	}
}

// twos is a model that makes two calls in turns, for ever.
func twos(k *keeper) {
	b := k.bench(agenttest.BenchOptions{Tools: []*tooldefs.Tool{tool("pay")}, Script: agenttest.Script{
		Hook: func(ctx context.Context, r agenttest.ModelRequest) *agenttest.Step {
			if len(r.Tools) == 0 {
				return &agenttest.Step{Text: "enough"}
			}
			return &agenttest.Step{Calls: calls("pay", 1+r.Step%2)}
		},
	}})
	turn := k.start(b, contract.TurnInput{})
	k.end(b, turn.ID, "")
	k.keep("twos", b, turn.ID, "")
}

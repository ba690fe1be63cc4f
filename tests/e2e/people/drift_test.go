package people

import (
	"context"
	"strings"
	"testing"

	sdkworker "go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// deploy runs a worker that has other versions of the bench's tools.
func deploy(t *testing.T, b *agenttest.Bench, tools ...*tooldefs.Tool) {
	t.Helper()
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(b.Temporal, b.Queue, options)
	err := turnkeel.Register(worker, turnkeel.Options{Tools: tools, Agents: []contract.Agent{{
		Name: agenttest.AgentName, Model: "openai/scripted", Tools: []string{"all"}, Endpoint: contract.Endpoint{BaseURL: b.Model.URL()},
	}}})
	if err == nil {
		err = worker.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Stop)
}

// R22, R23, R31, T38: a deploy that makes a parked call's tool AtMostOnce and
// external has the call asked about again as what it is now, and started once;
// the effect log tells both decisions. Where the turn's policy denies what the
// tool has become, nobody is asked and nothing runs.
func TestApproval_DeployChangesTheTool(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		l := &ledger{}
		agent := contract.Agent{}
		if !allowed {
			agent.Policy = &contract.Policy{Default: contract.PolicyAllow, Rules: []contract.PolicyRule{{
				ID: "inside-only", When: contract.PolicyWhen{Effects: []contract.Effects{contract.EffectsExternal}},
				Then: contract.PolicyThen{Action: contract.PolicyDeny, Reason: "nothing leaves"},
			}}}
		}
		b := agenttest.NewBench(t, agenttest.BenchOptions{
			Server: server, NoWorker: true, Agent: agent,
			Tools: []*tooldefs.Tool{payTool(l, func(s *tooldefs.Spec[payInput, string]) {
				s.Class, s.Effects = tooldefs.Keyed, tooldefs.Sandbox
			})},
			Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(1)}}, {Text: "done"}}},
		})
		stop := b.StartWorker()
		turn := b.Start("pay")
		first := pendings(t, b, turn.ID, 1)[0]
		stop()
		deploy(t, b, payTool(l, func(s *tooldefs.Spec[payInput, string]) {
			s.Class, s.Effects = tooldefs.AtMostOnce, tooldefs.External
			s.Handler = func(_ context.Context, call *tooldefs.Call, _ payInput) (string, error) {
				l.add(call.IdempotencyKey())
				return "", tooldefs.Transient(context.DeadlineExceeded, 1)
			}
		}))
		decide(t, b, turn.ID, first, true)
		if allowed {
			again := pendings(t, b, turn.ID, 1)[0]
			for again.Digest == first.Digest {
				again = pendings(t, b, turn.ID, 1)[0]
			}
			if again.Class != contract.ClassAtMostOnce || again.Effects != contract.EffectsExternal || again.Key != first.Key {
				t.Errorf("asked again as %+v", again)
			}
			decide(t, b, turn.ID, again, true)
		}
		out := b.Wait(turn)
		e := out.Effects[0]
		if !allowed {
			if len(l.arrivals()) != 0 || e.Outcome != contract.OutcomeDenied || !strings.Contains(e.Text, "nothing leaves") || len(e.Decisions()) != 1 {
				t.Errorf("arrivals %v: %+v", l.arrivals(), e)
			}
			continue
		}
		if len(l.arrivals()) != 1 || e.Outcome != contract.OutcomeUnknown || e.Class != contract.ClassAtMostOnce || e.Effects != contract.EffectsExternal {
			t.Errorf("arrivals %v: %+v", l.arrivals(), e)
		}
		if said := e.Decisions(); len(said) != 2 || said[0].Verdict != "approved" || said[1].Verdict != "approved" {
			t.Errorf("decided by %+v", said)
		}
	}
}

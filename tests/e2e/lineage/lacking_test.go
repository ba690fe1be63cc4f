package lineage

import (
	"testing"

	sdkworker "go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// serveWithout runs a worker of the turns' queue that lacks a tool.
func (w *world) serveWithout(t *testing.T, lacked string) {
	t.Helper()
	var tools []*tooldefs.Tool
	for _, tool := range toolset(w.ledger.url, w.timeout) {
		if tool.Name() != lacked {
			tools = append(tools, tool)
		}
	}
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(w.Temporal, w.Queue, options)
	if err := turnkeel.Register(worker, turnkeel.Options{Tools: tools, Agents: []contract.Agent{{
		Name: agenttest.AgentName, Model: "openai/scripted", Tools: []string{"all"},
		Endpoint: contract.Endpoint{BaseURL: w.Model.URL()},
	}}}); err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Stop)
}

// An AtMostOnce call is lost with its worker, an operator has it handed out
// again, and a worker of another deploy, without the tool, takes it. That one
// knows nothing of the first start: the call is unknown, and no worker that has
// the tool makes it again.
func TestOperator_HandsALostCallToAWorkerWithoutTheTool(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][2][]string{
		"more attempts": {{"update-options", "--retry-maximum-attempts", "5"}, nil},
		"reset":         {{"pause"}, {"reset", "--reset-heartbeats"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, script(calls(call(once, "x"))), worldOptions{
				noWorker: true, answer: func(_ arrival, n int) reply { return reply{Hang: n == 1} },
			})
			kill := w.process(t)
			turn := w.Start("go")
			w.next(t)
			w.operator(t, turn, args[0]...)
			kill()
			w.serveWithout(t, once)
			if args[1] != nil {
				w.operator(t, turn, args[1]...)
			}
			out := w.Wait(turn)
			completed(t, out)
			if e := out.Effects[0]; e.Outcome != contract.OutcomeUnknown {
				t.Errorf("%s: %s", e.Outcome, e.Text)
			}
			w.ledger.want(t, "x", 1)
		})
	}
}

// R08: a turn is reset after a deploy that removed its tools. What they did is
// recorded, and is told as what it is.
func TestReset_ToolIsGone(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{once, keyed, read} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, script(calls(call(tool, "x"))), worldOptions{noWorker: true})
			kill := w.process(t)
			turn := w.Start("go")
			first := w.Wait(turn)
			completed(t, first)
			kill()
			w.serveWithout(t, tool)
			asked := len(w.Model.Requests())
			for _, task := range w.tasks(t, turn.ID, turn.RunID) {
				out := w.Wait(w.reset(t, turn.ID, turn.RunID, task))
				completed(t, out)
				if e := out.Effects[0]; e.Outcome != contract.OutcomeDone || e.Text != first.Effects[0].Text {
					t.Errorf("event %d: %s: %s", task, e.Outcome, e.Text)
				}
			}
			w.ledger.want(t, "x", 1)
			w.asked(t, asked)
		})
	}
}

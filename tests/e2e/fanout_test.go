package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	sdkworker "go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// C03: five calls run side by side when the worker goes, the next one has
// nothing in memory, has renamed one of the tools and lacks another. The turn
// goes on and replays; a call whose tool is gone is an ordinary result.
func TestDeploy_ChangesToolsUnderAFanOut(t *testing.T) {
	t.Parallel()
	started := make(chan string, 20)
	tool := func(name string) *tooldefs.Tool {
		return tooldefs.Define(tooldefs.Spec[payInput, string]{
			Name: name, Description: "Reads.", Effects: tooldefs.None, ParallelSafe: tooldefs.Always, Timeout: time.Minute,
			Handler: func(ctx context.Context, call *tooldefs.Call, _ payInput) (string, error) {
				if call.Attempt() == 1 {
					started <- name
					<-ctx.Done() // it is cut
					return "", ctx.Err()
				}
				return name + " ok", nil
			},
		})
	}
	var calls []agenttest.ScriptCall
	for i, name := range []string{"c", "a", "old", "b", "gone"} {
		calls = append(calls, agenttest.ScriptCall{Name: name, Args: map[string]any{"amount": i}})
	}
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, NoWorker: true, StopTimeout: 200 * time.Millisecond,
		Tools:  []*tooldefs.Tool{tool("a"), tool("b"), tool("c"), tool("old"), tool("gone")},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: calls}, {Text: "done"}}},
	})
	stop := b.StartWorker()
	turn := b.Start("go")
	for range calls {
		<-started
	}
	stop()
	sdkworker.PurgeStickyWorkflowCache()
	b.Deploy(tool("new"), tool("c"), tool("b"), tool("a"))
	out := b.Wait(turn) // which replays it
	if out.Result.Status != contract.StatusCompleted || len(out.Effects) != len(calls) {
		t.Fatalf("%+v", out.Result)
	}
	for i, e := range out.Effects {
		want := fmt.Sprintf("%s ok", calls[i].Name)
		if calls[i].Name == "old" || calls[i].Name == "gone" {
			want = "was not executed: no worker has this tool"
		}
		if e.Tool != calls[i].Name || !strings.Contains(e.Text, want) {
			t.Errorf("call %d, %s, is %s: %q, want %q", i+1, e.Tool, e.Outcome, e.Text, want)
		}
	}
}

// A deploy cuts a Keyed call that may have acted, and the next worker lacks its
// tool: that worker did nothing, and what the first one did stays unknown.
func TestDeploy_RemovesAToolThatMayHaveActed(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 1)
	tool := tooldefs.Define(tooldefs.Spec[payInput, string]{
		Name: "pay", Description: "Pays.", Class: tooldefs.Keyed, Timeout: time.Minute,
		Handler: func(ctx context.Context, _ *tooldefs.Call, _ payInput) (string, error) {
			started <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err()
		},
	})
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, NoWorker: true, StopTimeout: 200 * time.Millisecond, Tools: []*tooldefs.Tool{tool},
		Script: agenttest.Script{Steps: []agenttest.Step{
			{Calls: []agenttest.ScriptCall{{Name: "pay", Args: map[string]any{"amount": 1}}}}, {Text: "done"},
		}},
	})
	stop := b.StartWorker()
	turn := b.Start("pay")
	<-started
	stop()
	b.Deploy()
	out := b.Wait(turn)
	if e := out.Effects[0]; e.Outcome != contract.OutcomeUnknown || !strings.Contains(e.Text, "may or may not") {
		t.Errorf("%s: %s", e.Outcome, e.Text)
	}
}

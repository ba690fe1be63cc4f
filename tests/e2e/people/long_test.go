package people

import (
	"fmt"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
	"github.com/turnkeel/turnkeel/workflows"
)

func startOptions(id, queue string) sdkclient.StartWorkflowOptions {
	return sdkclient.StartWorkflowOptions{ID: id, TaskQueue: queue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL}
}

func free(s *tooldefs.Spec[payInput, string]) { s.Approval = nil }

// R06, C12: a turn that continues as new after every step is asked the same,
// does the same and ends the same as one in a single run, approvals included.
func TestTurn_ContinuesAsNewAfterEveryStep(t *testing.T) {
	t.Parallel()
	run := func(stepsPerRun int) (agenttest.Outcome, []string, []string) {
		l := &ledger{}
		b := agenttest.NewBench(t, agenttest.BenchOptions{
			Server: server,
			Tools: []*tooldefs.Tool{payTool(l, func(s *tooldefs.Spec[payInput, string]) {
				s.Approval = func(in payInput) bool { return in.Cents > 100 }
			})},
			Script: agenttest.Script{Steps: []agenttest.Step{
				{Calls: []agenttest.ScriptCall{pay(1), pay(1)}},
				{Text: "next", Calls: []agenttest.ScriptCall{pay(500), {Name: "nope"}}},
				{Calls: []agenttest.ScriptCall{pay(1), {Name: "pay", Raw: `{`}}},
				{Text: "done"},
			}},
		})
		turn, err := b.Turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
			Agent: agenttest.AgentName, StepsPerRun: stepsPerRun,
			Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		decide(t, b, turn.ID, pendings(t, b, turn.ID, 1)[0], true)
		if _, err := turn.Result(t.Context()); err != nil {
			t.Fatal(err)
		}
		out := b.Wait(b.Turns.Turn(t.Context(), turn.ID, ""))
		var asked []string
		for _, r := range b.Model.Requests() {
			asked = append(asked, strings.ReplaceAll(said(r), turn.ID, "TURN")+fmt.Sprint(r.Messages[len(r.Messages)-1].ToolCallID))
		}
		return out, asked, l.arrivals()
	}
	one, askedOne, keysOne := run(0)
	many, askedMany, keysMany := run(1)
	if one.Result.Runs != 1 || many.Result.Runs != 4 {
		t.Errorf("%d and %d runs", one.Result.Runs, many.Result.Runs)
	}
	if one.Result.Text != many.Result.Text || one.Result.Effects != many.Result.Effects || one.Result.Steps != many.Result.Steps {
		t.Errorf("%+v\n%+v", one.Result, many.Result)
	}
	if strings.Join(askedOne, "\n") != strings.Join(askedMany, "\n") {
		t.Errorf("asked\n%s\nin one run\n%s", strings.Join(askedMany, "\n"), strings.Join(askedOne, "\n"))
	}
	seen := map[string]bool{}
	for _, k := range keysMany {
		seen[k] = true
	}
	if len(keysOne) != 4 || len(keysMany) != 4 || len(seen) != 4 {
		t.Errorf("arrivals %d and %d, %d keys", len(keysOne), len(keysMany), len(seen))
	}
}

type ownInput struct {
	Queue string // of the worker that has the tools
	Cents []int
}

type ownResult struct {
	Said []string
	Err  string
}

// ownWorkflow is a workflow of a user's own that calls tools by name.
func ownWorkflow(ctx workflow.Context, in ownInput) (ownResult, error) {
	var out ownResult
	tools, err := workflows.NewTools(ctx, workflows.ToolsOptions{TaskQueue: in.Queue})
	if err != nil {
		return out, err
	}
	for _, cents := range in.Cents {
		value, err := tools.Call(ctx, "pay", payInput{Cents: cents})
		if err != nil {
			out.Err = err.Error()
			continue
		}
		var text string
		if err := value.Get(&text); err != nil {
			return out, err
		}
		out.Said = append(out.Said, text)
	}
	return out, nil
}

// T46: a workflow of a user's own calls tools through the same gates, and its
// approvals are decided in the same way.
func TestTools_OfAnOwnWorkflow(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Script: agenttest.Script{Steps: []agenttest.Step{{Text: "unused"}}},
		Tools: []*tooldefs.Tool{payTool(l, free)},
	})
	own := sdkworker.New(b.Temporal, b.Queue+"-own", sdkworker.Options{DisableRegistrationAliasing: true})
	own.RegisterWorkflow(ownWorkflow)
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	handle, err := b.Temporal.ExecuteWorkflow(t.Context(), startOptions("own-"+b.Queue, b.Queue+"-own"), ownWorkflow, ownInput{Queue: b.Queue, Cents: []int{1, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	var out ownResult
	if err := handle.Get(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if strings.Join(out.Said, " ") != "paid paid paid" || out.Err != "" || len(l.arrivals()) != 3 {
		t.Errorf("%+v, arrivals %v", out, l.arrivals())
	}
}

// R06, R25: a turn that parked in one run and ends in another is not listed as
// running.
func TestTurn_StatusAttributeOverRuns(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{payTool(&ledger{})}, Script: agenttest.Script{
		Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{pay(1)}}, {Text: "done"}},
	}})
	turn, err := b.Turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent: agenttest.AgentName, StepsPerRun: 1, Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	decide(t, b, turn.ID, pendings(t, b, turn.ID, 1)[0], true)
	if _, err := turn.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := b.Wait(b.Turns.Turn(t.Context(), turn.ID, ""))
	if last.Result.Runs != 2 {
		t.Fatalf("%d runs", last.Result.Runs)
	}
	described, err := b.Temporal.DescribeWorkflow(t.Context(), turn.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	status, _ := described.TypedSearchAttributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(contract.AttributeStatus))
	pending, _ := described.TypedSearchAttributes.GetInt64(temporal.NewSearchAttributeKeyInt64(contract.AttributePending))
	if status != string(contract.StatusCompleted) || pending != 0 {
		t.Errorf("listed as %q with %d pending", status, pending)
	}
}

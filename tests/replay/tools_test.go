package replay

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
	"github.com/turnkeel/turnkeel/workflows"
)

type payInput struct {
	Cents int `json:"cents"`
}

type change = func(*tooldefs.Spec[payInput, string])

// tool pays and asks nobody, unless it is changed.
func tool(name string, changes ...change) *tooldefs.Tool {
	spec := tooldefs.Spec[payInput, string]{
		Name: name, Description: "Pays.",
		Handler: func(_ context.Context, call *tooldefs.Call, _ payInput) (string, error) {
			call.Progress("paying")
			return "paid", nil
		},
	}
	for _, c := range changes {
		c(&spec)
	}
	return tooldefs.Define(spec)
}

func gated(s *tooldefs.Spec[payInput, string]) { s.Approval = tooldefs.Always }

func expiring(after time.Duration) change {
	return func(s *tooldefs.Spec[payInput, string]) { s.Approval, s.ApprovalTimeout = tooldefs.Always, after }
}

// oneKey gives all calls of a tool one key.
func oneKey(s *tooldefs.Spec[payInput, string]) {
	s.IdempotencyKey = func(payInput) string { return "order-1" }
}

// lost is a tool whose calls end with an unknown outcome.
func lost(s *tooldefs.Spec[payInput, string]) {
	s.Handler = func(context.Context, *tooldefs.Call, payInput) (string, error) {
		return "", tooldefs.Unknown(errors.New("the line went dead"))
	}
}

// lostOnce is lost at its first start.
func lostOnce() change {
	var starts atomic.Int64
	return func(s *tooldefs.Spec[payInput, string]) {
		s.Handler = func(context.Context, *tooldefs.Call, payInput) (string, error) {
			if starts.Add(1) == 1 {
				return "", tooldefs.Unknown(errors.New("the line went dead"))
			}
			return "paid", nil
		}
	}
}

func asksPeople(s *tooldefs.Spec[payInput, string]) { s.OnUnknown = tooldefs.AskHuman }

func classed(c tooldefs.Class, e tooldefs.Effects) change {
	return func(s *tooldefs.Spec[payInput, string]) { s.Class, s.Effects = c, e }
}

func calls(name string, cents ...int) []agenttest.ScriptCall {
	var all []agenttest.ScriptCall
	for _, c := range cents {
		all = append(all, agenttest.ScriptCall{Name: name, Args: map[string]any{"cents": c}})
	}
	return all
}

// asks is a script that makes calls and then is done.
func asks(all ...[]agenttest.ScriptCall) agenttest.Script {
	var first agenttest.Step
	for _, c := range all {
		first.Calls = append(first.Calls, c...)
	}
	return agenttest.Script{Steps: []agenttest.Step{first, {Text: "done"}}}
}

// ownType is the workflow of the corpus's own. Like the histories it is not
// changed but by GetVersion.
const ownType = "corpus.Own"

type ownInput struct {
	Queue   string // of the worker that has the tools
	Carried *contract.CarriedTools
}

func ownWorkflow(ctx workflow.Context, in ownInput) (string, error) {
	tools, err := workflows.NewTools(ctx, workflows.ToolsOptions{TaskQueue: in.Queue, Carried: in.Carried})
	if err != nil {
		return "", err
	}
	err = workflow.SetQueryHandler(ctx, contract.QueryStatus, func() (contract.StatusReply, error) {
		return contract.StatusReply{Pending: tools.Pending()}, nil
	})
	if err != nil {
		return "", err
	}
	if in.Carried != nil {
		_, err := tools.Call(ctx, "tip", payInput{1})
		return "done", err
	}
	group := workflow.NewWaitGroup(ctx)
	for i := range 3 {
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			_, _ = tools.Call(ctx, "share", payInput{i})
		})
	}
	group.Wait(ctx)
	if _, err := tools.Call(ctx, "pay", payInput{2}); err != nil {
		return "", err
	}
	var result contract.TurnResult
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{TaskQueue: in.Queue})
	err = workflow.ExecuteChildWorkflow(child, contract.WorkflowTurn, contract.TurnInput{
		Agent: agenttest.AgentName, Messages: []contract.Message{{Role: contract.RoleUser, Content: "hello"}},
	}).Get(ctx, &result)
	if err != nil {
		return "", err
	}
	carried := tools.Carry()
	return "", workflow.NewContinueAsNewError(ctx, ownType, ownInput{Queue: in.Queue, Carried: &carried})
}

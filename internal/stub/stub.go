// Package stub declares activities once for both sides of the determinism
// boundary, so that the compiler checks the workflow's call against the
// worker's function. It is workflow-side and worker-side; it holds no logic.
package stub

import (
	"context"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// Activity is an activity's name with its input and result types.
type Activity[In, Out any] struct{ Name string }

// The activities of a turn.
var (
	CallModel = Activity[contract.CallModelInput, contract.CallModelResult]{Name: contract.ActivityCallModel}
	PlanCall  = Activity[contract.PlanCallInput, contract.PlanCallResult]{Name: contract.ActivityPlanCall}
	Carry     = Activity[contract.CarryInput, contract.CarryResult]{Name: contract.ActivityCarry}
)

// Tool is the activity of the tool of that name. The workflow keeps only the
// receipt of its result: the value stays in history.
func Tool(name string) Activity[contract.ToolInput, contract.ToolResult] {
	return Activity[contract.ToolInput, contract.ToolResult]{Name: contract.ToolActivity(name)}
}

// Reconcile is the activity that looks up what became of a call of the tool
// of that name; only tools that can have one.
func Reconcile(name string) Activity[contract.ReconcileInput, contract.ReconcileResult] {
	return Activity[contract.ReconcileInput, contract.ReconcileResult]{Name: contract.ReconcileActivity(name)}
}

// Future is a scheduled activity.
type Future[Out any] struct{ workflow.Future }

// Start schedules the activity with the context's activity options.
func (a Activity[In, Out]) Start(ctx workflow.Context, in In) Future[Out] {
	return Future[Out]{workflow.ExecuteActivity(ctx, a.Name, in)}
}

// Result waits for the activity and decodes its whole result.
func (f Future[Out]) Result(ctx workflow.Context) (Out, error) {
	var out Out
	err := f.Get(ctx, &out)
	return out, err
}

// Register makes fn the activity's implementation.
func (a Activity[In, Out]) Register(r Registry, fn func(context.Context, In) (Out, error)) {
	r.RegisterActivityWithOptions(fn, sdkactivity.RegisterOptions{Name: a.Name})
}

// Registry is the part of a worker that takes activities.
type Registry interface {
	RegisterActivityWithOptions(fn any, options sdkactivity.RegisterOptions)
}

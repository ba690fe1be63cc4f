package replay

import (
	"reflect"
	"runtime"
	"slices"
	"strings"

	sdkactivity "go.temporal.io/sdk/activity"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Registry is what workflows are registered with to be replayed. It takes all
// that a worker takes; activities are not run, so it drops them.
type Registry struct {
	replayer sdkworker.WorkflowReplayer
	types    []string
	dynamic  bool
}

// RegisterWorkflow implements the SDK's WorkflowRegistry, as do the next two.
func (r *Registry) RegisterWorkflow(w any) {
	r.replayer.RegisterWorkflow(w)
	r.types = append(r.types, functionName(w))
}

// RegisterWorkflowWithOptions registers under the options' name, if it has one.
func (r *Registry) RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions) {
	r.replayer.RegisterWorkflowWithOptions(w, options)
	name := options.Name
	if name == "" {
		name = functionName(w)
	}
	r.types = append(r.types, name)
}

// RegisterDynamicWorkflow makes every workflow type a known one.
func (r *Registry) RegisterDynamicWorkflow(w any, options workflow.DynamicRegisterOptions) {
	r.replayer.RegisterDynamicWorkflow(w, options)
	r.dynamic = true
}

// RegisterActivity does nothing, as do the next two: see [Registry].
func (*Registry) RegisterActivity(any) {}

// RegisterActivityWithOptions does nothing.
func (*Registry) RegisterActivityWithOptions(any, sdkactivity.RegisterOptions) {}

// RegisterDynamicActivity does nothing.
func (*Registry) RegisterDynamicActivity(any, sdkactivity.DynamicRegisterOptions) {}

// knows says whether the binary has that workflow type.
func (r *Registry) knows(workflowType string) bool {
	return r.dynamic || slices.Contains(r.types, workflowType)
}

// functionName is the name that the SDK gives a workflow registered without
// one: the function's own, or that of a type given by its name.
func functionName(w any) string {
	if name, ok := w.(string); ok {
		return name
	}
	full := runtime.FuncForPC(reflect.ValueOf(w).Pointer()).Name()
	return strings.TrimSuffix(full[strings.LastIndex(full, ".")+1:], "-fm")
}

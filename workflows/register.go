package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// Registry is the part of a worker that takes workflows.
type Registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

// Register makes the workflows of this package known to a worker, or to a
// replayer, under the names of the contract. On a versioned worker a session
// goes on with the current version whatever the worker's default is: it has no
// end that an old worker could be kept up for.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(RunTurn, workflow.RegisterOptions{Name: contract.WorkflowTurn})
	r.RegisterWorkflowWithOptions(RunSession, workflow.RegisterOptions{
		Name: contract.WorkflowSession, VersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	})
}

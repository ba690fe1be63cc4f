package workflows

import (
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// attributes is what the turn last wrote into its search attributes. Only
// those that the cluster is known to have are written: a missing one would
// fail the workflow task for ever.
type attributes struct {
	known   []string
	written bool
	pending int
	status  contract.Status
}

// announce makes a turn that waits for a person findable. A turn that never
// waits and completes writes nothing.
func (t *turn) announce(ctx workflow.Context) {
	pending, status := len(t.calls.people.pending), t.status().Status
	if pending == 0 && !t.told.written && (status == contract.StatusRunning || status == contract.StatusCompleted) {
		return
	}
	if t.told.written && pending == t.told.pending && status == t.told.status {
		return
	}
	var updates []temporal.SearchAttributeUpdate
	if slices.Contains(t.told.known, contract.AttributePending) {
		updates = append(updates, temporal.NewSearchAttributeKeyInt64(contract.AttributePending).ValueSet(int64(pending)))
	}
	if slices.Contains(t.told.known, contract.AttributeStatus) {
		updates = append(updates, temporal.NewSearchAttributeKeyKeyword(contract.AttributeStatus).ValueSet(string(status)))
	}
	if len(updates) == 0 {
		return
	}
	t.told.written, t.told.pending, t.told.status = true, pending, status
	if err := workflow.UpsertTypedSearchAttributes(ctx, updates...); err != nil {
		workflow.GetLogger(ctx).Warn("search attributes were not written", "error", err)
	}
}

// carry is what the next run has to know: the attributes go on with the turn.
func (a attributes) carry() *contract.CarriedTold {
	if !a.written {
		return nil
	}
	return &contract.CarriedTold{Known: a.known, Pending: a.pending, Status: a.status}
}

func (a *attributes) restore(c *contract.CarriedTold) {
	if c != nil {
		*a = attributes{known: c.Known, written: true, pending: c.Pending, status: c.Status}
	}
}

package workflows

import "go.temporal.io/sdk/workflow"

// Every workflow.GetVersion id of this package stands here, with the date it
// came, the reason, and when it may go. Each is asked for only where the two
// ways differ, so that a usual history has no marker. None has been released:
// all may go when no history of before their date is open or replayed.
const (
	// 2026-11-30: calls of code with one override key wait for each other.
	changeSharedCalls = "shared-calls"

	// 2026-11-30: a session's turn that ends before a run's first model call
	// gives its session what was said.
	changeUnaskedTurns = "unasked-turns"

	// 2026-11-30: a session continues as new although messages wait.
	changeBusySessions = "busy-sessions"

	// 2026-11-30: two calls that come in turns are a loop too.
	changeLoopsOfTwo = "loops-of-two"

	// 2026-11-30: a canceled session cancels also the turn that an earlier run of
	// it started and it only waits for.
	changeCanceledAwaits = "canceled-awaits"

	// 2026-11-30: a question what became of a call is told like one for approval,
	// in search attributes and details.
	changeToldUnknowns = "told-unknowns"
)

// since says that the run has the change: it is a new one, or was made with
// it.
func since(ctx workflow.Context, change string) bool {
	return workflow.GetVersion(ctx, change, workflow.DefaultVersion, 1) > workflow.DefaultVersion
}

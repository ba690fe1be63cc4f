package contract

import "strconv"

// Workflow types.
const (
	WorkflowTurn    = "turnkeel.Turn"
	WorkflowSession = "turnkeel.Session"
)

// Activity types. Tools have one activity type each, so that the Web UI,
// metrics, rate limits and task queues are per tool: see [ToolActivity].
const (
	ActivityCallModel = "turnkeel.CallModel"
	ActivityPlanCall  = "turnkeel.PlanCall"
	ActivityCarry     = "turnkeel.Carry"

	// Of sessions.
	ActivityPackSession   = "turnkeel.PackSession"
	ActivityAwaitTurn     = "turnkeel.AwaitTurn"
	ActivityInterruptTurn = "turnkeel.InterruptTurn"

	toolActivityPrefix      = "tool."
	reconcileActivityPrefix = "reconcile."
)

// Updates and queries of a turn or session.
const (
	UpdateDecide    = "decide"
	UpdateResolve   = "resolve"
	UpdateInterrupt = "interrupt"
	UpdateSend      = "send"

	QueryStatus     = "status"
	QueryTranscript = "transcript"
)

// Search attributes. A cluster may lack them; nothing may depend on them.
const (
	AttributeAgent   = "TurnkeelAgent"   // Keyword: the agent's name
	AttributeSession = "TurnkeelSession" // Keyword: the session's id
	AttributeStatus  = "TurnkeelStatus"  // Keyword: a Status, set when a turn parks or does not complete
	AttributePending = "TurnkeelPending" // Int: how many calls wait for a human
)

// DefaultTaskQueue is the task queue of a stock worker and a stock starter.
const DefaultTaskQueue = "turnkeel"

// ToolActivity is the activity type of the tool of that name.
func ToolActivity(tool string) string { return toolActivityPrefix + tool }

// ReconcileActivity is the activity type that reconciles that tool.
func ReconcileActivity(tool string) string { return reconcileActivityPrefix + tool }

// ToolOfActivity gives the tool's name back from its activity type; ok is
// false when the type is not a tool's.
func ToolOfActivity(activityType string) (tool string, ok bool) {
	if len(activityType) <= len(toolActivityPrefix) || activityType[:len(toolActivityPrefix)] != toolActivityPrefix {
		return "", false
	}
	return activityType[len(toolActivityPrefix):], true
}

// ModelActivityID is the activity id of a step's model call: "s3". Steps
// count from 1 through the whole turn, continued runs included.
func ModelActivityID(step int) string { return "s" + strconv.Itoa(step) }

// CarryActivityID is the activity id of the packing that follows a step when a
// turn continues as new: "s3.carry".
func CarryActivityID(step int) string { return ModelActivityID(step) + ".carry" }

// ReconcileActivityID is the activity id of the n-th reconciliation of a call,
// from 0: "s3.c7.q0".
func ReconcileActivityID(step, ordinal, n int) string {
	return CallActivityID(step, ordinal, 0) + ".q" + strconv.Itoa(n)
}

// CallActivityID is the activity id of a tool call: "s3.c7", and "s3.c7.r1"
// for the first time it is scheduled again after it was not executed.
// Ordinals count from 1 through the whole turn, so the id is unique in it.
func CallActivityID(step, ordinal, again int) string {
	id := ModelActivityID(step) + ".c" + strconv.Itoa(ordinal)
	if again > 0 {
		id += ".r" + strconv.Itoa(again)
	}
	return id
}

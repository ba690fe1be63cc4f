package workflows

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// The one table of timeouts, retries and heartbeats.
//
//	                 model, carry      AtMostOnce   Keyed         SafeToRetry
//	start to close   modelTimeout      Timeout + timeoutMargin (the handler's own deadline comes first)
//	heartbeat        heartbeatTimeout  the worker beats for every running call, at least each second
//	attempts         limit (10)        1            plan (3)      plan (5)
//	backoff          1 s … 1 min       –            1 s … 30 s    1 s … 30 s
//
// A reconciliation is a read: five attempts of the tool's own timeout. A plan
// made for code is retried until a worker has the agent.
const (
	// heartbeatTimeout is how soon a dead worker is noticed.
	heartbeatTimeout = 3 * time.Second

	// modelTimeout bounds one attempt of a model call.
	modelTimeout = 10 * time.Minute

	// timeoutMargin is how much later than the handler's deadline the activity
	// ends: longer than the heartbeat timeout, so that a lost worker is always
	// noticed as lost, and a late answer is never cut by the server.
	timeoutMargin = 5 * time.Second

	// planTimeout bounds one attempt of the gates for a call made by code.
	planTimeout = 10 * time.Second

	// maxAwaitTurn is how long a session waits for a turn that an earlier run
	// of it started: longer than any approval.
	maxAwaitTurn = 10 * 365 * 24 * time.Hour

	// maxReconcileAttempts bounds the reads that look for a lost outcome.
	maxReconcileAttempts = 5

	// maxNotExecuted is how often a call that certainly did nothing is
	// scheduled again.
	maxNotExecuted = 2

	// notExecutedPause is the time before the first of those.
	notExecutedPause = time.Second

	// summaryBytes bounds a summary for the Web UI; the server refuses more
	// than 400 bytes once encoded.
	summaryBytes = 200
)

// final lists the SDK's own error types that no retry may follow. Ours say so
// themselves; a list of them would stand in every scheduled event.
var final = []string{contract.ErrSDKPayloadSize, contract.ErrSDKNotRegistered}

func modelOptions(id, summary string, limits contract.Limits) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		ActivityID:          id,
		StartToCloseTimeout: modelTimeout,
		HeartbeatTimeout:    heartbeatTimeout,
		WaitForCancellation: true,
		Summary:             boundSummary(summary),
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        time.Second,
			BackoffCoefficient:     2,
			MaximumInterval:        time.Minute,
			MaximumAttempts:        int32(limits.MaxAttemptsPerTask), //nolint:gosec // bounded by the limits
			NonRetryableErrorTypes: final,
		},
	}
}

func reconcileOptions(id, summary string, run contract.RunPlan) workflow.ActivityOptions {
	run.Class, run.MaxAttempts = contract.ClassSafeToRetry, maxReconcileAttempts
	return toolOptions(id, summary, run)
}

// sessionOptions are for short work of a session.
func sessionOptions(id, summary string) workflow.ActivityOptions {
	o := modelOptions(id, summary, contract.Limits{}.WithDefaults())
	o.StartToCloseTimeout = time.Minute
	return o
}

// awaitTurnOptions wait for as long as a turn may be parked.
func awaitTurnOptions(id, summary string) workflow.ActivityOptions {
	o := modelOptions(id, summary, contract.Limits{})
	o.StartToCloseTimeout = maxAwaitTurn
	return o
}

func planOptions(id, summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		ActivityID:          id,
		StartToCloseTimeout: planTimeout,
		Summary:             boundSummary(summary),
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
			NonRetryableErrorTypes: final,
		},
	}
}

func toolOptions(id, summary string, run contract.RunPlan) workflow.ActivityOptions {
	attempts := max(1, run.MaxAttempts)
	if run.Class == contract.ClassAtMostOnce {
		attempts = 1
	}
	return workflow.ActivityOptions{
		ActivityID:          id,
		TaskQueue:           run.TaskQueue,
		StartToCloseTimeout: run.Timeout.Std() + timeoutMargin,
		HeartbeatTimeout:    heartbeatTimeout,
		WaitForCancellation: true,
		Summary:             boundSummary(summary),
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        time.Second,
			BackoffCoefficient:     2,
			MaximumInterval:        30 * time.Second,
			MaximumAttempts:        int32(attempts), //nolint:gosec // small by definition
			NonRetryableErrorTypes: final,
		},
	}
}

// neverStarted says that the server knows the activity was not handed out.
func neverStarted(t *temporal.TimeoutError) bool {
	return t.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}

func boundSummary(s string) string { return boundSummaryTo(s, summaryBytes) }

// boundSummaryTo cuts s to at most limit bytes, never inside a rune.
func boundSummaryTo(s string, limit int) string {
	const more = "…"
	if len(s) <= limit {
		return s
	}
	cut := max(0, limit-len(more))
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + more
}

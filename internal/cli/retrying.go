package cli

import (
	"fmt"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/turnkeel/turnkeel/contract"
)

// retryingCall is a call whose last attempt failed and that is tried again, or
// waits for it. The server knows it, not the history.
type retryingCall struct {
	Activity string     `json:"activity"`
	Tool     string     `json:"tool,omitempty"` // empty: the model
	Attempt  int        `json:"attempt"`        // the one that runs or comes next
	Cause    string     `json:"cause"`          // of the last attempt's failure
	Next     *time.Time `json:"next,omitempty"` // absent while an attempt runs
}

func (c retryingCall) String() string {
	what := "model"
	if c.Tool != "" {
		what = c.Tool
	}
	when := "runs"
	if c.Next != nil {
		when = "at " + c.Next.Local().Format(time.DateTime)
	}
	return plain(fmt.Sprintf("retry: %s, attempt %d %s: %s", what, c.Attempt, when, c.Cause))
}

// retryingOf are a run's calls that are being retried, in the server's order.
func retryingOf(described *workflowservice.DescribeWorkflowExecutionResponse) []retryingCall {
	var calls []retryingCall
	for _, p := range described.GetPendingActivities() {
		cause := p.GetLastFailure().GetMessage()
		if cause == "" {
			continue
		}
		c := retryingCall{Activity: p.GetActivityId(), Attempt: int(p.GetAttempt()), Cause: contract.BoundText(cause, 500)}
		c.Tool, _ = contract.ToolOfActivity(p.GetActivityType().GetName())
		if at := p.GetNextAttemptScheduleTime(); at != nil && at.AsTime().Unix() > 0 {
			c.Next = new(at.AsTime())
		}
		calls = append(calls, c)
	}
	return calls
}

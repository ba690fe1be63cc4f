package cli

import (
	"context"
	"time"

	"github.com/turnkeel/turnkeel/contract"
)

// retryLook is how often a followed turn is looked at for calls that fail and
// are tried again: its history says nothing of them until they end.
const retryLook = 2 * time.Second

// tellRetries says what a followed turn's calls fail of while they are
// retried. stop ends it.
func (a *app) tellRetries(ctx context.Context, s *session, workflowID, runID string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		told := map[string]string{}
		tick := time.NewTicker(retryLook)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			described, err := s.temporal.DescribeWorkflow(ctx, workflowID, runID)
			if err != nil {
				continue // the follower itself says what is wrong
			}
			for _, p := range described.RawResponse.GetPendingActivities() {
				cause := p.GetLastFailure().GetMessage()
				if cause == "" || told[p.GetActivityId()] == cause {
					continue
				}
				told[p.GetActivityId()] = cause
				a.say("%s  retry  %s, attempt %d of %d: %s", time.Now().Format(time.TimeOnly),
					p.GetActivityType().GetName(), p.GetAttempt(), p.GetMaximumAttempts(), contract.BoundText(cause, 500))
			}
		}
	}()
	return func() { cancel(); <-done }
}

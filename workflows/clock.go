package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// clock is a turn's wall clock. Unless parked time counts, it stands still
// while nothing runs and a person is waited for.
type clock struct {
	began   time.Time
	out     bool              // it has run out
	limit   contract.Duration // what the timer under way is for
	stop    workflow.CancelFunc
	parked  time.Duration // all of it that does not count
	standby time.Time     // since when it stands still; zero when it runs
}

// watchClock cancels the turn's work when its wall clock has run out. The
// start's limit holds from the beginning, the agent's from its first answer.
func (t *turn) watchClock(ctx workflow.Context) {
	c, limit := &t.clock, t.limits.MaxWallClock
	if limit <= 0 || t.ended() {
		return
	}
	if counts := t.limits.CountParked; counts != nil && !*counts && t.parked() {
		if c.standby.IsZero() {
			c.standby = workflow.Now(ctx)
			c.halt()
		}
		return
	}
	if !c.standby.IsZero() {
		c.parked += workflow.Now(ctx).Sub(c.standby)
		c.standby = time.Time{}
	} else if limit == c.limit {
		return
	}
	c.halt()
	c.limit = limit
	left := max(0, c.began.Add(limit.Std()+c.parked).Sub(workflow.Now(ctx)))
	timerCtx, stop := workflow.WithCancel(ctx)
	c.stop = stop
	workflow.Go(timerCtx, func(ctx workflow.Context) {
		err := workflow.NewTimerWithOptions(ctx, left, workflow.TimerOptions{
			Summary: "turn may take " + limit.String(),
		}).Get(ctx, nil)
		if err == nil && !t.ended() {
			c.out = true
			t.cancelWork()
		}
	})
}

func (c *clock) halt() {
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
	c.limit = 0
}

// parked says that nothing runs and a person is waited for.
func (t *turn) parked() bool { return len(t.calls.people.pending) > 0 && t.calls.live == 0 }

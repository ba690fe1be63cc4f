package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
)

// turn is the state of one turn. It holds what the workflow needs to decide,
// never the transcript: that is in history.
type turn struct {
	in    contract.TurnInput
	scope effect.Scope
	runID string

	// lineage says that an earlier run may have recorded what this one is
	// about to do: the run comes from a reset.
	lineage bool

	agent  contract.Agent  // as the first model call resolved it
	limits contract.Limits // the agent's, tightened by the start's

	step    int              // the step under way, from 1
	ordinal int              // the last ordinal given
	entries []contract.Entry // what the last step's calls came to
	steps   []contract.TranscriptStep
	running []string // activity ids under way, in source order

	ledger effect.Ledger
	shared map[string]contract.Entry // override key → its done call; never ranged over
	loop   loopWatch

	wrapUp     string // why the next model call is the last, if it is
	timedOut   bool   // the wall clock has run out
	began      time.Time
	watching   contract.Duration // the wall clock that is watched
	cancelWork workflow.CancelFunc
	ending     contract.Status // what a wrapped-up turn ends as
	result     contract.TurnResult
}

func newTurn(ctx workflow.Context, in contract.TurnInput) (*turn, error) {
	if in.Agent == "" {
		return nil, badInput("agent is missing: name an agent of the worker")
	}
	if len(in.Messages) == 0 {
		return nil, badInput(`messages is missing: want at least one {"role":"user","content":"…"}`)
	}
	info := workflow.GetInfo(ctx)
	return &turn{
		in: in,
		scope: effect.Scope{
			Namespace:  info.Namespace,
			WorkflowID: info.WorkflowExecution.ID,
			FirstRunID: info.FirstRunID,
		},
		runID:   info.WorkflowExecution.RunID,
		lineage: info.OriginalRunID != "" && info.OriginalRunID != info.WorkflowExecution.RunID,
		limits:  contract.Limits{}.WithDefaults().Tighten(in.Limits),
		shared:  map[string]contract.Entry{},
		result:  contract.TurnResult{Status: contract.StatusRunning},
	}, nil
}

func badInput(message string) error {
	return temporal.NewNonRetryableApplicationError(message, contract.ErrBadInput, nil)
}

// open registers what answers from outside before anything can block, and
// gives the context that the turn's work runs under.
func (t *turn) open(ctx workflow.Context) (workflow.Context, error) {
	if err := t.registerQueries(ctx); err != nil {
		return nil, err
	}
	t.tell(ctx)
	t.began = workflow.Now(ctx)
	work, cancel := workflow.WithCancel(ctx)
	t.cancelWork = cancel
	t.watchClock(ctx)
	return work, nil
}

// watchClock cancels the turn's work when its wall clock has run out. The
// start's limit holds from the beginning, the agent's from its first answer.
func (t *turn) watchClock(ctx workflow.Context) {
	limit := t.limits.MaxWallClock
	if limit <= 0 || limit == t.watching {
		return
	}
	t.watching = limit
	left := max(0, t.began.Add(limit.Std()).Sub(workflow.Now(ctx)))
	workflow.Go(ctx, func(ctx workflow.Context) {
		err := workflow.NewTimerWithOptions(ctx, left, workflow.TimerOptions{
			Summary: "turn may take " + limit.String(),
		}).Get(ctx, nil)
		if err == nil && !t.ended() {
			t.timedOut = true
			t.cancelWork()
		}
	})
}

func (t *turn) ended() bool { return t.result.Status != contract.StatusRunning }

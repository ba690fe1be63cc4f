package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// turn is the state of one turn. It holds what the workflow needs to decide,
// never the transcript: that is in history.
type turn struct {
	in    contract.TurnInput
	runs  int // the run under way, from 1
	calls *caller

	model  string          // the agent's, for summaries
	limits contract.Limits // the agent's, tightened by the start's

	step    int              // the step under way, from 1
	entries []contract.Entry // what the last step's calls came to
	steps   []contract.TranscriptStep
	running []string // activity ids under way, in source order

	loop    loopWatch
	clock   clock
	told    attributes
	staying bool // this run goes on to its end: nothing can be carried

	wrapUp      string // why the next model call is the last, if it is
	ending      contract.Status
	interrupted *contract.InterruptRequest
	unsaid      bool // the input held a secret: it is no part of the conversation
	cancelWork  workflow.CancelFunc
	result      contract.TurnResult
}

func newTurn(ctx workflow.Context, in contract.TurnInput) (*turn, error) {
	if err := checkInput(in); err != nil {
		return nil, err
	}
	t := &turn{
		in:     in,
		runs:   1,
		calls:  newCaller(ctx),
		limits: contract.Limits{}.WithDefaults().Tighten(in.Limits),
		clock:  clock{began: workflow.Now(ctx)},
		result: contract.TurnResult{Status: contract.StatusRunning},
	}
	t.calls.agent, t.calls.session, t.calls.stream = in.Agent, in.Session, in.Stream
	t.calls.changed, t.calls.note = t.changed, t.loop.note
	if in.Carried != nil {
		t.restore(*in.Carried)
	}
	return t, nil
}

func checkInput(in contract.TurnInput) error {
	switch {
	case in.Agent == "":
		return badInput("agent is missing: name an agent of the worker")
	case in.Carried != nil || len(in.Messages) > 0 || in.BasePacked != nil:
		return nil
	case len(in.Base) > 0 && in.Base[len(in.Base)-1].Role != contract.RoleAssistant:
		return nil
	default:
		return badInput(`messages is missing: want at least one {"role":"user","content":"…"}`)
	}
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
	work, cancel := workflow.WithCancel(ctx)
	t.cancelWork = cancel
	t.calls.people.closed = func() string { return t.noCallsToCome(work) }
	if err := t.calls.people.register(ctx, t.changed); err != nil {
		return nil, err
	}
	if err := t.registerInterrupt(ctx); err != nil {
		return nil, err
	}
	t.tell(ctx)
	t.watchClock(ctx)
	return work, nil
}

// changed follows what starts, ends or waits for a person.
func (t *turn) changed(ctx workflow.Context) {
	t.tell(ctx)
	t.announce(ctx)
	t.watchClock(ctx)
}

func (t *turn) ended() bool { return t.result.Status != contract.StatusRunning }

package workflows

import (
	"errors"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// RunSession is the workflow [contract.WorkflowSession]: one conversation. A
// message comes by the update [contract.UpdateSend], which answers at once
// with the id of the turn; turns run one after the other as children, each
// with what was said before it. The session runs until it is canceled, and
// costs nothing while nobody speaks.
func RunSession(ctx workflow.Context, in contract.SessionInput) (contract.SessionResult, error) {
	s, err := newSession(ctx, in)
	if err != nil {
		return contract.SessionResult{}, err
	}
	for {
		if err := s.awaitMessage(ctx); err != nil {
			return s.result(), temporal.NewCanceledError(s.result())
		}
		if len(s.queue) > 0 {
			s.runTurn(ctx)
		}
		if next := s.continueAsNew(ctx); next != nil {
			return contract.SessionResult{}, next
		}
	}
}

// session is the state of one conversation. What was said is not in it: that
// is in history.
type session struct {
	in      contract.SessionInput
	id      string
	runID   string
	runs    int
	turns   int                    // positions given
	seen    []contract.SentMessage // the latest, oldest first
	queue   []contract.SentMessage
	running *contract.SentMessage
	ending  func() bool     // it was canceled
	begun   workflow.Future // the running turn's execution
	cut     string          // the turn that was told to end last
	inRun   int             // turns of this run
	usage   contract.Usage
	effects contract.EffectCounts
	counted []contract.RuleCount // by the policy's rules with a limit per session
}

func newSession(ctx workflow.Context, in contract.SessionInput) (*session, error) {
	if in.Agent == "" {
		return nil, badInput("agent is missing: name an agent of the worker")
	}
	execution := workflow.GetInfo(ctx).WorkflowExecution
	if in.ID == "" {
		in.ID = execution.ID
	}
	s := &session{in: in, id: in.ID, runID: execution.RunID, runs: 1, ending: func() bool { return ctx.Err() != nil }}
	if c := in.Carried; c != nil {
		s.runs, s.turns, s.seen, s.queue = c.Runs+1, c.Turns, c.Seen, c.Queue
		s.usage, s.effects, s.counted = c.Usage, c.Effects, c.Counted
	}
	if err := s.register(ctx); err != nil {
		return nil, err
	}
	s.tell(ctx)
	return s, nil
}

// awaitMessage blocks until there is something to do. No timer runs.
func (s *session) awaitMessage(ctx workflow.Context) error {
	return workflow.Await(ctx, func() bool { return len(s.queue) > 0 })
}

// runTurn runs the next message's turn to its end. A turn that fails is the
// turn's affair: the session goes on.
func (s *session) runTurn(ctx workflow.Context) {
	message := s.queue[0]
	s.queue, s.running = s.queue[1:], &message
	s.inRun++
	s.tell(ctx)
	receipt := s.await(ctx, message)
	s.usage = s.usage.Add(receipt.Usage)
	s.effects = s.effects.Sum(receipt.Effects)
	s.count(receipt.Counted)
	s.running, s.begun = nil, nil
	s.tell(ctx)
}

// await starts the turn, or finds it started: then this run comes from a
// reset, and the turn that was started before is the one.
func (s *session) await(ctx workflow.Context, m contract.SentMessage) contract.TurnReceipt {
	var receipt contract.TurnReceipt
	child := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, s.turnOptions(m)), contract.WorkflowTurn, contract.TurnInput{
		Agent:    s.in.Agent,
		Messages: []contract.Message{{Role: contract.RoleUser, Content: m.Text, Attachments: m.Attachments}},
		Session:  s.id,
		BaseOf:   &contract.BaseRef{WorkflowID: s.id, RunID: s.runID},
		Limits:   s.in.Limits,
		Counted:  s.counted,
		Stream:   m.Stream,
	})
	s.begun = child.GetChildWorkflowExecution()
	err := child.Get(ctx, &receipt)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		receipt, err = s.awaitExisting(ctx, m)
	}
	if err != nil { // its own history says why it failed
		workflow.GetLogger(ctx).Info("the turn did not complete", "turn", m.TurnID, "error", err)
		carriedBy(err, &receipt)
	}
	return receipt
}

// carriedBy reads the receipt that a failed or canceled turn's error carries:
// what it used and did counts as much as any other's.
func carriedBy(err error, receipt *contract.TurnReceipt) {
	var failed *temporal.ApplicationError
	var canceled *temporal.CanceledError
	switch {
	case errors.As(err, &failed) && failed.Type() == contract.ErrTurnFailed && failed.HasDetails():
		err = failed.Details(receipt)
	case errors.As(err, &canceled) && canceled.HasDetails():
		err = canceled.Details(receipt)
	default:
		return
	}
	if err != nil {
		*receipt = contract.TurnReceipt{}
	}
}

// count adds what a turn's policy counted.
func (s *session) count(turn []contract.RuleCount) {
	for _, c := range turn {
		i := slices.IndexFunc(s.counted, func(known contract.RuleCount) bool { return known.Rule == c.Rule })
		if i < 0 {
			s.counted = append(s.counted, c)
			continue
		}
		s.counted[i].Calls += c.Calls
	}
}

func (s *session) result() contract.SessionResult {
	return contract.SessionResult{Turns: s.turns, Usage: s.usage, Effects: s.effects}
}

func (s *session) status() contract.SessionReply {
	const last = 20
	return contract.SessionReply{
		Agent: s.in.Agent, Turns: s.turns, Running: s.running, Queue: s.queue,
		Last: s.seen[max(0, len(s.seen)-last):], Usage: s.usage, Effects: s.effects, Runs: s.runs,
	}
}

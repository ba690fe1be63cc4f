package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/lineage"
)

// maxForkBase bounds the transcript that stands in a new turn's input as it is,
// in bytes of JSON; a longer one is packed.
const maxForkBase = 512 << 10

type forkFlags struct {
	step                          int
	message, turnID, runID, queue string
	attach                        []string
}

func (a *app) forkCommand() *cobra.Command {
	var f forkFlags
	cmd := &cobra.Command{
		Use:   "fork TURN --step N",
		Short: "Start a new turn from a step of an old one",
		Long: `Starts a new turn that goes on after step N of an old one: it knows what was
said and done up to there, and nothing of later steps. The old turn stays as it is.

The new turn has keys of its own. What later steps of the old turn did outside
stays done, and is done ANEW when the model asks for it again. To go on without
repeating anything, reset the turn: "temporal workflow reset".`,
		Example: `  starter effects ticket-4711
  starter fork ticket-4711 --step 2 --message "Use the other account."`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.fork(cmd, args[0], f) },
	}
	cmd.Flags().IntVar(&f.step, "step", 0, "the last step to keep, from 1 (required)")
	cmd.Flags().StringVar(&f.message, "message", "", "what the user says next")
	cmd.Flags().StringVar(&f.turnID, "turn-id", "", "workflow id of the new turn; the same id again returns the same turn")
	cmd.Flags().StringVar(&f.runID, "run-id", "", "run of the old turn (default: the latest)")
	cmd.Flags().StringVar(&f.queue, "task-queue", contract.DefaultTaskQueue, "task queue of the worker")
	attachFlag(cmd, &f.attach)
	if err := cmd.MarkFlagRequired("step"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

func (a *app) fork(cmd *cobra.Command, turnID string, f forkFlags) error {
	ctx := cmd.Context()
	if f.step < 1 {
		return usageError{errors.New("--step counts from 1")}
	}
	if len(f.attach) > 0 && f.message == "" {
		return usageError{errors.New("--attach goes with a message: say one with --message")}
	}
	s, err := a.connect(ctx, "", f.queue)
	if err != nil {
		return err
	}
	defer s.temporal.Close()
	if err := s.notSession(ctx, turnID); err != nil {
		return err
	}
	found, err := s.lineage(ctx, turnID, f.runID)
	if err != nil {
		return err
	}
	run, err := runOfStep(found, f)
	if err != nil {
		return err
	}
	if err := s.fetchBase(ctx, run.Fold); err != nil {
		return err
	}
	input, err := forkInput(run, f)
	if err != nil {
		return err
	}
	if f.message != "" {
		if input.Messages[0].Attachments, err = a.attach(ctx, input.Agent, f.attach); err != nil {
			return err
		}
	}
	turn, err := s.turns.Start(ctx, turnkeel.TurnRequest{TurnID: f.turnID, Input: input})
	if err != nil {
		return err
	}
	later := laterEffects(found, run, f.step)
	a.say("turn %s goes on after step %d of %s\n%s", turn.ID, f.step, turnID, s.link(turn.ID, turn.RunID))
	a.say("follow it with: starter watch %s", turn.ID)
	a.say("%d calls of later steps of the old turn stay as they are; the new turn makes its own, under keys of its own", later)
	if a.json() {
		return a.print(map[string]any{
			"workflow_id": turn.ID, "run_id": turn.RunID, "web_ui": s.link(turn.ID, turn.RunID),
			"forked_from": turnID, "forked_run": run.RunID, "step": f.step, "later_calls": later,
		})
	}
	return nil
}

// runOfStep is the run that made the step: the one asked for, or one that it
// continues.
func runOfStep(l *lineage.Lineage, f forkFlags) (*lineage.Run, error) {
	run := l.Newest()
	if f.runID != "" {
		run = l.Run(f.runID)
	}
	last := 0
	for ; run != nil; run = l.Run(run.Links.Continues) {
		for _, s := range run.Fold.Steps {
			last = max(last, s.Input.Step)
			if s.Input.Step == f.step {
				return run, nil
			}
		}
	}
	return nil, usageError{fmt.Errorf("the turn has no step %d that can be read; its last one is %d", f.step, last)}
}

// forkInput is the new turn's: what was said up to the step, then the message.
func forkInput(run *lineage.Run, f forkFlags) (contract.TurnInput, error) {
	old := run.Fold.Input
	in := contract.TurnInput{Agent: old.Agent, Limits: old.Limits, StepsPerRun: old.StepsPerRun}
	base, err := baseUpTo(run.Fold, f.step)
	if err != nil {
		return in, err
	}
	if f.message != "" {
		in.Messages = []contract.Message{{Role: contract.RoleUser, Content: f.message}}
	} else if base[len(base)-1].Role == contract.RoleAssistant {
		return in, usageError{fmt.Errorf("step %d asked for no calls, so the model has nothing to answer: say something with --message", f.step)}
	}
	encoded, err := json.Marshal(base)
	if err != nil {
		return in, err
	}
	if len(encoded) <= maxForkBase {
		in.Base = base
		return in, nil
	}
	packed, unpacked, err := fold.Pack(contract.PackedTranscript{Messages: base})
	if err != nil {
		return in, err
	}
	if len(packed) > contract.MaxPackedBytes {
		return in, fmt.Errorf("what was said up to step %d has %d bytes, packed; a new turn can be started with %d: choose an earlier step",
			f.step, len(packed), contract.MaxPackedBytes)
	}
	in.BasePacked = &contract.Packed{Gzip: packed, Bytes: unpacked}
	return in, nil
}

// baseUpTo is what was said up to a step, its calls answered.
func baseUpTo(run *fold.Run, step int) ([]contract.Message, error) {
	for _, e := range run.Effects() {
		if e.Step == step && (e.Outcome == fold.OutcomeOpen || e.Derived && run.Closed.IsZero()) {
			return nil, fmt.Errorf("step %d is still under way: wait for it, or choose an earlier step", step)
		}
	}
	said, err := run.Transcript()
	if err != nil {
		return nil, err
	}
	cut := len(said)
	for _, s := range run.Steps {
		switch {
		case s.Answer == nil && s.Input.Step <= step:
			return nil, fmt.Errorf("the model has not answered step %d", s.Input.Step)
		case s.Answer != nil && s.Input.Step > step:
			cut -= 1 + len(s.Answer.Calls)
		}
	}
	return said[:cut], nil
}

// laterEffects counts the calls after a step, as the turn stands now.
func laterEffects(l *lineage.Lineage, run *lineage.Run, step int) int {
	n := 0
	for _, r := range l.Rows() {
		if r.Step > step && (!r.Abandoned || r.RunID == run.RunID) {
			n++
		}
	}
	return n
}

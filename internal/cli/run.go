package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
)

type runFlags struct {
	agent, turnID, queue string
	detach, noWait       bool
	noStream             bool
	attach               []string
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   `run --agent NAME "what to do"`,
		Short: "Start a turn and follow it to its end",
		Long: `Starts a turn of an agent and follows it to its end. Leaving early (Ctrl-C)
harms nothing: the turn goes on, and "starter show" finds it.

What you write lives in the turn's history, readable by everyone who may read
the namespace: write no secret. An attached file and its text go into the blob
store that TURNKEEL_BLOBS names, which must be the worker's; the agent needs the
built-in tool read_attachment.`,
		Example: `  starter run --agent support "Refund order A-1001, please."
  starter run --agent support --attach invoice.pdf "What is due, and when?"
  starter run --agent support --turn-id ticket-4711 "…"   # the same id again is the same turn`,
		Args: cobra.MinimumNArgs(1), Annotations: takesMessage(),
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd, f, strings.Join(args, " ")) },
	}
	cmd.Flags().StringVar(&f.agent, "agent", "", "name of the agent (required)")
	cmd.Flags().StringVar(&f.turnID, "turn-id", "", "workflow id; the same id again returns the same turn")
	cmd.Flags().StringVar(&f.queue, "task-queue", contract.DefaultTaskQueue, "task queue of the worker")
	cmd.Flags().BoolVar(&f.detach, "detach", false, "return once the turn is started")
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "leave with exit code 4 when a call waits for a person")
	cmd.Flags().BoolVar(&f.noStream, "no-stream", false, "do not ask for text and progress while they come (fewer heartbeats)")
	attachFlag(cmd, &f.attach)
	if err := cmd.MarkFlagRequired("agent"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

func (a *app) run(cmd *cobra.Command, f runFlags, message string) error {
	ctx := cmd.Context()
	if strings.TrimSpace(message) == "" {
		return usageError{errors.New("the message is empty: say what the agent is to do")}
	}
	if f.agent == "" {
		return usageError{errors.New("--agent is empty: name an agent of the worker")}
	}
	if f.detach && f.noWait {
		return usageError{errors.New("--detach waits for nothing: leave --no-wait out")}
	}
	table, err := loadPrices()
	if err != nil {
		return err
	}
	attachments, err := a.attach(ctx, f.agent, f.attach)
	if err != nil {
		return err
	}
	s, err := a.connect(ctx, "", f.queue)
	if err != nil {
		return err
	}
	defer s.temporal.Close()
	a.hintAttributes(ctx, s)
	turn, err := s.turns.Start(ctx, turnkeel.TurnRequest{TurnID: f.turnID, Input: contract.TurnInput{
		Agent:    f.agent,
		Messages: []contract.Message{{Role: contract.RoleUser, Content: message, Attachments: attachments}},
		Stream:   !f.noStream && !f.detach,
	}})
	if err != nil {
		return err
	}
	verb := "turn"
	if turn.Existed {
		verb = "turn exists already:"
	}
	a.say("%s %s\n%s", verb, turn.ID, s.link(turn.ID, turn.RunID))
	if f.detach {
		if a.json() {
			return a.print(map[string]string{"workflow_id": turn.ID, "run_id": turn.RunID, "web_ui": s.link(turn.ID, turn.RunID)})
		}
		return nil
	}
	stopHint := a.hintNoWorker(ctx, s, f.queue)
	defer stopHint()
	p := a.printer(turn.ID)
	err = follow(ctx, turn, func(e turnkeel.Event) error {
		p.event(e)
		if e.Kind == turnkeel.EventWaiting && f.noWait {
			return waitsError{turn.ID}
		}
		return nil
	})
	if err != nil {
		if ctx.Err() != nil {
			return leftError{turn: turn.ID}
		}
		return err
	}
	run, err := read(ctx, s.temporal, turn.ID, "")
	if err != nil {
		return err
	}
	report := s.report(run, turn.ID, turn.RunID, table)
	return a.tellEnd(report)
}

// waitsError is a turn that waits for a person, whom nobody here waits for.
type waitsError struct{ turn string }

func (e waitsError) Error() string {
	return "the turn " + e.turn + " waits for a person: starter pending " + e.turn
}

// leftError is a follower that was interrupted; the turn is not.
type leftError struct {
	turn string // empty: none runs
	back string // the command that goes back to it; empty: starter show
	cut  bool   // it was interrupted and ends by itself
}

func (e leftError) Error() string {
	if e.back == "" {
		e.back = "starter show " + e.turn
	}
	if e.turn == "" {
		return "left: " + e.back
	}
	if e.cut {
		return "left; the turn " + e.turn + " was interrupted: " + e.back
	}
	return "left; the turn " + e.turn + " goes on: " + e.back
}

package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
)

type sendFlags struct {
	agent, messageID, whileBusy, queue string
	detach                             bool
	attach                             []string
}

func (a *app) sendCommand() *cobra.Command {
	var f sendFlags
	cmd := &cobra.Command{
		Use:   `send SESSION --agent NAME "what to say"`,
		Short: "Say something in a session and follow the turn it makes",
		Long: `Gives a message to a session, which is started with its first message, and
follows the turn that answers it. Turns of a session run one after the other,
each with what was said before it. Leaving early (Ctrl-C) harms nothing.

What you write lives in the session's history: write no secret. An attached file
and its text go into the blob store that TURNKEEL_BLOBS names, which must be the
worker's; later turns of the session can read it too.`,
		Example: `  starter send ticket-4711 --agent support "Where is order A-1001?"
  starter send ticket-4711 --attach invoice.pdf "Is this the right one?"
  starter send ticket-4711 --message-id mail-88 "…"        # the same id again is the same turn
  starter send ticket-4711 --while-busy interrupt "Stop, wrong order."`,
		Args: cobra.MinimumNArgs(2), Annotations: takesMessage(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.send(cmd, f, args[0], strings.Join(args[1:], " "))
		},
	}
	cmd.Flags().StringVar(&f.agent, "agent", "", "name of the agent; needed for a session's first message")
	cmd.Flags().StringVar(&f.messageID, "message-id", "", "the same id again is the same turn (default: a new one)")
	cmd.Flags().StringVar(&f.whileBusy, "while-busy", "queue", "while a turn runs: queue, reject or interrupt")
	cmd.Flags().StringVar(&f.queue, "task-queue", contract.DefaultTaskQueue, "task queue of the worker")
	cmd.Flags().BoolVar(&f.detach, "detach", false, "return once the message is taken")
	attachFlag(cmd, &f.attach)
	return cmd
}

func (a *app) send(cmd *cobra.Command, f sendFlags, id, text string) error {
	ctx := cmd.Context()
	if strings.TrimSpace(text) == "" {
		return usageError{errors.New("the message is empty")}
	}
	if id == "" {
		return usageError{errors.New("the session's id is empty")}
	}
	busy, err := whileBusyOf(f.whileBusy)
	if err != nil {
		return err
	}
	s, err := a.connect(ctx, "", f.queue)
	if err != nil {
		return err
	}
	defer s.temporal.Close()
	if err := s.onlySession(ctx, id); err != nil {
		return err
	}
	agent, err := s.agentOf(ctx, id, f)
	if err != nil {
		return err
	}
	attachments, err := a.attach(ctx, agent, f.attach)
	if err != nil {
		return err
	}
	a.hintAttributes(ctx, s)
	stopHint := a.hintSlow(ctx)
	reply, err := s.turns.Send(ctx, turnkeel.Message{
		Session: id, Agent: f.agent, Text: text, Attachments: attachments, MessageID: f.messageID, WhileBusy: busy, Stream: !f.detach,
	})
	stopHint()
	if err != nil {
		return err
	}
	if f.detach {
		if a.json() {
			return a.print(reply)
		}
		fmt.Fprintf(a.out, "turn %s, number %d of its session\n", reply.TurnID, reply.Position)
		return nil
	}
	a.say("turn %s\n%s", reply.TurnID, s.link(reply.TurnID, ""))
	if reply.Ahead > 0 {
		a.say("it waits for %d before it", reply.Ahead)
	}
	return a.followSent(cmd, s, f.queue, reply.TurnID)
}

// followSent follows a session's turn from when it begins.
func (a *app) followSent(cmd *cobra.Command, s *session, queue, turnID string) error {
	ctx := cmd.Context()
	table, err := loadPrices()
	if err != nil {
		return err
	}
	stopHint := a.hintNoWorker(ctx, s, queue)
	defer stopHint()
	turn, err := s.turns.Sent(ctx, turnID)
	if err == nil {
		p := a.printer(turnID)
		err = follow(ctx, turn, func(e turnkeel.Event) error { p.event(e); return nil })
	}
	if ctx.Err() != nil {
		return leftError{turn: turnID}
	}
	if err != nil {
		return err
	}
	run, err := read(ctx, s.temporal, turnID, "")
	if err != nil {
		return err
	}
	report := s.report(run, turnID, "", table)
	return a.tellEnd(report)
}

func whileBusyOf(word string) (contract.WhileBusy, error) {
	switch word {
	case "queue":
		return contract.BusyQueue, nil
	case "reject", "interrupt":
		return contract.WhileBusy(word), nil
	default:
		return "", usageError{fmt.Errorf("--while-busy %q: want queue, reject or interrupt", word)}
	}
}

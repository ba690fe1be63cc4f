package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/contract"
)

func (a *app) interruptCommand() *cobra.Command {
	var r contract.InterruptRequest
	cmd := &cobra.Command{
		Use:   "interrupt TURN",
		Short: "Cut in: end a turn now, with a transcript that can go on",
		Long: `Ends a turn as interrupted: the model call and tools that may be cut are
canceled, others finish and keep their result. What had not started says so.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withTurn(cmd, args[0], "interrupted", func(s *session) error {
				if r.By == "" {
					r.By, _ = person("")
				}
				return s.turns.Interrupt(cmd.Context(), args[0], r)
			})
		},
	}
	cmd.Flags().StringVar(&r.Reason, "reason", "", "why; recorded")
	byFlag(cmd, &r.By)
	return cmd
}

func (a *app) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel TURN|SESSION",
		Short: "Cancel a turn, or end a session",
		Long: `Cancels a turn, as "temporal workflow cancel" does: it ends as canceled, with a
legal transcript. A session ends with the turn it is running.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withTurn(cmd, args[0], "cancel requested", func(s *session) error {
				return s.turns.Cancel(cmd.Context(), args[0])
			})
		},
	}
}

func (a *app) withTurn(cmd *cobra.Command, turn, done string, do func(*session) error) error {
	s, err := a.connect(cmd.Context(), "", "")
	if err != nil {
		return err
	}
	defer s.temporal.Close()
	defer a.hintSlow(cmd.Context())()
	if err := do(s); err != nil {
		return err
	}
	if a.json() {
		return a.print(map[string]string{"turn": turn, "done": done})
	}
	fmt.Fprintf(a.out, "%s: %s\n", turn, done)
	return nil
}

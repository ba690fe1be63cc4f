package cli

import (
	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel"
)

func (a *app) watchCommand() *cobra.Command {
	var runID string
	cmd := &cobra.Command{
		Use:   "watch TURN",
		Short: "Follow a turn that was started elsewhere",
		Long: `Follows a turn from its beginning to its end, through all its runs. Leaving
(Ctrl-C) harms nothing. With --output json each event is one line. The exit code
is that of "starter run": 1 when the turn did not complete.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.connect(cmd.Context(), "", "")
			if err != nil {
				return err
			}
			defer s.temporal.Close()
			if err := s.notSession(cmd.Context(), args[0]); err != nil {
				return err
			}
			p := a.printer(args[0])
			var last turnkeel.Event
			err = follow(cmd.Context(), s.turns.Turn(cmd.Context(), args[0], runID), func(e turnkeel.Event) error {
				last = e
				if a.json() {
					return a.print(e)
				}
				p.event(e)
				return nil
			})
			if cmd.Context().Err() != nil {
				return leftError{turn: args[0]}
			}
			if err != nil {
				return err
			}
			return ended(turnReport{WorkflowID: args[0], Status: last.Status, Reason: last.Text})
		},
	}
	cmd.Flags().StringVar(&runID, "run-id", "", "run to begin with (default: the latest)")
	return cmd
}

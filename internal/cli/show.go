package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

func (a *app) showCommand() *cobra.Command {
	var runID string
	cmd := &cobra.Command{
		Use:   "show TURN",
		Short: "Show what was said and done in a turn",
		Long:  "Shows what was said and done in a turn, read from its history. Needs no worker.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.connect(cmd.Context(), "", "")
			if err != nil {
				return err
			}
			defer s.temporal.Close()
			run, err := read(cmd.Context(), s.temporal, args[0], runID)
			if err != nil {
				return err
			}
			current, err := s.temporal.DescribeWorkflow(cmd.Context(), args[0], runID)
			if err != nil {
				return err
			}
			report := s.report(run, args[0], current.RawResponse.GetWorkflowExecutionInfo().GetExecution().GetRunId())
			if report.Messages, err = run.Transcript(); err != nil {
				return err
			}
			if a.json() {
				return a.print(report)
			}
			a.printTranscript(report)
			return nil
		},
	}
	cmd.Flags().StringVar(&runID, "run-id", "", "run of the turn (default: the latest)")
	return cmd
}

func (a *app) printTranscript(r turnReport) {
	fmt.Fprintf(a.out, "turn %s · agent %s · %s\n%s\n\n", r.WorkflowID, r.Agent, r.Status, r.WebUI)
	for _, m := range r.Messages {
		switch m.Role {
		case contract.RoleTool:
			fmt.Fprintf(a.out, "%-9s  %s: %s\n", m.Role, m.ToolCallID, plain(m.Content))
		default:
			if m.Content != "" {
				fmt.Fprintf(a.out, "%-9s  %s\n", m.Role, plain(m.Content))
			}
			for _, c := range m.ToolCalls {
				fmt.Fprintf(a.out, "%-9s  calls %s %s (%s)\n", m.Role, plain(c.Name), plain(c.Args), plain(c.ID))
			}
		}
	}
	if r.Reason != "" {
		fmt.Fprintf(a.out, "\nreason: %s\n", r.Reason)
	}
	fmt.Fprintf(a.out, "\nsteps: %d · tokens: %d\n\n", r.Steps, r.Usage.Total())
	printEffects(a.out, r.Effects)
}

func (a *app) effectsCommand() *cobra.Command {
	var runID, file string
	cmd := &cobra.Command{
		Use:   "effects TURN | effects --file history.json",
		Short: "Print the effect log of a turn",
		Long: `Prints the effect log of a turn: one line per tool call, read from the run's
history or from a file saved with "temporal workflow show --output json".`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := a.effectsOf(cmd, args, runID, file)
			if err != nil {
				return err
			}
			effects := run.Effects()
			if !a.json() {
				printEffects(a.out, effects)
				return nil
			}
			for _, e := range effects {
				if err := a.print(e); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&runID, "run-id", "", "run of the turn (default: the latest)")
	cmd.Flags().StringVar(&file, "file", "", "saved history instead of a turn")
	return cmd
}

func (a *app) effectsOf(cmd *cobra.Command, args []string, runID, file string) (*fold.Run, error) {
	if (len(args) == 1) == (file != "") {
		return nil, usageError{errors.New("name a turn, or a saved history with --file")}
	}
	if file != "" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // only read
		history, err := sdkclient.HistoryFromJSON(f, sdkclient.HistoryJSONOptions{})
		if err != nil {
			return nil, fmt.Errorf("%s is not a saved history: %w", file, err)
		}
		return fold.Build(history.GetEvents(), nil)
	}
	s, err := a.connect(cmd.Context(), "", "")
	if err != nil {
		return nil, err
	}
	defer s.temporal.Close()
	return read(cmd.Context(), s.temporal, args[0], runID)
}

func printEffects(w io.Writer, effects []fold.Effect) {
	if len(effects) == 0 {
		fmt.Fprintln(w, "no tool was called")
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ORDINAL\tTOOL\tCLASS\tKEY\tATTEMPTS\tOUTCOME")
	for _, e := range effects {
		outcome := string(e.Outcome)
		if e.Derived {
			outcome += " (by the events)"
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%.12s\t%d\t%s\n", e.Ordinal, e.Tool, e.Class, e.Key, e.Attempts, outcome)
	}
	t.Flush() //nolint:errcheck // nothing can be done about it
}

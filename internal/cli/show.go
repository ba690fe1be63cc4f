package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

func (a *app) showCommand() *cobra.Command {
	var runID string
	var ordinal int
	cmd := &cobra.Command{
		Use:   "show TURN",
		Short: "Show what was said and done in a turn",
		Long: `Shows what was said and done in a turn, read from its history, with its tokens,
what they cost by list prices where the model is known (a file of your own:
TURNKEEL_PRICES), and what calls are retried for. Needs no worker.

With --result N it prints the result of call N (its ordinal) and nothing else, as
the tool returned it. One that was too large for the history is read from the blob
store that TURNKEEL_BLOBS names, which must be the worker's.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			table, err := loadPrices()
			if err != nil {
				return err
			}
			s, err := a.connect(cmd.Context(), "", "")
			if err != nil {
				return err
			}
			defer s.temporal.Close()
			if err := s.notSession(cmd.Context(), args[0]); err != nil {
				return err
			}
			run, err := read(cmd.Context(), s.temporal, args[0], runID)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("result") {
				return a.printResult(cmd.Context(), run, ordinal)
			}
			current, err := s.temporal.DescribeWorkflow(cmd.Context(), args[0], runID)
			if err != nil {
				return err
			}
			report := s.report(run, args[0], current.RawResponse.GetWorkflowExecutionInfo().GetExecution().GetRunId(), table)
			report.Retrying = retryingOf(current.RawResponse)
			if err := s.fetchBase(cmd.Context(), run); err != nil {
				return err
			}
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
	cmd.Flags().IntVar(&ordinal, "result", 0, "print the whole result of the call of this ordinal, and nothing else")
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
	for _, c := range r.Retrying {
		fmt.Fprintf(a.out, "\n%s\n", c)
	}
	fmt.Fprintf(a.out, "\nsteps: %d · %s\n\n", r.Steps, usageText(r))
	printEffects(a.out, r.Effects)
}

func printEffects(w io.Writer, effects []fold.Effect) {
	if len(effects) == 0 {
		fmt.Fprintln(w, "no tool was called")
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head, people := decidedColumn(effects)
	fmt.Fprintln(t, "ORDINAL\tTOOL\tCLASS\tKEY\tATTEMPTS\t"+head+"OUTCOME")
	for i, e := range effects {
		fmt.Fprintf(t, "%d\t%s\t%s\t%.12s\t%d\t%s%s\n", e.Ordinal, e.Tool, e.Class, e.Key, e.Attempts, people[i], outcomeText(e))
	}
	t.Flush() //nolint:errcheck // nothing can be done about it
}

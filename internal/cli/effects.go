package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/lineage"
)

// listWait bounds how long a person waits for the listing of runs.
const listWait = 3 * time.Second

type effectsFlags struct{ runID, file string }

func (a *app) effectsCommand() *cobra.Command {
	var f effectsFlags
	cmd := &cobra.Command{
		Use:   "effects TURN | effects --file history.json",
		Short: "Print the effect log of a turn",
		Long: `Prints the effect log of a turn, or of a workflow of your own that calls tools
(workflows.NewTools): one line per tool call, read from the histories of all its
runs, or from one saved with "temporal workflow show --output json".

A turn has several runs after a reset or when it continued as new. A call whose
outcome was recorded in an earlier run and not repeated names that run; one that
a reset left behind is marked abandoned: what it did outside stays done.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (f.file != "") {
				return usageError{errors.New("name a turn, or a saved history with --file")}
			}
			found, err := a.lineageOf(cmd.Context(), args, f)
			if err != nil {
				return err
			}
			if r := found.Newest(); r != nil && r.Fold.Type == contract.WorkflowSession {
				return fmt.Errorf("%s is a session, whose calls are in its turns: name one of them", r.Fold.WorkflowID)
			}
			return a.printStory(found, f.runID)
		},
	}
	cmd.Flags().StringVar(&f.runID, "run-id", "", "only this run of the turn (default: all runs)")
	cmd.Flags().StringVar(&f.file, "file", "", "saved history instead of a turn")
	return cmd
}

func (a *app) lineageOf(ctx context.Context, args []string, f effectsFlags) (*lineage.Lineage, error) {
	if f.file != "" {
		run, err := savedRun(f.file)
		if err != nil {
			return nil, err
		}
		return &lineage.Lineage{WorkflowID: run.Fold.WorkflowID, FirstRunID: run.Fold.FirstRunID, Runs: []*lineage.Run{run}}, nil
	}
	s, err := a.connect(ctx, "", "")
	if err != nil {
		return nil, err
	}
	defer s.temporal.Close()
	if err := s.notSession(ctx, args[0]); err != nil {
		return nil, err
	}
	return s.lineage(ctx, args[0], f.runID)
}

// lineage reads all runs of a turn; runID may be empty for the latest one.
// What is missing is told by the caller.
func (s *session) lineage(ctx context.Context, turnID, runID string) (*lineage.Lineage, error) {
	described, err := s.temporal.DescribeWorkflow(ctx, turnID, runID)
	if err != nil {
		return nil, fmt.Errorf("find turn %s: %w", turnID, err)
	}
	runID = described.RawResponse.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	found := lineage.Read(ctx, s.temporal, turnID, runID, lineage.Options{Wait: listWait})
	if found.Run(runID) == nil && found.Err != nil {
		return nil, found.Err
	}
	return found, ctx.Err()
}

func savedRun(file string) (*lineage.Run, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	history, err := sdkclient.HistoryFromJSON(f, sdkclient.HistoryJSONOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s is not a saved history: %w", file, err)
	}
	run, err := lineage.FromHistory(history.GetEvents(), nil)
	if err != nil { // also of payloads that are encoded
		return nil, fmt.Errorf("read %s, which must be saved with plain payloads (--codec-endpoint): %w", file, err)
	}
	if run.Fold.Type == "" {
		return nil, fmt.Errorf("%s holds %d events and no start of a workflow", file, len(history.GetEvents()))
	}
	return run, nil
}

// printStory prints the calls of all runs, or of one.
func (a *app) printStory(l *lineage.Lineage, runID string) error {
	a.tellIncomplete(l)
	var rows []lineage.Row
	for _, r := range l.Rows() {
		if runID == "" || r.RunID == runID {
			rows = append(rows, r)
		}
	}
	if a.json() {
		for _, r := range rows {
			if err := a.print(r); err != nil {
				return err
			}
		}
		return nil
	}
	if len(l.Runs) < 2 {
		effects := make([]fold.Effect, len(rows))
		for i, r := range rows {
			effects[i] = r.Effect
		}
		printEffects(a.out, effects)
		return nil
	}
	printRuns(a.out, l)
	printRows(a.out, rows)
	return nil
}

// tellIncomplete says, on standard error, what the story leaves out.
func (a *app) tellIncomplete(l *lineage.Lineage) {
	for _, id := range l.Missing {
		fmt.Fprintf(a.errOut, "run %s is gone: what was done in it is not shown\n", id)
	}
	if l.Err != nil {
		fmt.Fprintf(a.errOut, "not all runs could be read: %s\n", plain(l.Err.Error()))
	}
}

func printRuns(w io.Writer, l *lineage.Lineage) {
	for i, r := range l.Runs {
		line := fmt.Sprintf("run %d  %s  %s", i+1, r.RunID, r.Began.Local().Format(time.DateTime))
		switch origin := r.Links.Origin(r.RunID); {
		case origin != nil:
			line += fmt.Sprintf("  a reset of %.8s (%s)", origin.Base, plain(origin.Reason))
		case r.Links.Continues != "":
			line += fmt.Sprintf("  continues %.8s", r.Links.Continues)
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}

func printRows(w io.Writer, rows []lineage.Row) {
	if len(rows) == 0 {
		fmt.Fprintln(w, "no tool was called")
		return
	}
	effects := make([]fold.Effect, len(rows))
	for i, r := range rows {
		effects[i] = r.Effect
	}
	head, people := decidedColumn(effects)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tORDINAL\tTOOL\tCLASS\tKEY\tATTEMPTS\t"+head+"OUTCOME")
	for i, r := range rows {
		outcome := outcomeText(r.Effect)
		if r.Abandoned {
			outcome += " [abandoned by a reset]"
		}
		fmt.Fprintf(t, "%.8s\t%d\t%s\t%s\t%.12s\t%d\t%s%s\n", r.RunID, r.Ordinal, r.Tool, r.Class, r.Key, r.Attempts, people[i], outcome)
	}
	t.Flush() //nolint:errcheck // nothing can be done about it
}

// outcomeText says an outcome and how it became known.
func outcomeText(e fold.Effect) string {
	text := string(e.Outcome)
	switch {
	case e.FromRun != "":
		text += fmt.Sprintf(" (recorded by run %.8s, not repeated)", e.FromRun)
	case e.How != "":
		text += " (" + e.How + ")"
	case e.Derived && e.Step > 0: // of code's calls that is the rule
		text += " (by the events)"
	}
	switch {
	case e.Blob != "":
		text += fmt.Sprintf("; %d bytes, whole in the blob store", e.ResultBytes)
	case e.Truncated:
		text += fmt.Sprintf("; %d bytes, recorded cut", e.ResultBytes)
	}
	if e.Problem != "" {
		text += ": " + plain(firstLine(contract.BoundText(e.Text, 200)))
	}
	return text
}

// firstLine is what a table has room for.
func firstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += " …"
	}
	return strings.ReplaceAll(line, "\t", " ")
}

// decidedColumn is what people and the policy said of the calls: its head and a
// cell each, all empty when nobody said anything.
func decidedColumn(effects []fold.Effect) (head string, cells []string) {
	cells = make([]string, len(effects))
	for i, e := range effects {
		var said []string
		for _, d := range e.Decisions() {
			said = append(said, plain(d.Verdict+" by "+d.By))
		}
		if e.Rule != "" {
			said = append(said, plain("rule "+e.Rule))
		}
		if len(said) > 0 {
			head = "DECIDED\t"
		}
		cells[i] = strings.Join(said, ", ")
	}
	for i := range cells {
		if head != "" {
			cells[i] += "\t"
		}
	}
	return head, cells
}

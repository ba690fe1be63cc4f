package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	enumspb "go.temporal.io/api/enums/v1"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// read folds the history of a turn, or of a workflow that called tools. Outside
// of this module `starter show` prints a turn, `starter effects` the calls of both.
func read(ctx context.Context, client sdkclient.Client, id, runID string) (*fold.Run, error) {
	run := fold.New(nil)
	it := client.GetWorkflowHistory(ctx, id, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			return nil, err
		}
		if err := run.Add(event); err != nil {
			return nil, err
		}
	}
	return run, nil
}

// show prints what was said in a turn and its effect log.
func show(ctx context.Context, out io.Writer, client sdkclient.Client, turn *turnkeel.Turn) error {
	run, err := read(ctx, client, turn.ID, turn.RunID)
	if err != nil {
		return err
	}
	messages, err := run.Transcript()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "turn %s\n\n", turn.ID)
	for _, m := range messages {
		if m.Content != "" {
			fmt.Fprintf(out, "%-9s  %s\n", m.Role, m.Content)
		}
		for _, c := range m.ToolCalls {
			fmt.Fprintf(out, "%-9s  calls %s %s\n", m.Role, c.Name, c.Args)
		}
	}
	return showEffects(out, run)
}

// showCalls prints the calls that a workflow of one's own made by name: they
// are in the effect log as a turn's are.
func showCalls(ctx context.Context, out io.Writer, client sdkclient.Client, id, runID string) error {
	run, err := read(ctx, client, id, runID)
	if err != nil {
		return err
	}
	return showEffects(out, run)
}

func showEffects(out io.Writer, run *fold.Run) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nORDINAL\tTOOL\tCLASS\tKEY\tATTEMPTS\tOUTCOME")
	for _, e := range run.Effects() {
		fmt.Fprintf(table, "%d\t%s\t%s\t%.12s\t%d\t%s\n", e.Ordinal, e.Tool, e.Class, e.Key, e.Attempts, e.Outcome)
	}
	return table.Flush()
}

package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	enumspb "go.temporal.io/api/enums/v1"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// read folds the history of a turn, or of a workflow that called tools. Outside
// of this module `starter show` and `starter effects` print a turn's.
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
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nORDINAL\tTOOL\tCLASS\tKEY\tATTEMPTS\tOUTCOME")
	for _, e := range run.Effects() {
		fmt.Fprintf(table, "%d\t%s\t%s\t%.12s\t%d\t%s\n", e.Ordinal, e.Tool, e.Class, e.Key, e.Attempts, e.Outcome)
	}
	return table.Flush()
}

// showCalls prints the calls that a workflow of one's own made: each is an
// activity of the tool's own type, recorded with its arguments and its key.
func showCalls(ctx context.Context, out io.Writer, client sdkclient.Client, id, runID string) error {
	run, err := read(ctx, client, id, runID)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nORDINAL\tACTIVITY\tKEY\tATTEMPTS\tARGUMENTS")
	for n := 1; ; n++ {
		call := run.Activity(contract.CallActivityID(0, n, 0))
		if call == nil {
			return table.Flush()
		}
		in, err := run.ToolInput(call)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%d\t%s\t%.12s\t%d\t%s\n", in.Ordinal, call.Type, in.Key, call.Attempts, in.Args)
	}
}

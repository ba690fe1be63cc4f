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

// show prints what was said and the effect log, both read from the turn's
// history. Outside of this module `starter show` prints them.
func show(ctx context.Context, out io.Writer, client sdkclient.Client, turn *turnkeel.Turn) error {
	run := fold.New(nil)
	it := client.GetWorkflowHistory(ctx, turn.ID, turn.RunID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			return err
		}
		if err := run.Add(event); err != nil {
			return err
		}
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

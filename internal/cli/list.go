package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/turnkeel/turnkeel/contract"
)

type listedTurn struct {
	WorkflowID string     `json:"workflow_id"`
	RunID      string     `json:"run_id"`
	Status     string     `json:"status"`
	Started    time.Time  `json:"started"`
	Closed     *time.Time `json:"closed,omitempty"`
	WebUI      string     `json:"web_ui"`
}

func (a *app) listCommand() *cobra.Command {
	var query string
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List turns: first those that run, then those that ended last",
		Example: `  starter list --query "TurnkeelAgent = 'support' AND ExecutionStatus = 'Running'"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return usageError{fmt.Errorf("--limit %d: want 1 or more", limit)}
			}
			s, err := a.connect(cmd.Context(), "", "")
			if err != nil {
				return err
			}
			defer s.temporal.Close()
			a.hintAttributes(cmd.Context(), s)
			q := "WorkflowType = '" + contract.WorkflowTurn + "'"
			if query != "" {
				q += " AND (" + query + ")"
			}
			turns, err := s.list(cmd, q, limit)
			if err != nil {
				return fmt.Errorf("list turns: %w", err)
			}
			return a.printTurns(turns)
		},
	}
	cmd.Flags().StringVar(&query, "query", "", "further condition, in Temporal's list filter language")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many at most")
	return cmd
}

func (s *session) list(cmd *cobra.Command, query string, limit int) ([]listedTurn, error) {
	var turns []listedTurn
	var page []byte
	for len(turns) < limit {
		response, err := s.temporal.ListWorkflow(cmd.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: s.info.Namespace, Query: query, NextPageToken: page,
			PageSize: int32(min(limit-len(turns), 1000)), //nolint:gosec // bounded
		})
		if err != nil {
			return nil, err
		}
		for _, e := range response.GetExecutions() {
			turns = append(turns, s.listed(e))
		}
		if page = response.GetNextPageToken(); len(page) == 0 {
			break
		}
	}
	return turns, nil
}

func (s *session) listed(e *workflow.WorkflowExecutionInfo) listedTurn {
	t := listedTurn{
		WorkflowID: e.GetExecution().GetWorkflowId(), RunID: e.GetExecution().GetRunId(),
		Status: strings.ToLower(e.GetStatus().String()), Started: e.GetStartTime().AsTime(),
	}
	if e.GetCloseTime() != nil {
		closed := e.GetCloseTime().AsTime()
		t.Closed = &closed
	}
	t.WebUI = s.link(t.WorkflowID, t.RunID)
	return t
}

func (a *app) printTurns(turns []listedTurn) error {
	if a.json() {
		for _, t := range turns {
			if err := a.print(t); err != nil {
				return err
			}
		}
		return nil
	}
	if len(turns) == 0 {
		fmt.Fprintln(a.out, "no turns")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TURN\tSTATUS\tSTARTED")
	for _, t := range turns {
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.WorkflowID, t.Status, t.Started.Local().Format(time.DateTime))
	}
	return w.Flush()
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"

	"github.com/turnkeel/turnkeel/contract"
)

// pendingCall is a question with the turn it stands in.
type pendingCall struct {
	Turn  string `json:"turn"`
	Agent string `json:"agent"`
	contract.Pending
	WebUI string `json:"web_ui"`
}

func (a *app) pendingCommand() *cobra.Command {
	var query string
	cmd := &cobra.Command{
		Use:   "pending [TURN]",
		Short: "List the calls that wait for a person",
		Long: `Lists the calls that wait for a person, in one turn or in all: what exactly will
run, why a yes is needed, who may give it and until when. The exact arguments
come from the turns themselves, so a worker must be up.`,
		Example: `  starter pending
  starter pending --query "TurnkeelAgent = 'support'" --output json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.connect(cmd.Context(), "", "")
			if err != nil {
				return err
			}
			defer s.temporal.Close()
			a.hintAttributes(cmd.Context(), s)
			calls, unasked := s.pending(cmd, args, query)
			if unasked != nil && len(calls) == 0 {
				return unasked
			}
			return errors.Join(a.printPendings(calls), unasked)
		},
	}
	cmd.Flags().StringVar(&query, "query", "", "further condition on the turns, in Temporal's list filter language")
	return cmd
}

func (a *app) printPendings(calls []pendingCall) error {
	if !a.json() && len(calls) == 0 {
		fmt.Fprintln(a.out, "nothing waits for a person")
	}
	for i, c := range calls {
		if a.json() {
			if err := a.print(c); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		printPending(a.out, c.Turn, c.Agent, c.Pending)
		fmt.Fprintln(a.out, commandsFor(c.Turn, c.Pending))
	}
	return nil
}

// pending are the questions of the turn in args, or of all turns. A turn that
// cannot be asked hides no other: its error comes beside the others' calls.
func (s *session) pending(cmd *cobra.Command, args []string, query string) ([]pendingCall, error) {
	if len(args) == 1 {
		return s.pendingOf(cmd.Context(), args[0])
	}
	q := "WorkflowType = '" + contract.WorkflowTurn + "' AND ExecutionStatus = 'Running'"
	missing, err := s.missingAttributes(cmd.Context())
	if err == nil && !slices.Contains(missing, contract.AttributePending) {
		q += " AND " + contract.AttributePending + " > 0"
	}
	if query != "" {
		q += " AND (" + query + ")"
	}
	turns, err := s.list(cmd, q, maxPendingTurns)
	if err != nil {
		return nil, fmt.Errorf("list the turns that wait: %w", err)
	}
	return s.askAll(cmd.Context(), turns)
}

const (
	// maxPendingTurns bounds how many turns are asked what they wait for.
	maxPendingTurns = 10_000

	// askAtOnce is how many are asked at a time: each may take ten seconds
	// where no worker answers.
	askAtOnce = 32
)

// askAll asks turns what they wait for. One that has gone meanwhile waits for
// nothing.
func (s *session) askAll(ctx context.Context, turns []listedTurn) ([]pendingCall, error) {
	asked, failed := make([][]pendingCall, len(turns)), make([]error, len(turns))
	var wg sync.WaitGroup
	room := make(chan struct{}, askAtOnce)
	for i, t := range turns {
		room <- struct{}{}
		wg.Go(func() {
			asked[i], failed[i] = s.pendingOf(ctx, t.WorkflowID)
			<-room
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var missing *serviceerror.NotFound
	failed = slices.DeleteFunc(failed, func(err error) bool { return err == nil || errors.As(err, &missing) })
	if len(failed) > 0 {
		failed = append(failed[:1], fmt.Errorf("%d of %d turns could not be asked; is their worker up?", len(failed), len(turns)))
	}
	return slices.Concat(asked...), errors.Join(failed...)
}

func (s *session) pendingOf(ctx context.Context, turn string) ([]pendingCall, error) {
	status, err := s.turns.Status(ctx, turn)
	if err != nil {
		return nil, err
	}
	calls := make([]pendingCall, len(status.Pending))
	for i, p := range status.Pending {
		calls[i] = pendingCall{Turn: turn, Agent: status.Agent, Pending: p, WebUI: s.link(turn, "")}
	}
	return calls, nil
}

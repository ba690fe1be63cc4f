package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/contract"
)

type decideFlags struct {
	key, digest, by, comment string
	query, tool              string
	all, yes                 bool
}

func (a *app) decideCommand(approve bool) *cobra.Command {
	var f decideFlags
	verb, what := "deny", "Deny a call that waits: it is not executed, and the model is told"
	if approve {
		verb, what = "approve", "Approve a call that waits: exactly that call runs, once"
	}
	cmd := &cobra.Command{
		Use:   verb + " TURN [--key KEY --digest DIGEST] | " + verb + " --all --tool NAME",
		Short: what,
		Long: what + `.

A decision is for one call as it was shown: its key and its digest. Without
them the call is shown and you are asked; with several waiting you have to say
which. The first decision stands; the same one again changes nothing.

--all decides every waiting call that a filter names, after showing them.

Your name is recorded as you give it, with the identity of your connection. Who
may decide at all is for the server to say: see docs/approvals.md.`,
		Example: "  starter " + verb + " turn-support-abc\n  starter " + verb + ` --all --tool refund --query "TurnkeelAgent = 'support'"`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.all == (len(args) == 1) {
				return usageError{errors.New("name one turn, or use --all with a filter")}
			}
			if f.all && f.tool == "" && f.query == "" {
				return usageError{errors.New("--all needs a filter: --tool or --query")}
			}
			if !f.all && (f.tool != "" || f.query != "") {
				return usageError{errors.New("--tool and --query go with --all")}
			}
			if (f.key == "") != (f.digest == "") {
				return usageError{errors.New("--key and --digest go together: they say which call, as it was shown")}
			}
			if f.all && f.key != "" {
				return usageError{errors.New("--key names one call of one turn, --all does not: leave one out")}
			}
			return a.decide(cmd, args, approve, f)
		},
	}
	cmd.Flags().StringVar(&f.key, "key", "", "idempotency key of the call")
	cmd.Flags().StringVar(&f.digest, "digest", "", "execution digest of the call, as it was shown")
	cmd.Flags().StringVar(&f.comment, "comment", "", "why; recorded, and told to the model when denied")
	cmd.Flags().BoolVar(&f.all, "all", false, "every waiting call that the filters name")
	cmd.Flags().StringVar(&f.tool, "tool", "", "with --all: only calls of this tool")
	cmd.Flags().StringVar(&f.query, "query", "", "with --all: only these turns, in Temporal's list filter language")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	byFlag(cmd, &f.by)
	return cmd
}

func (a *app) decide(cmd *cobra.Command, args []string, approve bool, f decideFlags) (err error) {
	if f.by, err = person(f.by); err != nil {
		return err
	}
	s, err := a.connect(cmd.Context(), "", "")
	if err != nil {
		return err
	}
	defer s.temporal.Close()
	if f.key != "" {
		return a.decideCalls(cmd, s, []pendingCall{{Turn: args[0], Pending: contract.Pending{Key: f.key, Digest: f.digest}}}, approve, f)
	}
	found, unasked := s.pending(cmd, args, f.query)
	if unasked != nil && len(found) == 0 {
		return unasked
	}
	calls, err := a.choose(cmd, found, approve, f)
	if err != nil {
		return errors.Join(err, unasked)
	}
	return errors.Join(a.decideCalls(cmd, s, calls, approve, f), unasked)
}

func (a *app) decideCalls(cmd *cobra.Command, s *session, calls []pendingCall, approve bool, f decideFlags) error {
	failed := 0
	for _, c := range calls {
		stopHint := a.hintSlow(cmd.Context())
		reply, err := s.turns.Decide(cmd.Context(), c.Turn, contract.DecideRequest{
			Key: c.Key, Digest: c.Digest, Approve: approve, By: f.by, Comment: f.comment,
		})
		stopHint()
		if err != nil {
			if len(calls) == 1 || cmd.Context().Err() != nil {
				return err
			}
			failed++
			fmt.Fprintln(a.errOut, plain(err.Error()))
			continue
		}
		if err := a.printDecision(c, reply); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d calls could not be decided", failed, len(calls))
	}
	return nil
}

// choose shows what waits and has it confirmed.
func (a *app) choose(cmd *cobra.Command, found []pendingCall, approve bool, f decideFlags) ([]pendingCall, error) {
	var calls []pendingCall
	for _, c := range found {
		if c.Kind == contract.PendingApproval && (f.tool == "" || f.tool == c.Tool) {
			calls = append(calls, c)
			printPending(a.errOut, c.Turn, c.Agent, c.Pending)
		}
	}
	verb := "Deny"
	if approve {
		verb = "Approve"
	}
	switch {
	case len(calls) == 0:
		return nil, notFoundError{errors.New("no call waits for approval")}
	case !f.all && len(calls) > 1:
		return nil, usageError{fmt.Errorf("%d calls wait: say which with --key and --digest", len(calls))}
	case len(calls) == 1:
		return calls, a.confirm(cmd.Context(), verb+" this call?", f.yes)
	default:
		return calls, a.confirm(cmd.Context(), fmt.Sprintf("%s these %d calls?", verb, len(calls)), f.yes)
	}
}

func (a *app) printDecision(c pendingCall, reply contract.DecideReply) error {
	if a.json() {
		return a.print(map[string]any{"turn": c.Turn, "decision": reply.Decision, "held": reply.Held})
	}
	word := "denied"
	if reply.Decision.Approve {
		word = "approved"
	}
	line := fmt.Sprintf("%s: call %.12s %s by %s", c.Turn, c.Key, word, reply.Decision.By)
	if reply.Held {
		line += " (no such call waits yet: the decision is held for it)"
	}
	fmt.Fprintln(a.out, line)
	return nil
}

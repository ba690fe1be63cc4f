package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/contract"
)

func (a *app) resolveCommand() *cobra.Command {
	var r contract.ResolveRequest
	var verdict string
	cmd := &cobra.Command{
		Use:   "resolve TURN --key KEY --verdict VERDICT",
		Short: "Say what became of a call whose outcome is unknown",
		Long: `Says what became of a call whose outcome is unknown, once you have looked:

  happened         it took effect; --value is what the model is told of it
  did_not_happen   it did not; the model may ask for it again, under the same key
  cannot_tell      it stays unknown

Only calls of tools that ask a person wait for this: see docs/approvals.md.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if r.Verdict, err = verdictOf(verdict); err != nil {
				return err
			}
			if r.Key == "" {
				return usageError{errors.New("--key is empty: want the key that starter pending shows")}
			}
			if r.By, err = person(r.By); err != nil {
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
			defer a.hintSlow(cmd.Context())()
			reply, err := s.turns.Resolve(cmd.Context(), args[0], r)
			if err != nil {
				return err
			}
			if a.json() {
				return a.print(reply)
			}
			fmt.Fprintf(a.out, "%s: call %.12s settled as %s by %s\n", args[0], reply.Key, reply.Verdict, reply.By)
			return nil
		},
	}
	cmd.Flags().StringVar(&r.Key, "key", "", "idempotency key of the call (required)")
	cmd.Flags().StringVar(&verdict, "verdict", "", "happened, did_not_happen or cannot_tell (required)")
	cmd.Flags().StringVar(&r.Value, "value", "", "what happened, as the model shall read it")
	cmd.Flags().StringVar(&r.Comment, "comment", "", "how you know; recorded")
	byFlag(cmd, &r.By)
	for _, name := range []string{"key", "verdict"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined above
		}
	}
	return cmd
}

func verdictOf(word string) (contract.Verdict, error) {
	switch v := contract.Verdict(word); v {
	case contract.VerdictHappened, contract.VerdictDidNotHappen, contract.VerdictCannotTell:
		return v, nil
	default:
		return "", usageError{fmt.Errorf("--verdict %q: want %s, %s or %s", word,
			contract.VerdictHappened, contract.VerdictDidNotHappen, contract.VerdictCannotTell)}
	}
}

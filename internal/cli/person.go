package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/contract"
)

// envUser names who decides, where no flag does.
const envUser = "TURNKEEL_USER"

// byFlag adds the flag that says who decides. The name is recorded as claimed:
// who may send updates at all is the server's affair.
func byFlag(cmd *cobra.Command, by *string) {
	cmd.Flags().StringVar(by, "by", "", "who decides, recorded as claimed (default: environment "+envUser+", else USER)")
}

// person is who decides.
func person(by string) (string, error) {
	for _, name := range []string{by, os.Getenv(envUser), os.Getenv("USER")} {
		if name != "" {
			return name, nil
		}
	}
	return "", usageError{errors.New("who decides? say it with --by or the environment variable " + envUser)}
}

// confirm asks on the terminal; --yes answers beforehand. Anything but y or
// yes is a no.
func (a *app) confirm(ctx context.Context, question string, yes bool) error {
	if yes {
		return nil
	}
	var answer entry
	select {
	case answer = <-newLines(a.in, a.errOut).ask(prompt{text: question + " [y/N] "}):
	case <-ctx.Done():
		fmt.Fprintln(a.errOut)
		return ctx.Err()
	}
	switch strings.ToLower(strings.TrimSpace(answer.text)) {
	case "y", "yes":
		return nil
	}
	return errors.New("not confirmed: nothing was decided (--yes confirms beforehand)")
}

// printPending shows a question: exactly what will run.
func printPending(w io.Writer, turn, agent string, p contract.Pending) {
	kind := "approval"
	if p.Kind == contract.PendingUnknown {
		kind = "outcome unknown"
	}
	fmt.Fprintf(w, "%s · call %d · %s\n", turn, p.Ordinal, kind)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-10s %s\n", name, strings.ReplaceAll(plain(value), "\n", "\n             "))
		}
	}
	line("tool", p.Tool)
	line("arguments", visible(p.Args))
	line("effects", string(p.Effects)+", class "+string(p.Class))
	line("reason", p.Reason)
	line("rule", p.Rule)
	line("approvers", strings.Join(p.Approvers, ", "))
	line("asked", p.Asked.Local().Format(time.DateTime)+" by agent "+agent)
	if p.Expires != nil {
		line("expires", p.Expires.Local().Format(time.DateTime))
	}
	line("key", p.Key)
	line("digest", p.Digest)
}

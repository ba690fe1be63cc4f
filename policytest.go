package turnkeel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/internal/agentfile"
	"github.com/turnkeel/turnkeel/internal/policy"
)

// policyCommand is the starter's command of the same name with the tools of
// this worker.
func policyCommand(o *Options) *cobra.Command {
	parent := &cobra.Command{Use: "policy", Short: "Work on an agent's policy", Args: cobra.NoArgs}
	var cases string
	output := outputText
	test := &cobra.Command{
		Use: "test AGENT", Short: "Run a table of cases against an agent's policy, without a server", Args: cobra.ExactArgs(1),
		Long: `Runs a table of cases against an agent's policy: which calls it allows, denies
or has approved, and by which rule. Needs no Temporal server. How cases are
written stands in docs/policy.md. The worker's tools check the arguments of a
case as they do in a turn; the MCP servers that agents name are started for it.

The exit code is 1 when a case fails or something is wrong, 3 when the agent or
the file is not there.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return testPolicy(cmd.Context(), cmd.OutOrStdout(), *o, args[0], cases, output == outputJSON)
		},
	}
	outputFlag(test, &output)
	test.Flags().StringVar(&cases, "cases", "", "file of cases (default: "+agentfile.PolicyCasesName+" beside the agent.yaml)")
	parent.AddCommand(test)
	return parent
}

func testPolicy(ctx context.Context, out io.Writer, o Options, name, cases string, asJSON bool) error {
	host, err := Open(ctx, o) // every problem of agents and tools
	if err != nil {
		return err
	}
	defer host.Close() //nolint:errcheck // what it ran is over
	set := host.set
	for _, d := range host.definitions {
		if d.Agent.Name != name {
			continue
		}
		results, err := d.TestPolicy(cases, func(tool string) (agentfile.ToolFacts, bool) {
			t, ok := set.Lookup(tool)
			if !ok {
				return agentfile.ToolFacts{}, false
			}
			return agentfile.ToolFacts{Effects: t.Effects(), Check: func(raw string) (string, string) {
				checked := t.Check(raw)
				return checked.Canonical, checked.Problem
			}}, true
		})
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return notFoundError{fmt.Errorf("%w; write some, or name their file with --cases", err)}
		case err != nil:
			return err
		case asJSON:
			err = writeLines(out, results)
		default:
			err = policy.WriteTable(out, results)
		}
		if err != nil {
			return err
		}
		if n := policy.Failed(results); n > 0 {
			return fmt.Errorf("%d of %d cases failed", n, len(results))
		}
		return nil
	}
	return notFoundError{fmt.Errorf("%s has no agent %q", o.withDefaults().AgentsDir, name)}
}

// writeLines writes each result as a line of JSON.
func writeLines(out io.Writer, results []policy.Result) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, r := range results {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

package turnkeel

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/internal/agentfile"
	"github.com/turnkeel/turnkeel/internal/policy"
)

// policyCommand is the starter's command of the same name with the tools of
// this worker.
func policyCommand(o *Options) *cobra.Command {
	parent := &cobra.Command{Use: "policy", Short: "Work on an agent's policy", Args: cobra.NoArgs}
	var cases string
	test := &cobra.Command{
		Use: "test AGENT", Short: "Run a table of cases against an agent's policy, without a server", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return testPolicy(cmd.Context(), cmd.OutOrStdout(), *o, args[0], cases)
		},
	}
	test.Flags().StringVar(&cases, "cases", "", "file of cases (default: "+agentfile.PolicyCasesName+" beside the agent.yaml)")
	parent.AddCommand(test)
	return parent
}

func testPolicy(ctx context.Context, out io.Writer, o Options, name, cases string) error {
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
		if err != nil {
			return err
		}
		if err := policy.WriteTable(out, results); err != nil {
			return err
		}
		if n := policy.Failed(results); n > 0 {
			return fmt.Errorf("%d of %d cases failed", n, len(results))
		}
		return nil
	}
	return fmt.Errorf("%s has no agent %q", o.withDefaults().AgentsDir, name)
}

package turnkeel

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/internal/agentfile"
	"github.com/turnkeel/turnkeel/internal/policy"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// policyCommand is the starter's command of the same name with the tools of
// this worker.
func policyCommand(o *Options) *cobra.Command {
	parent := &cobra.Command{Use: "policy", Short: "Work on an agent's policy", Args: cobra.NoArgs}
	var cases string
	test := &cobra.Command{
		Use: "test AGENT", Short: "Run a table of cases against an agent's policy, without a server", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return testPolicy(cmd.OutOrStdout(), o.withDefaults(), args[0], cases)
		},
	}
	test.Flags().StringVar(&cases, "cases", "", "file of cases (default: "+agentfile.PolicyCasesName+" beside the agent.yaml)")
	parent.AddCommand(test)
	return parent
}

func testPolicy(out io.Writer, o Options, name, cases string) error {
	if _, err := newActivities(o); err != nil { // every problem of agents and tools
		return err
	}
	set, err := tooldefs.NewSet(o.Tools...)
	if err != nil {
		return err
	}
	definitions, err := agentfile.Load(o.AgentsDir)
	if err != nil {
		return err
	}
	for _, d := range definitions {
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
	return fmt.Errorf("%s has no agent %q", o.AgentsDir, name)
}

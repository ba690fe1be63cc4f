package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/examples/support"
	"github.com/turnkeel/turnkeel/internal/agentfile"
	"github.com/turnkeel/turnkeel/internal/policy"
	"github.com/turnkeel/turnkeel/tooldefs"
	"github.com/turnkeel/turnkeel/tools"
)

func (a *app) policyCommand() *cobra.Command {
	parent := &cobra.Command{
		Use:   "policy",
		Short: "Work on an agent's policy",
		Args:  cobra.NoArgs,
	}
	var agents, cases string
	test := &cobra.Command{
		Use:   "test AGENT",
		Short: "Run a table of cases against an agent's policy",
		Long: `Runs a table of cases against an agent's policy: which calls it allows, denies
or has approved, and by which rule. Needs no server. How cases are written
stands in docs/policy.md.

The stock tools check the arguments of a case as they do in a turn; for tools
of your own, run the same command of your worker.`,
		Example: "  starter policy test support",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			results, err := testPolicy(agents, args[0], cases)
			if err != nil {
				return err
			}
			return a.printPolicyTest(results)
		},
	}
	test.Flags().StringVar(&agents, "agents", turnkeel.DefaultAgentsDir, "folder with one folder per agent")
	test.Flags().StringVar(&cases, "cases", "", "file of cases (default: "+agentfile.PolicyCasesName+" beside the agent.yaml)")
	parent.AddCommand(test)
	return parent
}

func testPolicy(dir, name, cases string) ([]policy.Result, error) {
	definitions, err := agentfile.Load(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(definitions))
	for i, d := range definitions {
		names[i] = d.Agent.Name
	}
	i := slices.Index(names, name)
	if i < 0 {
		return nil, notFoundError{fmt.Errorf("%s has no agent %q; it has: %s", dir, name, strings.Join(names, ", "))}
	}
	results, err := definitions[i].TestPolicy(cases, stockTool)
	if errors.Is(err, os.ErrNotExist) {
		return nil, notFoundError{fmt.Errorf("%w; write some, or name their file with --cases", err)}
	}
	return results, err
}

// stockTool gives what a case needs of the stock worker's tools, the built-in
// ones included.
func stockTool(name string) (agentfile.ToolFacts, bool) {
	stock := support.Tools(os.DevNull)
	for _, b := range tools.All() {
		made, err := b.New(tooldefs.BuiltinDeps{Logger: slog.New(slog.DiscardHandler), OnClose: func(func() error) {}})
		if err == nil { // else "check" tells
			stock = append(stock, made...)
		}
	}
	for _, t := range stock {
		if t.Name() == name {
			return agentfile.ToolFacts{Effects: t.Effects(), Check: func(raw string) (string, string) {
				checked := t.Check(raw)
				return checked.Canonical, checked.Problem
			}}, true
		}
	}
	return agentfile.ToolFacts{}, false
}

func (a *app) printPolicyTest(results []policy.Result) error {
	if a.json() {
		for _, r := range results {
			if err := a.print(r); err != nil {
				return err
			}
		}
	} else if err := policy.WriteTable(a.out, results); err != nil {
		return err
	}
	if n := policy.Failed(results); n > 0 {
		return fmt.Errorf("%d of %d cases failed", n, len(results))
	}
	return nil
}

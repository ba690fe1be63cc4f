package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/examples/support"
	"github.com/turnkeel/turnkeel/tools"
)

// stockOptions are what the stock worker serves, for commands that need no
// Temporal server.
func stockOptions(agents string) turnkeel.Options {
	return turnkeel.Options{Tools: support.Tools(os.DevNull), Builtins: tools.All(), AgentsDir: agents}
}

func (a *app) checkCommand() *cobra.Command {
	var agents string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the agents and tools, without a Temporal server",
		Long: `Checks all agents, tools, variables and policies as the start of a worker would,
without a Temporal server, and prints what each agent would show its model. The
MCP servers that agents name are started for it, and stopped again. Every
problem is told at once, with its file and line; then the exit code is 1.

It knows the stock tools; for tools of your own, run the same command of your
worker.`,
		Example: "  starter check\n  starter check -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return turnkeel.Check(cmd.Context(), a.out, stockOptions(agents), a.json())
		},
	}
	agentsFlag(cmd, &agents)
	return cmd
}

func (a *app) toolsCommand() *cobra.Command {
	var agents string
	cmd := &cobra.Command{
		Use:   "tools [AGENT]",
		Short: "Print what the model of each agent would see",
		Long: `Prints the tools of each agent, or of one, as its model would see them: name,
description and the JSON Schema of the arguments; beside them class, effects and
where they come from. Needs no Temporal server.

It knows the stock tools; for tools of your own, run the same command of your
worker.`,
		Example: "  starter tools support\n  starter tools -o json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := turnkeel.PrintTools(cmd.Context(), a.out, stockOptions(agents), strings.Join(args, ""), a.json())
			if errors.Is(err, fs.ErrNotExist) {
				return notFoundError{err}
			}
			return err
		},
	}
	agentsFlag(cmd, &agents)
	return cmd
}

func agentsFlag(cmd *cobra.Command, agents *string) {
	cmd.Flags().StringVar(agents, "agents", turnkeel.DefaultAgentsDir, "folder with one folder per agent")
}

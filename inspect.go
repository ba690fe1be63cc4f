package turnkeel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// Check does what the command check of [Main] does, for a command line of your
// own: it opens a host of o, which starts the MCP servers that agents name,
// writes what each agent would show its model, or as JSON also what is wrong,
// and closes it. The error is every problem at once.
func Check(ctx context.Context, out io.Writer, o Options, asJSON bool) error {
	host, err := Open(ctx, o)
	if err != nil {
		return tellProblems(out, err, asJSON)
	}
	d := host.Describe()
	if asJSON {
		err = writeJSON(out, d)
	} else {
		err = writeCheck(out, d)
	}
	return firstError(err, host.Close())
}

// PrintTools does what the command tools of [Main] does: it writes what the
// model of each agent is shown, or of one agent when a name is given; one that
// is not there is an [fs.ErrNotExist]. Where there is no folder of agents yet, it
// writes the tools of the worker.
func PrintTools(ctx context.Context, out io.Writer, o Options, agent string, asJSON bool) error {
	if o = o.withDefaults(); agent == "" && len(o.Agents) == 0 {
		if _, err := os.Stat(o.AgentsDir); errors.Is(err, fs.ErrNotExist) {
			return printOwnTools(out, o.Tools, asJSON)
		}
	}
	host, err := Open(ctx, o)
	if err != nil {
		return tellProblems(out, err, asJSON)
	}
	agents, err := host.Describe().named(agent)
	switch {
	case err != nil:
	case asJSON:
		err = writeJSON(out, map[string]any{"agents": agents})
	default:
		err = writeTools(out, agents)
	}
	return firstError(err, host.Close())
}

// tellProblems gives back why nothing could be opened, which JSON output has too,
// unless it was only interrupted.
func tellProblems(out io.Writer, problems error, asJSON bool) error {
	if asJSON && !errors.Is(problems, context.Canceled) {
		if err := writeJSON(out, Description{Agents: []AgentDescription{}, Problems: problemsOf(problems)}); err != nil {
			return err
		}
	}
	return problems
}

// printOwnTools writes tools that no agent names yet.
func printOwnTools(out io.Writer, tools []*tooldefs.Tool, asJSON bool) error {
	h := Host{}
	shown := []ToolDescription{}
	for _, t := range tools {
		shown = append(shown, h.describe(t))
	}
	if asJSON {
		return writeJSON(out, map[string]any{"agents": []AgentDescription{}, "tools": shown})
	}
	var b strings.Builder
	b.WriteString("no agents yet; the worker has:\n")
	for _, t := range shown {
		writeTool(&b, t)
	}
	_, err := io.WriteString(out, printable(b.String()))
	return err
}

// notFoundError is an agent or a file that was named and is not there. It is an
// [fs.ErrNotExist].
type notFoundError struct{ error }

// Is says that it is the error of a thing that is not there.
func (notFoundError) Is(target error) bool { return target == fs.ErrNotExist }

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// named is the agent of that name, or all for none.
func (d Description) named(agent string) ([]AgentDescription, error) {
	if agent == "" {
		return d.Agents, nil
	}
	var names []string
	for _, a := range d.Agents {
		if a.Name == agent {
			return []AgentDescription{a}, nil
		}
		names = append(names, a.Name)
	}
	return nil, notFoundError{fmt.Errorf("there is no agent %q; there are: %s", agent, strings.Join(names, ", "))}
}

func writeJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func writeCheck(out io.Writer, d Description) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, a := range d.Agents {
		var names []string
		for _, t := range a.Tools {
			names = append(names, t.Name)
		}
		fmt.Fprintf(w, "agent %s: model %s, tools %v\n", a.Name, a.Model, names)
		for _, t := range a.Tools {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", t.Name, t.Class, t.Effects, t.Origin, firstLine(t.Description))
		}
		if len(a.Env) > 0 {
			fmt.Fprintf(w, "  variables: %s\n", strings.Join(a.Env, ", "))
		}
	}
	for _, warning := range d.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	_ = w.Flush() // to memory
	_, err := io.WriteString(out, printable(b.String()))
	return err
}

func writeTools(out io.Writer, agents []AgentDescription) error {
	var b strings.Builder
	for _, a := range agents {
		fmt.Fprintf(&b, "agent %s shows %s:\n", a.Name, a.Model)
		for _, t := range a.Tools {
			writeTool(&b, t)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(out, printable(b.String()))
	return err
}

func writeTool(b *strings.Builder, t ToolDescription) {
	fmt.Fprintf(b, "\n%s (%s, %s; %s)\n", t.Name, t.Class, t.Effects, t.Origin)
	for line := range strings.Lines(t.Description) {
		fmt.Fprintf(b, "  %s\n", strings.TrimRight(line, "\n"))
	}
	fmt.Fprintf(b, "  arguments: %s\n", t.Parameters)
}

// firstLine is what a list has room for.
func firstLine(s string) string {
	const most = 60
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if utf8.RuneCountInString(line) > most {
		return string([]rune(line)[:most]) + "…"
	}
	if more {
		return line + " …"
	}
	return line
}

// printable drops control characters: what an MCP server says must not steer the
// terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

func checkCommand(o *Options) *cobra.Command {
	output := outputText
	cmd := &cobra.Command{
		Use: "check", Short: "Check the agents and tools, without a Temporal server", Args: cobra.NoArgs,
		Long: `Checks all agents, tools, variables and policies as a start would, without a
Temporal server, and prints what each agent would show its model. The MCP
servers that agents name are started for it, and stopped again. Every problem
is told at once, with its file and line; then the exit code is 1.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return Check(cmd.Context(), cmd.OutOrStdout(), *o, output == outputJSON)
		},
	}
	outputFlag(cmd, &output)
	return cmd
}

func toolsCommand(o *Options) *cobra.Command {
	output := outputText
	cmd := &cobra.Command{
		Use: "tools [AGENT]", Short: "Print what the model of each agent would see", Args: cobra.MaximumNArgs(1),
		Long: `Prints the tools of each agent, or of one, as its model would see them: name,
description and the JSON Schema of the arguments; beside them class, effects and
where they come from. Needs no Temporal server. The MCP servers that agents name
are started for it, and stopped again.

The exit code is 1 when something is wrong, 3 when there is no such agent.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return PrintTools(cmd.Context(), cmd.OutOrStdout(), *o, strings.Join(args, ""), output == outputJSON)
		},
	}
	outputFlag(cmd, &output)
	return cmd
}

// outputFormat is the value of --output; a wrong one is wrong usage.
type outputFormat string

const (
	outputText outputFormat = "text"
	outputJSON outputFormat = "json"
)

// String is the value.
func (f *outputFormat) String() string { return string(*f) }

// Type is what the help calls it.
func (f *outputFormat) Type() string { return "format" }

// Set takes a value in.
func (f *outputFormat) Set(value string) error {
	if v := outputFormat(value); v == outputText || v == outputJSON {
		*f = v
		return nil
	}
	return errors.New("want text or json")
}

func outputFlag(cmd *cobra.Command, output *outputFormat) {
	cmd.Flags().VarP(output, "output", "o", "text, or json (JSON only on standard output)")
}

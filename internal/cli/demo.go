package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/examples/support"
	"github.com/turnkeel/turnkeel/internal/devproc"
)

func (a *app) demoCommand() *cobra.Command {
	var f stackFlags
	var agent string
	var keep, noCrash bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show a whole agent turn: Temporal server, Web UI, worker, model",
		Long: `Shows one agent turn as it happens, on a Temporal server that it brings up
itself: the model is called, two lookups run in parallel, one refund is made,
and the model answers. In the middle of the refund, when the money is paid and
nobody has been told, the worker is killed with SIGKILL: another takes over, the
turn goes on, and the ledger has one line. With --agents it shows an agent of
yours: its folder has a demo.yaml with the message and what a scripted model says.

Without OPENAI_API_KEY and OPENAI_BASE_URL a script plays the model; with one
of them the same turn runs on the real model. With TEMPORAL_ADDRESS set the
turn runs on that server instead.

The data stays in .turnkeel, so "starter dev" shows the turn again later.`,
		Example: "  starter demo\n  starter demo --agents examples/nocode",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.workerDies = !noCrash
			return a.demo(cmd, f, agent, keep)
		},
	}
	stackFlagsOf(cmd, &f)
	cmd.Flags().StringVar(&agent, "agent", "", "name of the agent to show (default: the folder's only one, or "+support.AgentName+")")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep server and worker up until Ctrl-C")
	cmd.Flags().BoolVar(&noCrash, "no-crash", false, "let the worker live")
	return cmd
}

func stackFlagsOf(cmd *cobra.Command, f *stackFlags) {
	cmd.Flags().IntVar(&f.port, "port", devproc.Default, "port of the Temporal server; 0: free ones, -1: that of temporal-dev.yaml")
	cmd.Flags().IntVar(&f.uiPort, "ui-port", devproc.Default, "port of the Web UI; 0: a free one, -1: the default")
	cmd.Flags().StringVar(&f.agents, "agents", turnkeel.DefaultAgentsDir, "folder with one folder per agent")
}

// checkPorts refuses numbers that are no ports.
func (f stackFlags) checkPorts() error {
	const most = 65535
	if f.port < devproc.Default || f.port > most {
		return usageError{fmt.Errorf("--port %d: want 1 to %d, 0 for free ones, or -1", f.port, most)}
	}
	if f.uiPort < devproc.Default || f.uiPort > most {
		return usageError{fmt.Errorf("--ui-port %d: want 1 to %d, 0 for a free one, or -1", f.uiPort, most)}
	}
	return nil
}

func (a *app) demo(cmd *cobra.Command, f stackFlags, agent string, keep bool) error {
	if err := f.checkPorts(); err != nil {
		return err
	}
	if _, err := os.Stat(f.agents); err != nil {
		return noAgents(f.agents)
	}
	show, err := findExample(f.agents, agent)
	if err != nil {
		return err
	}
	f.script, f.servers, f.plays = show.script, show.servers, show.plays
	id := "demo-" + strings.ToLower(rand.Text()[:10])
	f.queue = id // of its own, so that no other worker takes the turn
	f.ledger = filepath.Join(stateDir, "demo", id+".ledger.jsonl")
	if f.port == 0 {
		f.uiPort = 0
	}
	table, err := loadPrices()
	if err != nil {
		return err
	}
	s, err := a.up(cmd.Context(), f)
	if err != nil {
		return err
	}
	defer s.close()
	ctx, stop := s.watch(cmd.Context(), func() {
		a.say("%s  ****   the worker is killed: the refund is paid, and nobody has been told. Another worker starts.", time.Now().Format(time.TimeOnly))
	})
	defer stop()
	turn, err := s.turns.Start(ctx, turnkeel.TurnRequest{TurnID: id, Input: contract.TurnInput{
		Agent:    show.agent,
		Messages: []contract.Message{{Role: contract.RoleUser, Content: show.message}},
	}})
	if err != nil {
		return reasonOf(ctx, err)
	}
	a.say("Turn: %s\nWeb UI: %s\n\n          user: %s", turn.ID, s.link(turn.ID, turn.RunID), show.message)
	p := a.printer(turn.ID)
	err = follow(ctx, turn, func(e turnkeel.Event) error { p.event(e); return nil })
	if err != nil {
		s.abandon(turn.ID, turn.RunID)
		return reasonOf(ctx, err)
	}
	run, err := read(ctx, s.temporal, turn.ID, "")
	if err != nil {
		return err
	}
	report := s.report(run, turn.ID, turn.RunID, table)
	if err := a.tellDemo(report, f); err != nil {
		return err
	}
	if keep {
		a.say("\nServer and worker stay up; Ctrl-C stops them.")
		<-cmd.Context().Done()
	}
	return ended(report)
}

func (a *app) tellDemo(report turnReport, f stackFlags) error {
	if a.json() {
		return a.print(report)
	}
	fmt.Fprintln(a.out)
	printEffects(a.out, report.Effects)
	lines, err := os.ReadFile(f.ledger)
	if err == nil {
		fmt.Fprintf(a.out, "\nThe refund's ledger (%s) has %d line:\n%s", f.ledger, strings.Count(string(lines), "\n"), lines)
	}
	fmt.Fprintf(a.out, "\nThis turn in the Temporal Web UI: %s\n", report.WebUI)
	if os.Getenv(envTemporalAddress) == "" {
		fmt.Fprintln(a.out, "The server stops with this command; `go run ./starter dev` brings it back, with this turn in it.")
	}
	return nil
}

// abandon ends a turn that nobody will serve any more: the demo's queue is its
// own.
func (s *stack) abandon(turnID, runID string) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	_ = s.temporal.TerminateWorkflow(ctx, turnID, runID, "the demo ended before its turn")
}

package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/contract"
)

func (a *app) devCommand() *cobra.Command {
	var f stackFlags
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Bring up a Temporal server and a worker, and keep them up",
		Long: `Brings up a Temporal server with its Web UI and a worker with the example
agent, or with those of --agents, and keeps them up until Ctrl-C. Start turns in
a second terminal:

  starter run --agent support "Refund order A-1001, please."

Without OPENAI_API_KEY and OPENAI_BASE_URL an agent's demo.yaml plays its model;
turns of an agent without one fail until a variable is set.`,
		Example: "  starter dev\n  starter dev --agents examples/nocode",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.checkPorts(); err != nil {
				return err
			}
			f.queue = contract.DefaultTaskQueue
			f.ledger = filepath.Join(stateDir, "ledger.jsonl")
			f.workerLog = a.errOut
			if f.port == 0 {
				f.uiPort = 0
			}
			var err error
			if f.cast, err = castOf(f.agents); err != nil {
				return err
			}
			s, err := a.up(cmd.Context(), f)
			if err != nil {
				return err
			}
			defer s.close()
			if a.json() {
				if err := a.print(map[string]string{"address": s.info.Address, "namespace": s.info.Namespace, "web_ui": s.webUI}); err != nil {
					return err
				}
			}
			env := ""
			if s.info.Address != "127.0.0.1:7233" {
				env = "TEMPORAL_ADDRESS=" + s.info.Address + " TURNKEEL_WEB_UI=" + s.webUI + " "
			}
			a.say("Ready. In a second terminal: %sgo run ./starter run --agent %s %q\nCtrl-C stops server and worker.", env, f.cast.first, f.cast.says)
			ctx, stop := s.watch(cmd.Context(), func() {})
			defer stop()
			<-ctx.Done()
			return reasonOf(ctx, ctx.Err())
		},
	}
	stackFlagsOf(cmd, &f)
	return cmd
}

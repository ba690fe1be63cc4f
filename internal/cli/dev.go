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
agent, and keeps them up until Ctrl-C. Start turns in a second terminal:

  starter run --agent support "Refund order A-1001, please."`,
		Args: cobra.NoArgs,
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
			if f.script, err = devScript(f.agents); err != nil {
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
			a.say("Ready. In a second terminal: %sgo run ./starter run --agent support \"Refund order A-1001, please.\"\nCtrl-C stops server and worker.", env)
			ctx, stop := s.watch(cmd.Context(), func() {})
			defer stop()
			<-ctx.Done()
			return reasonOf(ctx, ctx.Err())
		},
	}
	stackFlagsOf(cmd, &f)
	return cmd
}

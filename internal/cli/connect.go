package cli

import (
	"context"
	"net"
	"net/url"

	sdkclient "go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/internal/agentfile"
	"github.com/turnkeel/turnkeel/internal/conn"
	"github.com/turnkeel/turnkeel/internal/logging"
	"github.com/turnkeel/turnkeel/tools"
)

// session is a connection with what links need.
type session struct {
	temporal sdkclient.Client
	turns    *turnkeel.Client
	info     conn.Info
	webUI    string
}

// connect dials the server that the environment names, or address if set.
func (a *app) connect(ctx context.Context, address, queue string) (*session, error) {
	quiet := logging.Temporal(logging.New(a.errOut, zap.ErrorLevel))
	client, info, err := conn.Dial(ctx, conn.Overrides{Address: address}, quiet)
	if err != nil {
		return nil, err
	}
	return &session{
		temporal: client,
		turns:    turnkeel.NewClient(client, turnkeel.ClientOptions{Namespace: info.Namespace, TaskQueue: queue, Secrets: declaredHere()}),
		info:     info,
		webUI:    webUIOf(a.webUI, info.Address),
	}, nil
}

// declaredHere are the environment variables that the agents of this folder
// declare, those of their built-in tools included, if it has agents: their values
// must not be sent. A mistake in one file is the worker's affair, and takes no
// other's variables away.
func declaredHere() []string {
	definitions, _ := agentfile.Read(turnkeel.DefaultAgentsDir)
	var names []string
	for _, d := range definitions {
		d, _ = d.Grant(stockBuiltins(), nil)
		names = append(names, d.Env.Variables()...)
		if key := d.Agent.Endpoint.APIKeyEnv; key != "" {
			names = append(names, key)
		}
	}
	return names
}

// stockBuiltins are what the stock worker offers in builtin_tools.
func stockBuiltins() []agentfile.Builtin {
	var offered []agentfile.Builtin
	for _, b := range tools.All() {
		offered = append(offered, agentfile.Builtin{Name: b.Name, Env: b.Env, OptionalEnv: b.OptionalEnv, FromFile: b.FromFile})
	}
	return offered
}

// webUIOf guesses the Web UI beside the server, as every Temporal development
// server has it, unless the user says where it is.
func webUIOf(given, address string) string {
	if given != "" {
		return given
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, "8233")
}

// link is the address of a turn in the Web UI.
func (s *session) link(workflowID, runID string) string {
	u := s.webUI + "/namespaces/" + url.PathEscape(s.info.Namespace) + "/workflows/" + url.PathEscape(workflowID)
	if runID != "" {
		u += "/" + url.PathEscape(runID) + "/history"
	}
	return u
}

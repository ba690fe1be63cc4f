package turnkeel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/turnkeel/turnkeel/internal/agentfile"
	"github.com/turnkeel/turnkeel/internal/logging"
	"github.com/turnkeel/turnkeel/mcptools"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// serverOf is an MCP server of an agent.
type serverOf struct{ agent, server string }

// wanted is one MCP server, for all agents that declare the very same.
type wanted struct {
	config mcptools.Server
	users  []serverOf

	connection *mcptools.Connection
	err        error
}

// startsAtOnce bounds how many servers start side by side. Each has its
// start_timeout, which a hundred on a few processors would all miss.
const startsAtOnce = 16

// openServers starts the MCP servers of the agents, side by side, and takes
// their tools in. Agents that declare the same server, with the same values of
// its variables, share it.
func (a *assembly) openServers(ctx context.Context) {
	a.servers, a.down = map[serverOf][]string{}, map[serverOf]bool{}
	servers := a.wantedServers()
	var starting sync.WaitGroup
	room := make(chan struct{}, startsAtOnce)
	for _, w := range servers {
		room <- struct{}{}
		starting.Go(func() {
			defer func() { <-room }()
			if w.err = ctx.Err(); w.err == nil {
				w.connection, w.err = mcptools.Connect(ctx, w.config)
			}
		})
	}
	starting.Wait()
	a.host.closers = append(a.host.closers, func() error { return closeServers(servers) })
	for _, w := range servers {
		a.takeServer(w)
	}
}

// closeServers ends them side by side: a stubborn one takes seconds.
func closeServers(servers []*wanted) error {
	errs := make([]error, len(servers))
	var closing sync.WaitGroup
	for i, w := range servers {
		if w.err == nil {
			closing.Go(func() { errs[i] = w.connection.Close() })
		}
	}
	closing.Wait()
	return errors.Join(errs...)
}

// wantedServers are the distinct servers, in the order of the files.
func (a *assembly) wantedServers() []*wanted {
	var servers []*wanted
	known := map[string]*wanted{}
	for _, d := range a.host.definitions {
		for _, s := range d.MCP {
			config := a.serverConfig(d, s)
			id := identity(config)
			w, shared := known[id]
			if !shared {
				w = &wanted{config: config}
				known[id] = w
				servers = append(servers, w)
			}
			w.users = append(w.users, serverOf{d.Agent.Name, s.Name})
		}
	}
	return servers
}

// identity is equal for servers that are the same in all but their name.
func identity(s mcptools.Server) string {
	o := s.Options
	data, err := json.Marshal([]any{
		s.Command, s.Env, s.Dir, s.URL, s.Header, s.StartTimeout, o.Prefix, o.ToolOptions, o.Tools, o.TrustHints, o.KeepNulls, o.Allow, o.Allow == nil,
	})
	if err != nil {
		panic("turnkeel: a server's configuration cannot be written: " + err.Error())
	}
	return string(data)
}

// serverConfig fills the declared variables in.
func (a *assembly) serverConfig(d agentfile.Definition, s agentfile.MCPServer) mcptools.Server {
	config := mcptools.Server{
		Options: mcptools.Options{
			Server: s.Name, Prefix: s.Prefix, ToolOptions: toolOptions(s.MCPTool), Tools: map[string]mcptools.ToolOptions{},
			TrustHints: s.TrustHints, KeepNulls: s.KeepNulls, Allow: s.Allow,
		},
		Command: s.Command, URL: s.URL, Header: http.Header{}, StartTimeout: s.StartTimeout,
		Secrets: map[string]string{}, Logger: logging.Slog(a.options.Logger),
	}
	if len(s.Command) > 0 { // paths of the file start where the file is
		config.Dir = s.Dir
		if !filepath.IsAbs(s.Dir) {
			config.Dir = filepath.Join(filepath.Dir(d.File), s.Dir)
		}
	}
	for name, t := range s.Tools {
		config.Tools[name] = toolOptions(t)
	}
	for _, name := range s.Variables() {
		config.Secrets[name], _ = d.Env.Lookup(name, os.LookupEnv)
	}
	for name, variable := range s.Env {
		config.Env = append(config.Env, name+"="+config.Secrets[variable])
	}
	slices.Sort(config.Env)
	for name, variable := range s.HeadersEnv {
		config.Header.Set(name, config.Secrets[variable])
	}
	return config
}

func toolOptions(t agentfile.MCPTool) mcptools.ToolOptions {
	return mcptools.ToolOptions{Class: t.Class, Effects: t.Effects, Timeout: t.Timeout, ParallelSafe: t.ParallelSafe}
}

// takeServer takes a server's tools in, once, for all that declare it.
func (a *assembly) takeServer(w *wanted) {
	for i, user := range w.users {
		d := a.definitionOf(user.agent)
		if before := slices.IndexFunc(w.users[:i], func(u serverOf) bool { return u.agent == user.agent }); before >= 0 {
			a.report(d.MCPProblem(user.server, "is the very same server as %s: remove one of them, or give it a prefix of its own", w.users[before].server))
			continue
		}
		if w.err != nil {
			a.report(d.MCPProblem(user.server, "%s", w.err))
			a.down[user] = true
			continue
		}
		a.report(d.CheckMCP(user.server, w.connection.Names()))
		for _, tool := range w.connection.Tools() {
			if i == 0 {
				if err := a.add(tool, "MCP server "+user.server+" of agent "+user.agent); err != nil {
					a.report(d.MCPProblem(user.server, "%v; give the server a prefix of its own", err))
				}
			}
			a.servers[user] = append(a.servers[user], tool.Name())
		}
		if i == 0 {
			a.noteDisabled(user, w.connection)
		}
	}
}

func (a *assembly) noteDisabled(user serverOf, c *mcptools.Connection) {
	for _, tool := range c.Disabled() {
		a.host.warnings = append(a.host.warnings,
			fmt.Sprintf("agent %s: the tool %q of the MCP server %s cannot be used: %s", user.agent, tool.Name, user.server, tool.Reason))
	}
}

func (a *assembly) definitionOf(agent string) agentfile.Definition {
	i := slices.IndexFunc(a.host.definitions, func(d agentfile.Definition) bool { return d.Agent.Name == agent })
	return a.host.definitions[i]
}

// envOf are the variables that a tool of the worker's own may ask for.
func (a *assembly) envOf(tool string) []string {
	i := slices.IndexFunc(a.options.Tools, func(t *tooldefs.Tool) bool { return t != nil && t.Name() == tool })
	if i < 0 {
		return nil
	}
	return a.options.Tools[i].Env()
}

package turnkeel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/turnkeel/turnkeel/activities"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/agentfile"
	"github.com/turnkeel/turnkeel/internal/logging"
	"github.com/turnkeel/turnkeel/internal/wire/providers"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// assembly puts a host together. It gathers problems and goes on, so that all
// of them are told at once.
type assembly struct {
	options  Options
	host     *Host
	problems []error

	own      []string            // names of the worker's own tools
	tools    []*tooldefs.Tool    // all of them
	builtins map[string][]string // names of the tools of each built-in in use
	servers  map[serverOf][]string
	down     map[serverOf]bool // those that did not come up
}

func (a *assembly) report(err error) {
	if err != nil {
		a.problems = append(a.problems, err)
	}
}

// assemble reads, checks, starts and resolves. Servers are not started while
// something else is wrong.
func (a *assembly) assemble(ctx context.Context) error {
	o := a.options
	a.addOwn()
	if o.AgentsDir != "" {
		var err error
		a.host.definitions, err = agentfile.Read(o.AgentsDir)
		a.report(err)
	}
	a.grantBuiltins()
	a.report(agentfile.CheckEnv(a.host.definitions, os.LookupEnv))
	a.refuseRecordedSecrets()
	a.openBuiltins()
	broken := len(a.problems) > 0
	if !broken {
		a.openServers(ctx)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("the start was interrupted: %w", ctx.Err()) // no server is to blame
	}
	a.resolve(broken)
	if err := agentfile.Join(a.problems...); err != nil {
		return err
	}
	var err error
	if a.host.set, err = tooldefs.NewSet(a.tools...); err != nil {
		return err
	}
	a.host.acts, err = activities.New(activities.Options{
		Agents: a.host.agents, Tools: a.host.set, Logger: o.Logger, DataConverter: o.DataConverter, Blobs: o.Blobs,
		Scripted: a.scripts(), Getenv: os.Getenv, Env: a.host.env, Declared: a.host.variables(), Secrets: a.host.secrets,
	})
	if err == nil {
		a.host.warnings = append(a.host.warnings, a.host.acts.MissingKeys()...)
	}
	return err
}

// addOwn takes the worker's own tools in; a set finds two of one name.
func (a *assembly) addOwn() {
	set, err := tooldefs.NewSet(a.options.Tools...)
	if err != nil {
		a.report(err)
		return
	}
	a.own, a.tools = set.Names(), set.Tools()
}

// offered are the names of the built-in tools that an agent could ask for.
func (a *assembly) offered() []string {
	var names []string
	for _, b := range a.options.Builtins {
		names = append(names, b.Name)
	}
	return names
}

// grantBuiltins folds what built-in tools need into the agents that ask for
// them.
func (a *assembly) grantBuiltins() {
	var offered []agentfile.Builtin
	for _, b := range a.options.Builtins {
		offered = append(offered, agentfile.Builtin{Name: b.Name, Env: b.Env, OptionalEnv: b.OptionalEnv, FromFile: b.FromFile})
	}
	for i, d := range a.host.definitions {
		granted, err := d.Grant(offered, a.own)
		a.host.definitions[i] = granted
		a.report(err)
	}
}

// openBuiltins makes the tools of every built-in that an agent asks for.
func (a *assembly) openBuiltins() {
	a.builtins = map[string][]string{}
	deps := tooldefs.BuiltinDeps{
		Logger:  slog.New(a.host.allSecrets().Handler(logging.Slog(a.options.Logger).Handler())),
		OnClose: func(f func() error) { a.host.closers = append(a.host.closers, f) },
	}
	if a.options.Blobs != nil {
		deps.Blobs = a.options.Blobs
	}
	for _, b := range a.options.Builtins {
		asks := func(d agentfile.Definition) bool { return slices.Contains(d.Builtins, b.Name) }
		if !slices.ContainsFunc(a.host.definitions, asks) {
			continue
		}
		tools, err := b.New(deps)
		if err != nil {
			a.report(fmt.Errorf("built-in tool %s: %s", b.Name, a.host.allSecrets().Text(err.Error())))
			continue
		}
		for _, t := range tools {
			a.builtins[b.Name] = append(a.builtins[b.Name], t.Name())
			a.report(a.add(t, "built-in "+b.Name))
		}
	}
}

// add takes a tool in that is not the worker's own. What it says of a name that
// is taken names both.
func (a *assembly) add(t *tooldefs.Tool, origin string) error {
	for _, other := range a.tools {
		if other.Name() == t.Name() {
			return fmt.Errorf("two tools are named %q: that of %s, and that of %s", t.Name(), a.originOf(other), origin)
		}
	}
	a.tools = append(a.tools, t)
	a.host.origins[t.Name()] = origin
	return nil
}

func (a *assembly) originOf(t *tooldefs.Tool) string {
	if origin, ok := a.host.origins[t.Name()]; ok {
		return origin
	}
	return "the worker, defined at " + t.Origin()
}

// resolve gives every agent its tools.
func (a *assembly) resolve(partial bool) {
	for _, agent := range a.options.Agents {
		if slices.Contains(agent.Tools, agentfile.AllTools) {
			agent.Tools = a.own // not those that other agents brought along
		}
		a.host.agents = append(a.host.agents, agent)
	}
	for _, d := range a.host.definitions {
		offer := agentfile.Offer{Tools: a.own, Offered: a.offered(), Builtins: a.builtins, MCP: map[string][]string{}, Partial: partial}
		for _, s := range d.MCP {
			offer.MCP[s.Name] = a.servers[serverOf{d.Agent.Name, s.Name}]
			offer.Partial = offer.Partial || a.down[serverOf{d.Agent.Name, s.Name}]
		}
		agent, err := d.Resolve(offer)
		a.report(err)
		if err == nil {
			a.host.agents = append(a.host.agents, agent)
		}
		a.report(d.CheckToolEnv(a.own, a.envOf))
		a.report(d.CheckProvider(addressed()))
	}
	a.report(duplicateAgents(a.options.Agents, a.host.definitions))
	a.report(scriptedInCode(a.options.Agents))
}

// addressed are the providers that have an address of their own.
func addressed() []string {
	var names []string
	for _, p := range providers.All() {
		if p.BaseURL != "" {
			names = append(names, p.Name)
		}
	}
	return names
}

// duplicateAgents finds agents in code that have the name of one in a file.
func duplicateAgents(inCode []contract.Agent, definitions []agentfile.Definition) error {
	for _, d := range definitions {
		for _, agent := range inCode {
			if agent.Name == d.Agent.Name {
				return fmt.Errorf("%s: the name %q is taken by an agent in code; give one of them another name", d.File, agent.Name)
			}
		}
	}
	return nil
}

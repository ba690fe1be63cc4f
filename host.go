package turnkeel

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/activities"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/agentfile"
	"github.com/turnkeel/turnkeel/internal/mask"
	"github.com/turnkeel/turnkeel/tooldefs"
	"github.com/turnkeel/turnkeel/workflows"
)

// Host is everything that a worker serves, checked and ready: agents, tools,
// and what the tools hold open. It is safe for concurrent use.
type Host struct {
	ownDynamic  bool // the worker has a dynamic activity of its own
	acts        *activities.Activities
	definitions []agentfile.Definition
	inCode      []contract.Agent // as they were given
	agents      []contract.Agent // resolved, in the order of the files, those in code first
	set         *tooldefs.Set
	logger      *zap.Logger
	origins     map[string]string // of tools that are not the worker's own: by name
	warnings    []string          // what a person should know, beside what each tool warns of

	closing  sync.Once
	closeErr error
	closers  []func() error
}

// Open checks the agents and tools of o and brings up what they need: the MCP
// servers that agents name are started here. All that is wrong comes as one
// error, and then nothing is left running. ctx bounds the start only.
func Open(ctx context.Context, o Options) (*Host, error) {
	o = o.withDefaults()
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	a := assembly{options: o, host: &Host{inCode: o.Agents, origins: map[string]string{}, logger: o.Logger, ownDynamic: o.OwnDynamicActivity}}
	if err := a.assemble(ctx); err != nil {
		return nil, errors.Join(err, a.host.Close())
	}
	return a.host, nil
}

// Register gives a Temporal worker what [Register] does. Stop the worker before you close the host.
func (h *Host) Register(worker Registry) {
	for _, w := range h.warnings {
		h.logger.Warn(w)
	}
	workflows.Register(worker)
	h.acts.Register(worker)
	if !h.ownDynamic {
		h.acts.RegisterLacking(worker)
	}
}

// Close ends what the tools hold open, in the reverse order, within seconds. It
// may be called more than once.
func (h *Host) Close() error {
	h.closing.Do(func() {
		var problems []error
		for _, f := range slices.Backward(h.closers) {
			problems = append(problems, f())
		}
		h.closeErr = errors.Join(problems...)
	})
	return h.closeErr
}

// env reads a variable for an agent's tool. An agent of a file has those that
// its file declares; one in code, and a call that code makes for no agent, those
// that the tool itself declares. An agent that is not here has none: how its file
// bound them is not known.
func (h *Host) env(agent, name string) (value string, declared bool) {
	for _, d := range h.definitions {
		if d.Agent.Name == agent {
			return d.Env.Lookup(name, os.LookupEnv)
		}
	}
	if agent == "" || slices.ContainsFunc(h.agents, func(a contract.Agent) bool { return a.Name == agent }) {
		return os.Getenv(name), true
	}
	return "", false
}

// variables are the environment variables whose values no input may hold: those
// that agents' files declare, and the worker's own credentials.
func (h *Host) variables() []string {
	names := slices.Clone(ownCredentials)
	for _, d := range h.definitions {
		names = append(names, d.Env.Variables()...)
	}
	return names
}

// secrets are the values that tools and model of an agent may know, and the
// worker's own.
func (h *Host) secrets(agent string) map[string]string {
	values := credentials(h.credentialNames(), os.Getenv)
	maps.Copy(values, h.declared(agent))
	return values
}

// declared are the values of the variables that an agent's tools may read.
func (h *Host) declared(agent string) map[string]string {
	for _, d := range h.definitions {
		if d.Agent.Name == agent {
			return secretsOf(d)
		}
	}
	// Of an agent in code, of none, or of one that is gone.
	values := map[string]string{}
	for _, tool := range h.set.Tools() {
		for _, variable := range tool.Env() {
			values[variable] = os.Getenv(variable)
		}
	}
	return values
}

// credentialNames are the variables of the worker's own credentials: its
// agents' keys of their models, the cluster's and the blob store's.
func (h *Host) credentialNames() []string {
	names := secretNames(nil)
	for _, d := range h.definitions {
		names = append(names, d.Agent.Endpoint.APIKeyEnv)
	}
	for _, a := range h.inCode {
		names = append(names, a.Endpoint.APIKeyEnv)
	}
	return names
}

// secretsOf are the values of the variables that an agent's file declares. One
// that stands in the file as the default is no secret.
func secretsOf(d agentfile.Definition) map[string]string {
	values := map[string]string{}
	for _, name := range d.Env.Names() {
		if value, _ := d.Env.Lookup(name, os.LookupEnv); value != d.Env.Optional[name] {
			values[name] = value
		}
	}
	return values
}

// allSecrets takes out the values of all agents of files, and the worker's own.
func (h *Host) allSecrets() mask.Mask {
	values := credentials(h.credentialNames(), os.Getenv)
	for _, d := range h.definitions {
		for name, value := range secretsOf(d) {
			values[d.Agent.Name+": "+name] = value
		}
	}
	return mask.New(values)
}

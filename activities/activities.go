package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.temporal.io/sdk/converter"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/stub"
	"github.com/turnkeel/turnkeel/internal/wire"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// Options are what the activities work with.
type Options struct {
	// Agents are the agents that turns may name. At least one.
	Agents []contract.Agent

	// Tools are all the tools of the worker; each agent is shown its own. Nil
	// means none.
	Tools *tooldefs.Set

	// Getenv reads the worker's environment: the model's key and address.
	// Credentials are read here and nowhere else. Required.
	Getenv func(string) string

	// Env reads a variable that an agent declares, for [tooldefs.Call.Env]. If
	// nil, none is declared.
	Env func(agent, name string) (value string, declared bool)

	// Transcripts gives a model call its run's history. If nil, it is read
	// from the server through the worker's own client.
	Transcripts Transcripts

	// DataConverter is the Temporal client's, for reading histories. If nil,
	// the SDK's default.
	DataConverter converter.DataConverter

	// Logger gets what must not reach the model. If nil, nothing is logged.
	Logger *zap.Logger
}

// Activities holds what the activities depend on. Its methods may run
// concurrently.
type Activities struct {
	agents      map[string]contract.Agent
	tools       *tooldefs.Set
	getenv      func(string) string
	env         func(agent, name string) (string, bool)
	transcripts Transcripts
	logger      *zap.Logger

	clientsMu sync.Mutex
	clients   map[wire.Endpoint]*wire.Client // grows with the agents' endpoints
}

// New checks the options. An agent that names a tool the worker lacks is an
// error here, not in the middle of a turn; all such problems come at once.
func New(o Options) (*Activities, error) {
	if o.Getenv == nil {
		return nil, errors.New("activities: Getenv is missing")
	}
	if len(o.Agents) == 0 {
		return nil, errors.New("activities: no agents")
	}
	a := &Activities{
		agents: map[string]contract.Agent{}, clients: map[wire.Endpoint]*wire.Client{}, tools: o.Tools, getenv: o.Getenv,
		env: o.Env, transcripts: o.Transcripts, logger: o.Logger,
	}
	if a.tools == nil {
		var err error
		if a.tools, err = tooldefs.NewSet(); err != nil {
			return nil, err
		}
	}
	if a.env == nil {
		a.env = func(string, string) (string, bool) { return "", false }
	}
	if a.transcripts == nil {
		a.transcripts = historyTranscripts{o.DataConverter}
	}
	if a.logger == nil {
		a.logger = zap.NewNop()
	}
	var problems []error
	for _, agent := range o.Agents {
		if _, twice := a.agents[agent.Name]; twice {
			problems = append(problems, fmt.Errorf("agent %q is defined twice", agent.Name))
		}
		a.agents[agent.Name] = agent
		problems = append(problems, a.missingTools(agent)...)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *Activities) missingTools(agent contract.Agent) []error {
	var problems []error
	for _, name := range agent.Tools {
		if _, ok := a.tools.Lookup(name); !ok && name != allTools {
			problems = append(problems, fmt.Errorf("agent %q names the tool %q, which this worker lacks (it has: %v)",
				agent.Name, name, a.tools.Names()))
		}
	}
	return problems
}

// allTools in an agent's list stands for every tool of the worker.
const allTools = "all"

// Register gives the worker the model call and one activity type per tool.
func (a *Activities) Register(r stub.Registry) {
	stub.CallModel.Register(r, a.CallModel)
	for _, name := range a.tools.Names() {
		tool, _ := a.tools.Lookup(name)
		stub.Tool(name).Register(r, func(ctx context.Context, in contract.ToolInput) (contract.ToolResult, error) {
			return a.callTool(ctx, tool, in)
		})
	}
}

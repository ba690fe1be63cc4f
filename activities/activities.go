package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/foldcache"
	"github.com/turnkeel/turnkeel/internal/lineage"
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

	// Env reads a variable that an agent declares, for [tooldefs.Call.Env]. A call
	// of a tool that needs another one is not executed. If nil, all are as Getenv says.
	Env func(agent, name string) (value string, declared bool)

	// Declared are the environment variables that agents declare: a turn whose
	// input holds the value of one, or of an agent's key, fails.
	Declared []string
	// Secrets are the values, by name, that tools and model of an agent may know
	// and that must be in no log, result, answer or error. If nil, there are none.
	Secrets func(agent string) map[string]string

	// Scripted gives what plays the model scripted/<file> of an agent; nil when
	// this worker has no such file. If nil, it has none.
	Scripted func(agent, file string) *http.Client

	// Transcripts gives a model call its run's history. If nil, it is read
	// from the server through the worker's own client.
	Transcripts Transcripts

	// Blobs keeps what is too large for a history. Every worker of a task queue
	// needs the same one. If nil, large tool results are recorded cut, and a
	// turn whose transcript is large stays in one run.
	Blobs blob.Store

	// FoldCacheBytes is the room for folds of recent runs, which a model call
	// would otherwise read from their beginning; one that is not used for a
	// minute goes. If zero, 64 MiB; if negative, none.
	FoldCacheBytes int64

	// Server reads what Temporal knows of runs. If nil, the worker's own client.
	Server func(ctx context.Context) lineage.Service

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
	variables   []string // whose values no input may hold
	secrets     func(agent string) map[string]string
	masks       masks
	scripted    func(agent, file string) *http.Client
	transcripts Transcripts
	blobs       blob.Store // nil: none
	converter   converter.DataConverter
	attributes  knownAttributes
	logger      *zap.Logger

	server   func(ctx context.Context) lineage.Service
	lineages lineage.Cache

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
		env: o.Env, variables: secretNames(o), secrets: o.Secrets, scripted: o.Scripted, transcripts: o.Transcripts, blobs: o.Blobs, converter: o.DataConverter, logger: o.Logger, server: o.Server,
	}
	if a.server == nil {
		a.server = func(ctx context.Context) lineage.Service { return sdkactivity.GetClient(ctx) }
	}
	if a.tools == nil {
		var err error
		if a.tools, err = tooldefs.NewSet(); err != nil {
			return nil, err
		}
	}
	if a.env == nil {
		a.env = func(_, name string) (string, bool) { return o.Getenv(name), true }
	}
	if a.transcripts == nil {
		a.transcripts = historyTranscripts{foldcache.New(foldcache.Options{
			Converter: o.DataConverter, Blobs: o.Blobs, Bytes: o.FoldCacheBytes,
		})}
	}
	if a.logger == nil {
		a.logger = zap.NewNop()
	}
	var problems []error
	for _, agent := range o.Agents {
		if _, twice := a.agents[agent.Name]; twice {
			problems = append(problems, fmt.Errorf("agent %q is defined twice", agent.Name))
		}
		agent, err := withPolicy(agent)
		a.agents[agent.Name] = agent
		problems = append(problems, err)
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

// Register gives the worker the model call, the planning of calls made by
// code, the packing for a continued run, and one activity type per tool, and a second one for a tool that can
// reconcile. What a person should know of the tools is logged, once.
func (a *Activities) Register(r stub.Registry) {
	stub.CallModel.Register(r, a.CallModel)
	stub.PlanCall.Register(r, a.PlanCall)
	stub.Carry.Register(r, a.Carry)
	stub.PackSession.Register(r, a.PackSession)
	stub.AwaitTurn.Register(r, a.AwaitTurn)
	stub.InterruptTurn.Register(r, a.InterruptTurn)
	for _, tool := range a.tools.Tools() {
		name := tool.Name()
		for _, warning := range tool.Warnings() {
			a.logger.Warn(warning, zapTool(tool), zap.String("defined", tool.Origin()))
		}
		if tool.CanReconcile() {
			stub.Reconcile(name).Register(r, func(ctx context.Context, in contract.ReconcileInput) (contract.ReconcileResult, error) {
				return a.reconcile(ctx, tool, in)
			})
		}
		stub.Tool(name).Register(r, func(ctx context.Context, in contract.ToolInput) (contract.ToolResult, error) {
			return a.callTool(ctx, tool, in)
		})
	}
}

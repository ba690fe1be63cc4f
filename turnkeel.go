package turnkeel

import (
	"context"
	"time"

	"go.temporal.io/sdk/converter"
	sdkworker "go.temporal.io/sdk/worker"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// Defaults of [Options].
const (
	DefaultAgentsDir   = "agents"
	DefaultCacheSize   = 1_000
	DefaultStopTimeout = 10 * time.Second
)

// Options say what a worker serves. The zero value serves the agents of
// ./agents with no tools.
type Options struct {
	// Tools are the worker's tools; an agent is shown those it names.
	Tools []*tooldefs.Tool

	// Builtins are the ready-made tools that agents may ask for by name in
	// builtin_tools: those of package tools, or your own. They cost nothing
	// until an agent asks.
	Builtins []tooldefs.Builtin

	// AgentsDir holds one folder per agent. Defaults to "agents", unless Agents
	// are given.
	AgentsDir string

	// Agents are agents in code, beside those of AgentsDir.
	Agents []contract.Agent

	// TaskQueue is where turns are taken from. Defaults to
	// [contract.DefaultTaskQueue]. Not used by [Register]: the worker has one.
	TaskQueue string

	// CacheSize is how many workflows the process keeps in memory, all its
	// workers together. A turn that is not cached costs a replay when it moves
	// on. If zero, 1,000; if negative, none.
	CacheSize int

	// StopTimeout is how long running tools may go on once the worker is told
	// to stop. It must be shorter than the platform's own grace period. If
	// zero, 10 s.
	StopTimeout time.Duration

	// Blobs keeps tool results and transcripts that are too large for a history:
	// see docs/effect-log.md. All workers of a task queue need the same store.
	// If nil, [Main] and [Run] take [BlobsFromEnv], and [Register] goes without:
	// large results are recorded cut.
	Blobs blob.Store

	// DataConverter is the Temporal client's, if it has one of its own: model
	// calls read their run's history with it, and so does the command replay.
	// [Main] and [Run] make their client with it. If nil, the SDK's default.
	DataConverter converter.DataConverter

	// Register adds workflows and activities of your own. It is called with the
	// worker, and by the command replay with what takes the workflows alone: it
	// must register the same each time and do nothing else. Nil adds none. Not
	// used by [Register]: the worker is yours.
	Register func(Registry)

	// OwnDynamicActivity says that your worker has, or gets by Register, a dynamic
	// activity of its own: a worker can have only one. If false, Turnkeel
	// registers one that answers for tools the worker lacks, from what is recorded.
	// Without it such a call is told as not executed, also where a run before a
	// reset has made it.
	OwnDynamicActivity bool

	// Versioning makes the worker a version of a Temporal worker deployment. If
	// zero, [Main] and [Run] take [VersioningFrom] the environment. Not used by
	// [Register]: see [Versioning.DeploymentOptions].
	Versioning Versioning

	// Logger gets the worker's log and the Temporal SDK's. If nil, [Main] logs
	// to standard error, readable on a terminal and as JSON elsewhere, and
	// [Register] logs nothing.
	Logger *zap.Logger
}

func (o Options) withDefaults() Options {
	if o.AgentsDir == "" && len(o.Agents) == 0 {
		o.AgentsDir = DefaultAgentsDir
	}
	if o.TaskQueue == "" {
		o.TaskQueue = contract.DefaultTaskQueue
	}
	if o.CacheSize == 0 {
		o.CacheSize = DefaultCacheSize
	}
	if o.StopTimeout == 0 {
		o.StopTimeout = DefaultStopTimeout
	}
	return o
}

// Registry is the part of a Temporal worker that [Register] needs.
type Registry interface {
	sdkworker.WorkflowRegistry
	sdkworker.ActivityRegistry
}

// Register gives a Temporal worker the workflows of a turn, its model call, one
// activity type per tool, and a dynamic activity for the tools it lacks: see
// [Options.OwnDynamicActivity]. Everything that can be wrong with the agents and
// tools is an error here, all of it at once, and never in the middle of a turn.
//
// What the agents' tools hold open, MCP servers for example, stays open as long
// as the process lives. [Open] gives it to you to close.
func Register(worker Registry, o Options) error {
	host, err := Open(context.Background(), o)
	if err != nil {
		return err
	}
	host.Register(worker)
	return nil
}

// SetWorkerDefaults fills the zero fields of a worker's options with what
// Turnkeel's guarantees are measured with: a dead worker is noticed within
// seconds, a deploy lets running tools finish.
func SetWorkerDefaults(w *sdkworker.Options) {
	if w.WorkerStopTimeout == 0 {
		w.WorkerStopTimeout = DefaultStopTimeout
	}
	if w.StickyScheduleToStartTimeout == 0 {
		w.StickyScheduleToStartTimeout = 500 * time.Millisecond
	}
	if w.MaxHeartbeatThrottleInterval == 0 {
		w.MaxHeartbeatThrottleInterval = 100 * time.Millisecond // what a streamed turn needs; others beat each second, or half
	}
	if w.DefaultHeartbeatThrottleInterval == 0 {
		w.DefaultHeartbeatThrottleInterval = 100 * time.Millisecond
	}
	if w.MaxEagerActivityReservationsPerWorkflowTask == nil {
		width := contract.DefaultMaxToolConcurrency
		w.MaxEagerActivityReservationsPerWorkflowTask = &width
	}
	w.DisableRegistrationAliasing = true
}

package tooldefs

import (
	"context"
	"log/slog"
)

// Builtin is a ready-made tool, or a few that belong together, which an agent
// asks for by name in builtin_tools of its agent.yaml. It is given to a worker
// in its options; an agent that does not ask for it is not shown its tools.
type Builtin struct {
	// Name is what agents write, of the form of a tool's name.
	Name string

	// Env are the environment variables it cannot work without. They are
	// required of each agent that asks for it, as if its env.required named
	// them: the agent may bind them, and an empty one stops the worker's start.
	Env []string

	// OptionalEnv are further variables with the value each has when it is not
	// set. An agent's own env.optional overrides the value.
	OptionalEnv map[string]string

	// FromFile, if not nil, reads the value that an agent's file itself gives one
	// of these variables in env.optional; dir is the folder of that file. It is how
	// a relative path there starts in that folder, while one in the worker's
	// environment starts in the worker's. What it gives is not recorded.
	FromFile func(dir, variable, value string) string

	// New makes its tools: once for a worker, and only when an agent asks for
	// it. Each agent has its own values of the variables, so the handlers ask
	// for them with [Call.Env], which the tools' own Env must name; New cannot
	// know them. It must be quick and dial nowhere: `check` calls it too.
	New func(BuiltinDeps) ([]*Tool, error)
}

// BuiltinDeps are what a worker lends its built-in tools.
type BuiltinDeps struct {
	// Blobs is the worker's store of large values; nil when it has none.
	Blobs BlobReader

	// Logger is the worker's log. Never nil.
	Logger *slog.Logger

	// OnClose has f called once when the worker stops, after the last call.
	OnClose func(f func() error)
}

// BlobReader is the reading side of a blob store. See package blob for its
// errors.
type BlobReader interface {
	Get(ctx context.Context, ref string) ([]byte, error)
}

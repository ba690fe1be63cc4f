package mcptools

import (
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// Options say how a server's tools become tools of a worker. The zero value
// keeps their names and trusts nothing that the server says of them: External,
// AtMostOnce, serial.
type Options struct {
	// Server is how messages to people call the server. If empty, "an MCP
	// server".
	Server string

	// Prefix namespaces the tools: the model and the history see
	// <prefix>_<name>, the server its own name. If empty, names stay. What a
	// name may not be is mended by [Name].
	Prefix string

	// ToolOptions hold for every tool of the server, Tools for those that it
	// names, by the server's name for them; what it leaves zero is as for all.
	ToolOptions
	Tools map[string]ToolOptions

	// TrustHints takes the server's word where the options leave class and
	// effects open: readOnlyHint makes Effects None and so SafeToRetry,
	// idempotentHint makes SafeToRetry. A server may lie, or be taken over.
	TrustHints bool

	// KeepNulls sends arguments that are null as the model wrote them. By
	// default those that the schema does not require are left out, since models
	// write null for what they mean to leave out.
	KeepNulls bool

	// Allow are the tools to wrap, by the server's names; nil is all.
	Allow []string

	// ToResult replaces how a result that is no error is flattened: see
	// [Flatten]. What it returns is recorded as JSON, a string as text.
	ToResult func(*mcp.CallToolResult) (any, error)
}

// ToolOptions are the part that may differ from tool to tool. They mean what
// they mean in [tooldefs.Spec].
type ToolOptions struct {
	Class   tooldefs.Class
	Effects tooldefs.Effects
	Timeout time.Duration // of one call, the writing included

	// ParallelSafe lets calls run beside others of the same answer. If nil, as
	// for all tools of the server, and then no.
	ParallelSafe *bool
}

// of are the options of one tool.
func (o Options) of(d *mcp.Tool) ToolOptions {
	t, all := o.Tools[d.Name], o.ToolOptions
	if t.Class == "" {
		t.Class = all.Class
	}
	if t.Effects == "" {
		t.Effects = all.Effects
	}
	if t.Timeout == 0 {
		t.Timeout = all.Timeout
	}
	if t.ParallelSafe == nil {
		t.ParallelSafe = all.ParallelSafe
	}
	if o.TrustHints && d.Annotations != nil {
		t.trust(*d.Annotations)
	}
	return t
}

// trust fills what is open by the server's hints.
func (t *ToolOptions) trust(hints mcp.ToolAnnotations) {
	if hints.ReadOnlyHint && t.Effects == "" {
		t.Effects = tooldefs.None
	}
	if t.Class == "" && (hints.ReadOnlyHint || hints.IdempotentHint) {
		t.Class = tooldefs.SafeToRetry
	}
}

func (o Options) server() string {
	if o.Server == "" {
		return "an MCP server"
	}
	return "the MCP server " + o.Server
}

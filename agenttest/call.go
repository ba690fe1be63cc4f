package agenttest

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// Defaults of [CallOptions].
const (
	DefaultCallKey  = "test-key"
	DefaultCallTurn = "test-turn"
)

// CallOptions describe the call that a tool is tested with. The zero value is
// the first attempt of the first call of a turn.
type CallOptions struct {
	Key     string            // idempotency key; if empty, [DefaultCallKey]
	Turn    string            // if empty, [DefaultCallTurn]
	Session string            // empty is a turn without a session
	Ordinal int               // if zero, 1
	Attempt int               // if zero, 1
	Env     map[string]string // the declared variables that are set
}

// Call is a fake of a running call, without a server: it has a key and an
// environment, and records progress and log. It is safe for concurrent use.
type Call struct {
	// Call is what a handler is handed, to call one directly.
	Call *tooldefs.Call

	// Info makes further calls: for [tooldefs.Set.CallWith].
	Info tooldefs.CallInfo

	t        testing.TB
	mu       sync.Mutex
	progress []string
	log      []LogLine
}

// LogLine is one line that a handler logged.
type LogLine struct {
	Level   slog.Level
	Message string
	Attrs   map[string]any
}

// NewCall makes a fake call for a test of a tool.
func NewCall(t testing.TB, o CallOptions) *Call {
	t.Helper()
	if o.Key == "" {
		o.Key = DefaultCallKey
	}
	if o.Turn == "" {
		o.Turn = DefaultCallTurn
	}
	c := &Call{t: t}
	c.Info = tooldefs.CallInfo{
		Key: o.Key, Turn: o.Turn, Session: o.Session, Ordinal: max(1, o.Ordinal), Attempt: max(1, o.Attempt),
		Logger:   slog.New(&recorder{call: c}),
		Progress: c.addProgress,
		Env:      func(name string) (string, bool) { v, ok := o.Env[name]; return v, ok },
	}
	c.Call = tooldefs.NewCall(c.Info)
	return c
}

// Run passes arguments, as a model would write them, through the tool's gates
// and runs it under its timeout: see [tooldefs.Set.Call] for the errors.
func (c *Call) Run(tool *tooldefs.Tool, args string) (contract.ToolResult, error) {
	c.t.Helper()
	set, err := tooldefs.NewSet(tool)
	if err != nil {
		c.t.Fatal(err)
	}
	return set.CallWith(c.t.Context(), c.Info, tool.Name(), args)
}

// Reconcile asks the tool what became of this call. Arguments that the tool's
// gates refuse fail the test.
func (c *Call) Reconcile(tool *tooldefs.Tool, args string) contract.ReconcileResult {
	c.t.Helper()
	checked := tool.Check(args)
	if checked.Problem != "" {
		c.t.Fatal(checked.Problem)
	}
	return tool.Reconcile(c.t.Context(), c.Call, checked.Canonical)
}

// Progress is what was shown so far, in order, each as JSON.
func (c *Call) Progress() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.progress)
}

// Log is what was logged so far, in order.
func (c *Call) Log() []LogLine {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.log)
}

func (c *Call) addProgress(data json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = append(c.progress, string(data))
}

// recorder is a slog handler that keeps lines. An attribute in a group is named
// group.attribute.
type recorder struct {
	call   *Call
	prefix string
	attrs  []slog.Attr
}

// Enabled is true: a test sees all levels.
func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps the line.
func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	line := LogLine{Level: record.Level, Message: record.Message, Attrs: map[string]any{}}
	for _, a := range r.attrs {
		line.Attrs[a.Key] = a.Value.Any()
	}
	record.Attrs(func(a slog.Attr) bool {
		line.Attrs[r.prefix+a.Key] = a.Value.Resolve().Any()
		return true
	})
	r.call.mu.Lock()
	defer r.call.mu.Unlock()
	r.call.log = append(r.call.log, line)
	return nil
}

// WithAttrs adds attributes to every line.
func (r *recorder) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := *r
	more.attrs = slices.Clone(r.attrs)
	for _, a := range attrs {
		more.attrs = append(more.attrs, slog.Attr{Key: r.prefix + a.Key, Value: a.Value.Resolve()})
	}
	return &more
}

// WithGroup prefixes the attributes that follow.
func (r *recorder) WithGroup(name string) slog.Handler {
	if name == "" {
		return r
	}
	more := *r
	more.prefix = r.prefix + name + "."
	return &more
}

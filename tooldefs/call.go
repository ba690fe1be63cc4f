package tooldefs

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
)

// Call tells a handler about the call it runs for. It is valid while the
// handler runs and safe for concurrent use; the deadline is in the handler's
// ctx. The methods of a Call that nobody made panic with an
// [*OutsideCallError].
type Call struct {
	info     CallInfo
	tool     string
	declared []string // nil: not bound to a tool, as in a unit test
	bound    bool
	ended    atomic.Bool
}

// CallInfo is what the runtime knows of a call. Authors of tools do not need
// it, except to call a handler directly in a unit test.
type CallInfo struct {
	Tool    string // for messages
	Key     string // the idempotency key
	Turn    string // id of the turn
	Session string // id of the session; may be empty
	Ordinal int    // of the call in its turn, from 1
	Attempt int    // from 1

	// Logger gets the handler's log; if nil, it is discarded.
	Logger *slog.Logger

	// Progress gets each value of [Call.Progress], as JSON. It must not block
	// and may be called concurrently. If nil, progress is dropped.
	Progress func(data json.RawMessage)

	// Env looks up a declared environment variable; if nil, none is set.
	Env func(name string) (value string, ok bool)
}

// NewCall makes the Call for one start of a handler. It is for runtimes and
// tests; see [CallInfo].
func NewCall(info CallInfo) *Call { return &Call{info: info, tool: info.Tool} }

// OutsideCallError says that a tool was used where no call is running.
type OutsideCallError struct{ Tool string }

func (e *OutsideCallError) Error() string {
	return fmt.Sprintf("tool %q called outside a running turn", e.Tool)
}

// usable says that the Call was made by [NewCall].
func (c *Call) usable() bool {
	return c != nil && (c.info.Key != "" || c.info.Turn != "" || c.tool != "")
}

func (c *Call) mustBeUsable() {
	if !c.usable() {
		panic(&OutsideCallError{})
	}
}

// bind gives a copy for one run of the tool's handler.
func (c *Call) bind(t *Tool) (*Call, error) {
	if !c.usable() || c.ended.Load() {
		return nil, &OutsideCallError{Tool: t.set.name}
	}
	return &Call{info: c.info, tool: t.set.name, declared: t.set.env, bound: true}, nil
}

func (c *Call) end() { c.ended.Store(true) }

// IdempotencyKey is the key to hand to a service that deduplicates by one. It
// is the same for every attempt and every replay of this call.
func (c *Call) IdempotencyKey() string { c.mustBeUsable(); return c.info.Key }

// Tool is the name of the tool that runs, as the model knows it.
func (c *Call) Tool() string { c.mustBeUsable(); return c.tool }

// TurnID is the id of the turn.
func (c *Call) TurnID() string { c.mustBeUsable(); return c.info.Turn }

// SessionID is the id of the session, or "" when there is none.
func (c *Call) SessionID() string { c.mustBeUsable(); return c.info.Session }

// Ordinal counts the calls of the turn, from 1.
func (c *Call) Ordinal() int { c.mustBeUsable(); return c.info.Ordinal }

// Attempt counts the starts of this call, from 1.
func (c *Call) Attempt() int { c.mustBeUsable(); return c.info.Attempt }

// Logger is the worker's log, with the call's attributes. Never nil.
func (c *Call) Logger() *slog.Logger {
	c.mustBeUsable()
	if c.info.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.info.Logger
}

// Progress shows v to whoever watches the turn, while the tool runs; it is
// not recorded. A value that cannot be marshalled is logged and dropped, and
// so is what comes after the handler returned.
func (c *Call) Progress(v any) {
	c.mustBeUsable()
	if c.info.Progress == nil || c.ended.Load() {
		return
	}
	data, err := marshal(v)
	if err != nil {
		c.Logger().Warn("progress cannot be marshalled", "tool", c.tool, "error", err)
		return
	}
	c.info.Progress(data)
}

// Env is the value of a declared environment variable, "" when it is not
// set. It panics for a name that the tool's definition does not declare.
func (c *Call) Env(name string) string {
	c.mustBeUsable()
	if c.bound && !slices.Contains(c.declared, name) {
		panic(fmt.Sprintf("tool %q asks for the environment variable %s without declaring it", c.tool, name))
	}
	if c.info.Env == nil {
		return ""
	}
	value, _ := c.info.Env(name)
	return value
}

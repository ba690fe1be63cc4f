package tooldefs

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"sync/atomic"
	"time"

	"github.com/turnkeel/turnkeel/internal/schema"
)

// Tool is a defined tool. It does not change and is safe for concurrent use.
// It is made by [Define], [DefineStream] or [Wrap].
type Tool struct {
	set      settings
	input    *schema.Schema
	output   *schema.Schema // nil: not validated
	warnings []string

	// transform maps parsed arguments before they are validated; nil is none.
	// loose is what parses them for it: any one object.
	transform func(args string) (string, error)
	loose     *schema.Schema

	// fits tries whether canonical arguments, and the value they are the text
	// of, fit the handler's input.
	fits func(args string, value any) error

	// decodesItself says that part of the input decodes itself, so that an
	// author's code may run in fits.
	decodesItself bool

	// stuck counts the questions to the author's functions that are open.
	stuck atomic.Int32

	// run decodes and runs the handler; a panic of it comes out as a panic.
	run func(ctx context.Context, call *Call, args string) (any, error)

	// recovery asks OnError; ok is false when there is none or it declines.
	recovery func(err error, args string) (value any, ok bool)

	approval  func(args string) (bool, error)                                     // nil: never
	reconcile func(ctx context.Context, call *Call, args string) (finding, error) // nil: it cannot

	key     func(args string) (string, error) // nil: derived
	summary func(args string) string          // nil: the default
}

// Name is the name the model calls.
func (t *Tool) Name() string { return t.set.name }

// Description is what the model is told about the tool.
func (t *Tool) Description() string { return t.set.description }

// InputSchema is the canonical JSON Schema of the arguments.
func (t *Tool) InputSchema() string { return t.input.JSON() }

// OutputSchema is the schema results are validated against, or "".
func (t *Tool) OutputSchema() string {
	if t.output == nil {
		return ""
	}
	return t.output.JSON()
}

// Effects is what the tool touches, never empty.
func (t *Tool) Effects() Effects { return t.set.effects }

// Class is the resolved class, never ByEffects.
func (t *Tool) Class() Class { return t.set.class }

// Timeout bounds one start of the handler, never zero.
func (t *Tool) Timeout() time.Duration { return t.set.timeout }

// MaxAttempts is how many starts a call has, at least 1.
func (t *Tool) MaxAttempts() int { return t.set.maxAttempts }

// MaxConcurrency caps the calls of this tool that run at a time; 0 is no cap.
func (t *Tool) MaxConcurrency() int { return t.set.maxConcurrency }

// Uninterruptible says that an interrupt lets a running call finish.
func (t *Tool) Uninterruptible() bool { return t.set.uninterruptible }

// NoReplay says that a recorded result is not reused after a reset.
func (t *Tool) NoReplay() bool { return t.set.noReplay }

// Approvers may decide about its calls; empty is anyone.
func (t *Tool) Approvers() []string { return slices.Clone(t.set.approvers) }

// OnUnknown is what happens to a call whose outcome stays unknown.
func (t *Tool) OnUnknown() OnUnknown { return t.set.onUnknown }

// KeyScope is how far the tool's key reaches.
func (t *Tool) KeyScope() KeyScope { return t.set.keyScope }

// Poller says that identical repeats are expected.
func (t *Tool) Poller() bool { return t.set.poller }

// TaskQueue is where its calls run; empty is the turn's own.
func (t *Tool) TaskQueue() string { return t.set.taskQueue }

// Env are the names of the declared environment variables.
func (t *Tool) Env() []string { return slices.Clone(t.set.env) }

// Origin says where the tool was defined, for messages to people.
func (t *Tool) Origin() string { return t.set.origin }

// Warnings are what a person should know at start: parts of the schema that
// are not enforced, and settings that are dangerous without an approval.
func (t *Tool) Warnings() []string {
	out := slices.Clone(t.warnings)
	if t.set.effects == External && t.set.class == SafeToRetry && t.approval == nil {
		out = append(out, "tool "+t.set.name+" has external effects and the class SafeToRetry: a call may take effect more than once; let an approval or the class Keyed guard it")
	}
	return out
}

// DefinitionDigest names what the model was shown: name, description and
// input schema. 16 hex digits.
func (t *Tool) DefinitionDigest() string {
	return digestOf("definition", t.set.name, t.set.description, t.input.JSON())
}

// ExecutionDigest names what a planned call relies on: name, input schema,
// class and effects, and a pin where there is one. 16 hex digits.
func (t *Tool) ExecutionDigest() string {
	parts := []string{"execution", t.set.name, t.input.JSON(), string(t.set.class), string(t.set.effects)}
	if t.set.pin != "" {
		parts = append(parts, t.set.pin)
	}
	return digestOf(parts...)
}

// digestOf hashes length-prefixed parts.
func digestOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

package tooldefs

import (
	"context"
	"time"
)

// DefaultTimeout bounds a handler whose spec names no timeout.
const DefaultTimeout = time.Minute

// Handler is the function of a typed tool. ctx ends at the tool's timeout and
// when the call is interrupted; call tells about the call and must not be
// used after the handler returned.
type Handler[In, Out any] func(ctx context.Context, call *Call, in In) (Out, error)

// Spec defines a typed tool. Name, Description and Handler are required; the
// zero value of every other field is the careful choice.
type Spec[In, Out any] struct {
	// Name is what the model calls, of the form ^[A-Za-z0-9_-]{1,64}$.
	Name string

	// Description tells the model what the tool does and when to use it.
	Description string

	// Handler does the work. In is a struct (or a map with string keys).
	Handler Handler[In, Out]

	// Effects says what the tool touches. If zero, External.
	Effects Effects

	// Class says what may happen to a call whose outcome was lost. If zero,
	// SafeToRetry when Effects is None and AtMostOnce otherwise.
	Class Class

	// ParallelSafe says which calls may run beside other parallel-safe calls
	// of the same step: [Always], or a predicate over the raw, unvalidated
	// arguments. A panic in it means no. If nil, calls are serial.
	ParallelSafe func(rawArgs string) bool

	// MaxConcurrency caps how many calls of this tool one step runs at a time.
	// If zero, only the agent's own limit applies.
	MaxConcurrency int

	// Timeout bounds one start of the handler, a stream's whole run included.
	// It is final: a call that ran out of it is not run again. If zero,
	// [DefaultTimeout].
	Timeout time.Duration

	// MaxAttempts bounds the starts of one call. If zero, 1 for AtMostOnce
	// (more is a mistake), 3 for Keyed and 5 for SafeToRetry.
	MaxAttempts int

	// Uninterruptible lets a running call finish and records its real result
	// when the turn is interrupted or cancelled. Its timeout still holds.
	Uninterruptible bool

	// NoReplay runs the call again, instead of reusing its recorded result,
	// when a turn is reset or re-run. SafeToRetry only.
	NoReplay bool

	// Output, if set, has the result validated: [InferOutput] takes the schema
	// from Out, [OutputSchema] one that you write. If zero, it is not.
	Output Output

	// OnError may turn a handler's error into a value, which is validated like
	// a result and recorded as the success it became; ok false keeps the
	// error. It is called for plain errors only: not for timeouts,
	// interruptions, panics, [Transient], [Unknown] and [NotExecuted].
	OnError func(err error, in In) (out Out, ok bool)

	// IdempotencyKey replaces the arguments in the call's key, for arguments
	// that hold a nonce or a time. Calls of one turn with the same key share
	// one execution. An empty string means the derived key; a panic fails the
	// call before it runs. If nil, the key is derived from the arguments.
	IdempotencyKey func(in In) string

	// KeyScope widens the key beyond the turn. Keyed only.
	KeyScope KeyScope

	// Poller says that identical repeats are expected (a status check), so
	// that they do not count as a loop.
	Poller bool

	// TaskQueue runs the calls on another task queue. If empty, the turn's.
	TaskQueue string

	// Summary is one line about the call for people, in the Web UI. If nil,
	// name and arguments.
	Summary func(in In) string

	// Env are the names of the environment variables that the handler may ask
	// for with [Call.Env].
	Env []string
}

func (s Spec[In, Out]) settings() settings {
	return settings{
		name: s.Name, description: s.Description,
		effects: s.Effects, class: s.Class,
		parallelSafe: s.ParallelSafe, maxConcurrency: s.MaxConcurrency,
		timeout: s.Timeout, maxAttempts: s.MaxAttempts,
		uninterruptible: s.Uninterruptible, noReplay: s.NoReplay,
		keyScope: s.KeyScope, poller: s.Poller, taskQueue: s.TaskQueue, env: s.Env,
	}
}

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
//
// All functions of a spec but Handler, OnError and Reconcile are asked once
// for each call, before it runs, and their answers are recorded with the call:
// a crash, a replay or a deploy after that asks none of them again. They may
// run concurrently, must not block and must not have effects. One that panics or
// gives no answer within two seconds has failed; each field says what that means.
//
// What a crash does to a call is said by Class, MaxAttempts, Reconcile and
// OnUnknown. All other fields mean the same before and after one, unless they
// say otherwise.
type Spec[In, Out any] struct {
	// Name is what the model calls, of the form ^[A-Za-z0-9_-]{1,64}$.
	Name string

	// Description tells the model what the tool does and when to use it.
	Description string

	// Handler does the work. In is a struct (or a map with string keys). It is
	// started once, or again after a crash, as [Class] says; every start of
	// one call gets the same arguments and the same idempotency key.
	Handler Handler[In, Out]

	// Effects says what the tool touches: recorded, shown, and usable in
	// policy rules. If zero, External.
	Effects Effects

	// Class says what may happen to a call whose outcome was lost with its
	// worker. If zero, SafeToRetry when Effects is None and AtMostOnce
	// otherwise: such a call is never started a second time.
	Class Class

	// ParallelSafe says which calls may run beside other parallel-safe calls
	// of the same step: [Always], or a predicate over the raw, unvalidated
	// arguments. If it fails, that means no. If nil, calls are serial. It changes
	// nothing of what happens on a crash.
	ParallelSafe func(rawArgs string) bool

	// MaxConcurrency caps how many calls of this tool one step runs at a time.
	// If zero, only the agent's own limit applies.
	MaxConcurrency int

	// Timeout bounds one start of the handler, a stream's whole run included.
	// ctx ends then and the call ends at once, whatever the handler does: one
	// that goes on is left behind in its goroutine, and counted in a metric. It is
	// final: a call that ran out of it is not run again; its outcome is unknown,
	// or timed_out for SafeToRetry. A dead worker is noticed within seconds,
	// however long the timeout is. At most ten years; if zero, [DefaultTimeout].
	Timeout time.Duration

	// MaxAttempts bounds the starts of one call: the first, those after a lost
	// worker and those that Transient asks for. After the last one was lost the
	// outcome is unknown (failed for SafeToRetry). At most 1,000; if zero, 1 for AtMostOnce
	// (more is a mistake), 3 for Keyed and 5 for SafeToRetry.
	MaxAttempts int

	// Uninterruptible lets a running call finish and records its real result
	// when the turn is interrupted or cancelled. Its timeout still holds, and a
	// crash cuts it like any other.
	Uninterruptible bool

	// NoReplay runs the call again, instead of reusing its recorded result,
	// when a turn is reset or re-run. The result is recorded all the same.
	// SafeToRetry only.
	NoReplay bool

	// Output, if set, has the result validated: [InferOutput] takes the schema
	// from Out, [OutputSchema] one that you write. A violation is an error that
	// names the path; since the handler ran, its outcome is unknown unless
	// SafeToRetry. If zero, it is not validated.
	Output Output

	// OnError may turn a handler's error into a value, which is validated like
	// a result and recorded as the success it became; ok false keeps the
	// error. It is called for plain errors only: not for timeouts,
	// interruptions, panics, [Transient], [Unknown] and [NotExecuted].
	OnError func(err error, in In) (out Out, ok bool)

	// Approval says which calls wait for a person's yes before they run:
	// [Always], [Never], a func(In) bool over the typed, validated arguments, or
	// a func(string) bool over their canonical text. A predicate that fails
	// asks for approval. What the person sees is exactly what runs. The wait
	// survives crashes and deploys, and nothing runs meanwhile. If nil, only a
	// policy can ask for approval.
	//
	// The field is not typed because Go does not infer Always for a func(In)
	// bool inside a composite literal; any other type is a mistake.
	Approval any

	// ApprovalTimeout is how long a call waits for a person, whoever asks for
	// the approval; then it expires and never runs. If zero, the agent's, and
	// for ever when it has none.
	ApprovalTimeout time.Duration

	// Approvers may decide; names as they are claimed. If empty, anyone.
	Approvers []string

	// OnUnknown says what happens when the outcome of a call stays unknown,
	// after a crash for example: [TellModel], or [AskHuman], which parks the
	// call until a person settles it. An agent can ask a human for all its
	// tools. AskHuman contradicts SafeToRetry, whose outcome is never unknown.
	OnUnknown OnUnknown

	// Reconcile looks up what became of a call whose outcome is unknown: a read
	// of the outside world, by [Call.IdempotencyKey]. It answers [Happened] with
	// the value, which is recorded as the result; [DidNotHappen], after which
	// the call may run once more under the same key; or [CannotTell], as do an
	// error, a panic and running out of Timeout. It may be started more than
	// once. With it an AtMostOnce tool is exactly-once in practice, as far as
	// the read is right: answer DidNotHappen only when the effect cannot arrive
	// later either. It contradicts SafeToRetry.
	Reconcile func(ctx context.Context, call *Call, in In) (Reconciled[Out], error)

	// IdempotencyKey replaces the arguments in the call's key, for arguments
	// that hold a nonce or a time. Calls of one turn with the same key share
	// one execution. An empty string means the derived key; if it fails, so
	// does the call, before it runs. If nil, the key is derived from the arguments.
	IdempotencyKey func(in In) string

	// KeyScope widens the key beyond the turn. Keyed only: the turn's history
	// knows nothing of other turns, so it is the service that deduplicates.
	KeyScope KeyScope

	// Poller says that identical repeats are expected (a status check), so
	// that they do not count as a loop.
	Poller bool

	// TaskQueue runs the calls on another task queue. If empty, the turn's.
	TaskQueue string

	// Summary is one line about the call for people, in the Web UI. It stands
	// in the history: no secrets. If nil, or it fails, name and arguments.
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
		approvalTimeout: s.ApprovalTimeout, approvers: s.Approvers,
		onUnknown: s.OnUnknown, reconciles: s.Reconcile != nil,
		keyScope: s.KeyScope, poller: s.Poller, taskQueue: s.TaskQueue, env: s.Env,
	}
}

package tooldefs

import "github.com/turnkeel/turnkeel/contract"

// Effects says what a tool touches. The zero value means [External].
type Effects = contract.Effects

// The effects.
const (
	External = contract.EffectsExternal // the world outside: money, mail, other systems
	Sandbox  = contract.EffectsSandbox  // only the turn's own workspace
	None     = contract.EffectsNone     // reads only
)

// Class says what may happen to a call whose outcome was lost. This is the
// whole rule; docs/guarantees.md has it in the same words.
//
// AtMostOnce, for e-mail, for payment without keys:
//   - worker lost: never run again; outcome unknown
//   - timeout: final; outcome unknown
//   - handler error: failed, taken at its word; a context or network timeout, a panic and Unknown are unknown; Transient is failed
//   - reset: the recorded result is returned; scheduled without a recorded outcome is unknown
//
// Keyed, for services that honour an idempotency key:
//   - worker lost: run again under the same key, up to MaxAttempts starts (default 3), then unknown
//   - timeout: final; outcome unknown
//   - handler error: failed, taken at its word; a context or network timeout, a panic and Unknown are unknown, and so is any error of a later start; Transient is run again under the same key
//   - reset: the recorded result is returned, else run again under the same key
//
// SafeToRetry, for reads:
//   - worker lost: run again, up to MaxAttempts starts (default 5), then failed
//   - timeout: final; outcome timed_out
//   - handler error: failed, whatever it says; Transient is run again
//   - reset: the recorded result is returned unless NoReplay, else run again
//
// In every class a call that certainly did not start, and one whose handler
// says NotExecuted, may be scheduled again.
type Class = contract.Class

// The classes.
const (
	ByEffects   = contract.ClassByEffects   // SafeToRetry for effects None, AtMostOnce for all others
	AtMostOnce  = contract.ClassAtMostOnce  // never run again
	Keyed       = contract.ClassKeyed       // run again under the same key
	SafeToRetry = contract.ClassSafeToRetry // run again
)

// OnUnknown says what happens to a call whose outcome stays unknown.
type OnUnknown = contract.OnUnknown

// The choices.
const (
	TellModel = contract.OnUnknownTellModel // the model is told; unless the agent asks a human
	AskHuman  = contract.OnUnknownAskHuman  // the call waits for a person who settles it
)

// KeyScope says within what a key made by IdempotencyKey is the same. Beyond
// KeyScopeTurn the tool must be Keyed, since then it is the service outside
// that deduplicates, not the turn's history.
type KeyScope string

// The scopes.
const (
	KeyScopeTurn      KeyScope = "" // the default
	KeyScopeSession   KeyScope = "session"
	KeyScopeNamespace KeyScope = "namespace"
)

// Default numbers of starts per class, and the default timeout: see [Spec].
const (
	DefaultMaxAttemptsKeyed       = 3
	DefaultMaxAttemptsSafeToRetry = 5
)

// Always is the ParallelSafe or Approval predicate that holds for every call.
func Always(args string) bool { return true }

// Never is the predicate that holds for no call, as does a predicate left out.
func Never(args string) bool { return false }

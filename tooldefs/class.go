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

// Class says what may happen to a call whose outcome was lost.
type Class = contract.Class

// The classes.
const (
	ByEffects   = contract.ClassByEffects   // SafeToRetry for effects None, AtMostOnce for all others
	AtMostOnce  = contract.ClassAtMostOnce  // never run again
	Keyed       = contract.ClassKeyed       // run again under the same key
	SafeToRetry = contract.ClassSafeToRetry // run again
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

// Always is the ParallelSafe predicate of a tool whose calls may always run
// beside other parallel-safe calls.
func Always(rawArgs string) bool { return true }

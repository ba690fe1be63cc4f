package contract

import "encoding/json"

// Effects says what a tool touches.
type Effects string

// The zero value of a definition's Effects is External: the careful choice.
const (
	EffectsExternal Effects = "external" // the world outside: money, mail, other systems
	EffectsSandbox  Effects = "sandbox"  // only the turn's own workspace
	EffectsNone     Effects = "none"     // reads only
)

// Class says what may happen to a call whose outcome was lost. The table of
// what each class does on a lost worker, a timeout, a handler's error and a
// reset stands in docs/guarantees.md.
type Class string

// The classes. A definition's zero value is decided by its effects:
// SafeToRetry for EffectsNone, AtMostOnce for all others.
const (
	ClassByEffects   Class = ""
	ClassAtMostOnce  Class = "at_most_once"
	ClassKeyed       Class = "keyed"
	ClassSafeToRetry Class = "safe_to_retry"
)

// Resolve replaces ClassByEffects by the class the effects decide.
func (c Class) Resolve(e Effects) Class {
	if c != ClassByEffects {
		return c
	}
	if e == EffectsNone {
		return ClassSafeToRetry
	}
	return ClassAtMostOnce
}

// Outcome is what is known of a call.
type Outcome string

// The outcomes. Done, Failed, Denied, Expired, Invalid and Skipped are
// definite; Unknown and Interrupted may or may not have taken effect.
const (
	OutcomeDone        Outcome = "done"         // the handler returned a value
	OutcomeFailed      Outcome = "failed"       // the handler said so
	OutcomeTimedOut    Outcome = "timed_out"    // a SafeToRetry call ran out of time
	OutcomeUnknown     Outcome = "unknown"      // may or may not have taken effect
	OutcomeInvalid     Outcome = "invalid"      // never ran: unknown tool, bad arguments, too many calls
	OutcomeDenied      Outcome = "denied"       // never ran: policy or a person said no
	OutcomeExpired     Outcome = "expired"      // never ran: nobody decided in time
	OutcomeInterrupted Outcome = "interrupted"  // cut while it ran: may have taken effect
	OutcomeNotStarted  Outcome = "not_started"  // the turn ended before it
	OutcomeNotExecuted Outcome = "not_executed" // handed to a worker, certainly without effect
)

// ToolInput is the input of a tool's activity. Its arguments are the
// canonical ones that were validated, shown and hashed: one value, never two.
type ToolInput struct {
	Args string `json:"args"` // canonical JSON object
	Key  string `json:"key"`  // idempotency key, the same for every attempt

	Ordinal int      `json:"ordinal"` // turn-wide, from 1
	Class   Class    `json:"class"`   // as planned
	Digest  string   `json:"digest,omitempty"`
	Timeout Duration `json:"timeout,omitzero"` // the handler's; the activity's own is longer

	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"`

	// RunID is the run that scheduled the call. A copy made by a reset has
	// another run id of its own and still this one here.
	RunID string `json:"run_id"`

	// Lineage asks for a look into earlier runs before the handler starts: the
	// run, or one it continues, came from a reset.
	Lineage bool `json:"lineage,omitempty"`

	// Cleared says that an earlier unknown outcome of this key was settled as
	// "did not happen", by "reconcile" or by "human": the call may run.
	Cleared string `json:"cleared,omitempty"`

	// NoReplay says that a result recorded before a reset is not reused.
	NoReplay bool `json:"no_replay,omitempty"`

	// MaxAttempts is how many starts the call has in all.
	MaxAttempts int `json:"max_attempts,omitempty"`

	// Stream asks for frequent heartbeats that carry progress.
	Stream bool `json:"stream,omitempty"`
}

// ToolResult is what a tool's activity records. Exactly one of Text and JSON
// holds the value: a handler's string stays a string, all else is JSON.
type ToolResult struct {
	Text string          `json:"text,omitempty"`
	JSON json.RawMessage `json:"json,omitempty"`

	// Digest names the value (16 hex digits of its SHA-256); the workflow
	// compares it to notice a loop and need not keep the value.
	Digest string `json:"digest,omitempty"`

	// Truncated says that the value was too large for one payload and stands
	// here cut; Blob, if set, is where the whole is.
	Truncated bool   `json:"truncated,omitempty"`
	Blob      string `json:"blob,omitempty"`
	Bytes     int    `json:"bytes,omitempty"` // size of the whole, when truncated

	// Recovered says that OnError turned a handler's error into this value.
	Recovered bool `json:"recovered,omitempty"`

	// FromRun is the earlier run whose recorded result this is, after a reset.
	FromRun string `json:"from_run,omitempty"`
}

// ToolReceipt is the part of a recorded [ToolResult] that a workflow keeps:
// decoding a result into it leaves the value in history alone.
type ToolReceipt struct {
	Digest    string `json:"digest,omitempty"`
	Recovered bool   `json:"recovered,omitempty"`
	FromRun   string `json:"from_run,omitempty"`
}

// ToolFailure is the detail of a tool's error: what the model is told.
type ToolFailure struct {
	Text    string  `json:"text"`
	Outcome Outcome `json:"outcome"`

	// FromRun is the earlier run that recorded this, after a reset.
	FromRun string `json:"from_run,omitempty"`

	// Drift is the execution digest of the worker's definition, when that is
	// not the one the call was planned for and its arguments are valid still.
	Drift string `json:"drift,omitempty"`

	// Now is how the call runs by that definition, for the person who is asked
	// about it anew: its class, effects, times and attempts are those of the tool
	// as it is. Nil without a Drift, and in histories of before it was recorded.
	Now *RunPlan `json:"now,omitempty"`

	// Problem, in place of Now, is why the call does not run by that definition:
	// the policy denies it.
	Problem *Problem `json:"problem,omitempty"`
}

package contract

// PlannedCall is one tool call of a model's answer, with everything that was
// decided about it on the worker. The workflow moves it and decides nothing
// that depends on a registry, a schema or a policy.
type PlannedCall struct {
	WireID string `json:"wire_id"`        // unique inside the turn; what the tool message answers
	Name   string `json:"name"`           // as the model wrote it
	Tool   string `json:"tool,omitempty"` // the tool it resolved to, when that differs from Name

	// Args is the canonical arguments object: what was validated, is shown,
	// hashed and handed to the tool. Empty when the model's text could not be
	// parsed. Raw is the model's own text, kept only where it differs.
	Args string `json:"args,omitempty"`
	Raw  string `json:"raw,omitempty"`

	// Extra is provider-private JSON of the call: see [Message.Extra].
	Extra string `json:"extra,omitempty"`

	// Problem, if set, is why the call does not run; nothing is scheduled.
	Problem *Problem `json:"problem,omitempty"`

	// Run says how to run it; nil when there is a Problem.
	Run *RunPlan `json:"run,omitempty"`
}

// ToolName is the name of the tool the call resolved to.
func (c PlannedCall) ToolName() string {
	if c.Tool != "" {
		return c.Tool
	}
	return c.Name
}

// ProblemKind says which gate stopped a call.
type ProblemKind string

// The gates.
const (
	ProblemUnknownTool ProblemKind = "unknown_tool"
	ProblemArguments   ProblemKind = "arguments"
	ProblemPolicy      ProblemKind = "policy"
	ProblemTooMany     ProblemKind = "too_many_calls"
	ProblemTooLarge    ProblemKind = "too_large"
	ProblemTruncated   ProblemKind = "truncated" // the model's output was cut
	ProblemKey         ProblemKind = "key"       // an override key that failed
)

// Problem is a call that does not run, and what the model is told.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	Text string      `json:"text"`

	Rule   string `json:"rule,omitempty"`   // the policy rule that denied it
	Policy string `json:"policy,omitempty"` // digest of the policy
}

// RunPlan is how a call runs.
type RunPlan struct {
	Class        Class   `json:"class"`   // resolved, never ClassByEffects
	Effects      Effects `json:"effects"` // never empty
	ParallelSafe bool    `json:"parallel_safe,omitempty"`

	Timeout     Duration `json:"timeout"`
	MaxAttempts int      `json:"max_attempts,omitempty"`

	// Override is the tool's own key material; empty means arguments and
	// occurrence.
	Override string `json:"override,omitempty"`

	// KeyScope widens the key beyond the turn: "session", "namespace" or "".
	KeyScope string `json:"key_scope,omitempty"`

	// Approval, if set, parks the call until a person decides.
	Approval *ApprovalPlan `json:"approval,omitempty"`

	// Rule and Policy name the policy rule that decided and the digest of the
	// policy it stands in; empty without a policy.
	Rule   string `json:"rule,omitempty"`
	Policy string `json:"policy,omitempty"`

	// Counted are the rules with a limit that count this call.
	Counted []string `json:"counted,omitempty"`

	Reconcile bool      `json:"reconcile,omitempty"`  // the tool can say what became of an unknown call
	OnUnknown OnUnknown `json:"on_unknown,omitempty"` // what happens when it stays unknown

	// AskTimeout is how long a person is asked what became of the call, where
	// Approval does not say. Zero is for ever.
	AskTimeout Duration `json:"ask_timeout,omitzero"`

	NoReplay bool `json:"no_replay,omitempty"` // a result recorded before a reset is not reused

	Uninterruptible bool   `json:"uninterruptible,omitempty"`
	MaxConcurrency  int    `json:"max_concurrency,omitempty"` // per tool and step; 0 means no cap of its own
	Poller          bool   `json:"poller,omitempty"`          // identical repeats are expected
	TaskQueue       string `json:"task_queue,omitempty"`

	Summary string `json:"summary,omitempty"` // one line for the Web UI
	Digest  string `json:"digest,omitempty"`  // execution digest of the definition
}

// Entry is what the model is shown for one call of the step before: either a
// reference to the activity that recorded it, or the words the workflow
// decided on.
type Entry struct {
	// Ref is the activity id whose recorded result or error it is.
	Ref string `json:"ref,omitempty"`

	// Text is the literal text, when nothing recorded it.
	Text string `json:"text,omitempty"`

	// Note is appended to a referenced result (a loop warning).
	Note string `json:"note,omitempty"`

	// How says how the outcome became known, when it is not the activity's own
	// word: [HowReconciled] or [HowResolved].
	How string `json:"how,omitempty"`

	// Outcome is what became of the call.
	Outcome Outcome `json:"outcome,omitempty"`

	// Key is the call's idempotency key; empty when it never got one.
	Key string `json:"key,omitempty"`
}

// How an outcome became known: [Entry.How].
const (
	HowReconciled = "reconciled" // by the tool's own look at the outside world
	HowResolved   = "resolved"   // by a person
)

package contract

// Status says how a turn stands or ended.
type Status string

// The statuses. A failed turn ends as a failed workflow execution, a canceled
// one as a canceled execution, all others as a completed one.
const (
	StatusRunning      Status = "running"
	StatusWaiting      Status = "waiting" // parked until a person decides
	StatusCompleted    Status = "completed"
	StatusInterrupted  Status = "interrupted"
	StatusCanceled     Status = "canceled"
	StatusFailed       Status = "failed"
	StatusLimitReached Status = "limit_reached"
	StatusTimedOut     Status = "timed_out"
)

// TurnInput starts a [WorkflowTurn]. What stands here is readable by everyone
// who may read the namespace's histories: put no secret into it. A text that holds
// the value of a variable which the worker's agents declare fails the turn.
type TurnInput struct {
	// Agent is the name of an agent of the worker. Required.
	Agent string `json:"agent"`

	// Messages are the user's, in order. Required, at least one, unless the base
	// ends with a message that a model can answer.
	Messages []Message `json:"messages"`

	// Base is what was said before, model-visible and without the system
	// message. Empty for a turn that stands alone.
	Base []Message `json:"base,omitempty"`

	// BasePacked is Base for a long transcript. At most one of both is set.
	BasePacked *Packed `json:"base_packed,omitempty"`

	// BaseOf says whose history holds what was said before: a session's turn.
	BaseOf *BaseRef `json:"base_of,omitempty"`

	// Session is the session the turn belongs to, if any.
	Session string `json:"session,omitempty"`

	// Limits tighten the agent's. Nil changes nothing.
	Limits *Limits `json:"limits,omitempty"`

	// Stream asks running calls to heartbeat often and carry their progress.
	// Costs a heartbeat every 100 ms; a hosted cluster bills each.
	Stream bool `json:"stream,omitempty"`

	// StepsPerRun continues the turn in a new run after that many steps. If
	// zero, it does so when the run's history has grown long: see
	// docs/effect-log.md.
	StepsPerRun int `json:"steps_per_run,omitempty"`

	// Counted is what the policy's rules with a limit per session counted in
	// the session's earlier turns. Set by the session, never by a person.
	Counted []RuleCount `json:"counted,omitempty"`

	// Carried is set by a run that continues as new, never by a start.
	Carried *Carried `json:"carried,omitempty"`
}

// ReasonSecretInInput begins the reason of a turn that failed because its input
// holds a secret of the worker's environment.
const ReasonSecretInInput = "secret_in_input"

// TurnResult is what a turn returns. It is bounded: the messages stay in the
// history it names.
type TurnResult struct {
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"` // why it did not simply complete
	Text   string `json:"text,omitempty"`   // the final answer, at most [MaxResultText] bytes

	Steps   int          `json:"steps"`
	Usage   Usage        `json:"usage,omitzero"`
	Effects EffectCounts `json:"effects,omitzero"`

	// Tail is the entries of the last step, which no later step carries.
	Tail []Entry `json:"tail,omitempty"`

	// Runs is how many runs the turn took; 0 in results of before it was
	// counted, else at least 1. RunID is the last one.
	Runs  int    `json:"runs,omitempty"`
	RunID string `json:"run_id,omitempty"`

	// Messages are what the turn added to its session's transcript, from the
	// user's message on. Nil outside of a session.
	Messages *Packed `json:"messages,omitempty"`

	// Counted is what the policy's rules with a limit counted in the turn, for
	// its session.
	Counted []RuleCount `json:"counted,omitempty"`
}

// MaxResultText bounds [TurnResult.Text], in bytes of UTF-8.
const MaxResultText = 256 << 10

// EffectCounts counts a turn's calls by outcome.
type EffectCounts struct {
	Done        int `json:"done,omitempty"`
	Failed      int `json:"failed,omitempty"` // failed and timed out
	Unknown     int `json:"unknown,omitempty"`
	NotExecuted int `json:"not_executed,omitempty"` // invalid, denied, expired, not started
}

// Add counts one more call.
func (c EffectCounts) Add(o Outcome) EffectCounts {
	switch o {
	case OutcomeDone:
		c.Done++
	case OutcomeFailed, OutcomeTimedOut:
		c.Failed++
	case OutcomeUnknown, OutcomeInterrupted:
		c.Unknown++
	default:
		c.NotExecuted++
	}
	return c
}

// Sum adds two counts.
func (c EffectCounts) Sum(d EffectCounts) EffectCounts {
	return EffectCounts{
		Done: c.Done + d.Done, Failed: c.Failed + d.Failed,
		Unknown: c.Unknown + d.Unknown, NotExecuted: c.NotExecuted + d.NotExecuted,
	}
}

// StatusReply answers the [QueryStatus] query.
type StatusReply struct {
	Status  Status       `json:"status"`
	Agent   string       `json:"agent"`
	Step    int          `json:"step"`
	Running []string     `json:"running,omitempty"` // activity ids, in source order
	Usage   Usage        `json:"usage,omitzero"`
	Effects EffectCounts `json:"effects,omitzero"`

	Pending []Pending `json:"pending,omitempty"` // calls that wait for a person
	Runs    int       `json:"runs,omitempty"`    // the run under way, from 1
}

// TranscriptReply answers the [QueryTranscript] query. A workflow keeps no
// tool result in memory, so it names what each step's calls came to; the
// words are in the history: `starter show`.
type TranscriptReply struct {
	Steps []TranscriptStep `json:"steps"`
}

// TranscriptStep is one step of a [TranscriptReply].
type TranscriptStep struct {
	Model string  `json:"model"` // activity id of the model call
	Calls []Entry `json:"calls,omitempty"`
}

package contract

// SessionInput starts a [WorkflowSession]: one conversation, whose workflow id
// is the session's id.
type SessionInput struct {
	// ID is the session's id, as its turns are named after it. If empty, the
	// workflow id.
	ID string `json:"id,omitempty"`

	// Agent is the name of an agent of the worker. Required.
	Agent string `json:"agent"`

	// Limits tighten the agent's, for every turn. Nil changes nothing.
	Limits *Limits `json:"limits,omitempty"`

	// Attributes are the search attributes of ours that the cluster is known to
	// have: turns are started with those.
	Attributes []string `json:"attributes,omitempty"`

	// TurnsPerRun continues the session in a new run after that many turns. If
	// zero, it does so when the run's history has grown long.
	TurnsPerRun int `json:"turns_per_run,omitempty"`

	// Carried is set by a run that continues as new, never by a start.
	Carried *CarriedSession `json:"carried,omitempty"`
}

// WhileBusy says what becomes of a message that comes while a turn runs.
type WhileBusy string

// The choices.
const (
	BusyQueue     WhileBusy = ""          // its turn begins when the ones before have ended
	BusyReject    WhileBusy = "reject"    // it is refused
	BusyInterrupt WhileBusy = "interrupt" // the running turn is interrupted, queued ones are not
)

// SendRequest is the input of the update [UpdateSend].
type SendRequest struct {
	// MessageID dedupes: the same id twice is one turn. Required, at most 200
	// bytes.
	MessageID string `json:"message_id"`

	// Agent is with whom the sender means to speak; a session of another agent
	// refuses the message. If empty, whose session it is.
	Agent string `json:"agent,omitempty"`

	Text string `json:"text"` // the user's message; required

	// Attachments are files of the message, see [Message.Attachments].
	Attachments []Attachment `json:"attachments,omitempty"`

	WhileBusy WhileBusy `json:"while_busy,omitempty"`
	Stream    bool      `json:"stream,omitempty"` // see [TurnInput.Stream]
}

// SendReply is what the update returns, at once: the outcome is read from the
// turn.
type SendReply struct {
	TurnID    string `json:"turn_id"`
	Position  int    `json:"position"` // of the turn in its session, from 1
	Duplicate bool   `json:"duplicate,omitempty"`
	Ahead     int    `json:"ahead,omitempty"` // turns that have to end before
}

// SentMessage is a message that a session has taken.
type SentMessage struct {
	MessageID string `json:"message_id"`
	TurnID    string `json:"turn_id"`
	Position  int    `json:"position"`
	Text      string `json:"text,omitempty"` // until its turn has begun
	Stream    bool   `json:"stream,omitempty"`

	Attachments []Attachment `json:"attachments,omitempty"` // until its turn has begun
}

// MaxSeenMessages is how many message ids a session remembers.
const MaxSeenMessages = 1_000

// MaxQueuedMessages bounds the messages that wait for a session's turn.
const MaxQueuedMessages = 100

// CarriedSession is what a session takes along when it continues as new.
type CarriedSession struct {
	Transcript Packed        `json:"transcript,omitzero"`
	Turns      int           `json:"turns"` // positions given so far
	Runs       int           `json:"runs"`
	Seen       []SentMessage `json:"seen,omitempty"` // the last [MaxSeenMessages], without text
	Queue      []SentMessage `json:"queue,omitempty"`
	Counted    []RuleCount   `json:"counted,omitempty"` // by the policy's rules, in all turns
	Usage      Usage         `json:"usage,omitzero"`
	Effects    EffectCounts  `json:"effects,omitzero"`
}

// BaseRef says which history holds what was said before a turn: that of its
// session's run, up to the event that started the turn.
type BaseRef struct {
	WorkflowID string `json:"workflow_id"`
	RunID      string `json:"run_id"`
}

// TurnReceipt is the part of a [TurnResult] that a session keeps in memory;
// the messages stay in history.
type TurnReceipt struct {
	Status  Status       `json:"status"`
	Counted []RuleCount  `json:"counted,omitempty"`
	Usage   Usage        `json:"usage,omitzero"`
	Effects EffectCounts `json:"effects,omitzero"`
}

// SessionReply answers the [QueryStatus] query of a session.
type SessionReply struct {
	Agent   string        `json:"agent"`
	Turns   int           `json:"turns"`
	Running *SentMessage  `json:"running,omitempty"`
	Queue   []SentMessage `json:"queue,omitempty"`
	Last    []SentMessage `json:"last,omitempty"` // the latest messages, newest last
	Usage   Usage         `json:"usage,omitzero"`
	Effects EffectCounts  `json:"effects,omitzero"`
	Runs    int           `json:"runs"`
}

// SessionResult is what a session returns when it is canceled or ended.
type SessionResult struct {
	Turns   int          `json:"turns"`
	Usage   Usage        `json:"usage,omitzero"`
	Effects EffectCounts `json:"effects,omitzero"`
}

// TurnRef names a turn for the activities [ActivityAwaitTurn] and
// [ActivityInterruptTurn].
type TurnRef struct {
	TurnID string `json:"turn_id"`
	Reason string `json:"reason,omitempty"`
}

// PackSessionInput is the input of [ActivityPackSession].
type PackSessionInput struct{}

// Nothing is an activity's empty result: it is an object in history.
type Nothing struct{}

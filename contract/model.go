package contract

import "encoding/json"

// CallModelInput is the input of [ActivityCallModel]. It never holds the
// transcript: the activity folds the run's own history up to its own
// scheduled event. It adds what is new, once.
type CallModelInput struct {
	Agent string `json:"agent"`
	Step  int    `json:"step"` // from 1

	// Entries are what the calls of the step before came to, in source order.
	Entries []Entry `json:"entries,omitempty"`

	// Limits are the start's; the first step merges them into the agent's.
	Limits *Limits `json:"limits,omitempty"`

	// First marks the first model call of a run: see CallModelResult.Scope and
	// Attributes.
	First bool `json:"first,omitempty"`

	// WrapUp asks for a last answer without tools; it says why.
	WrapUp string `json:"wrap_up,omitempty"`

	// Ordinal is the first free ordinal: what the first planned call gets.
	Ordinal int `json:"ordinal,omitempty"`

	RunID   string `json:"run_id,omitempty"`  // see [ToolInput.RunID]
	Lineage bool   `json:"lineage,omitempty"` // see [ToolInput.Lineage]
	Stream  bool   `json:"stream,omitempty"`
}

// Scope says whose calls keys are made for, beside the first run id. It is
// recorded, not asked of the workflow's surroundings: a replay from a saved
// history runs in no namespace and under another workflow id, and has to make
// the keys that people's decisions name.
type Scope struct {
	Namespace  string `json:"namespace"`
	WorkflowID string `json:"workflow_id"`
}

// CallModelResult is what a model call records: the answer, and the plan of
// every call it asks for. The assistant message is put together from it:
// Content, Reasoning, Extra and one tool call per planned call.
type CallModelResult struct {
	Content   string `json:"content,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	Extra     string `json:"extra,omitempty"`

	Calls []PlannedCall `json:"calls,omitempty"`

	Model        string `json:"model,omitempty"` // as the endpoint names it
	FinishReason string `json:"finish_reason,omitempty"`
	RequestID    string `json:"request_id,omitempty"`
	Usage        Usage  `json:"usage,omitzero"`

	// Origin names the endpoint that answered: see [Message.Origin].
	Origin string `json:"origin,omitempty"`

	// Warning is what an operator should know of this answer, for example that
	// the endpoint seems to have cut the prompt.
	Warning string `json:"warning,omitempty"`

	// PromptDigest names the transcript that was answered (hex SHA-256): with
	// scope and step it is the identity of the model call.
	PromptDigest string `json:"prompt_digest,omitempty"`

	// FromRun is the earlier run that recorded this answer, after a reset: the
	// model was not asked again.
	FromRun string `json:"from_run,omitempty"`

	// BaseSaid is how many messages were said before this turn; the first step of
	// a session's turn records it. The messages are in the session's history, at
	// [TurnInput.BaseOf]: a copy in every turn would make a session grow with its
	// square. 0 when the session has just begun.
	BaseSaid int `json:"base_said,omitempty"`

	// Base is that copy, in histories of before BaseSaid.
	Base *Packed `json:"base,omitempty"`

	// Scope is what keys are unique in; the first step of a run records it.
	Scope *Scope `json:"scope,omitempty"`

	// Attributes are the search attributes of ours that the cluster has; the
	// first step of a run records them.
	Attributes []string `json:"attributes,omitempty"`

	// Agent is the resolved agent; the first step of a turn records it.
	Agent *Agent `json:"resolved_agent,omitempty"`
}

// Message is the assistant message of the answer. The arguments of a call
// that could not be parsed are replaced by an empty object, so that no later
// request is refused for them; the model's own text stays in the plan.
func (r CallModelResult) Message() Message {
	m := Message{Role: RoleAssistant, Content: r.Content, Reasoning: r.Reasoning, Extra: r.Extra}
	if r.Reasoning != "" || r.private() {
		m.Origin = r.Origin
	}
	for _, c := range r.Calls {
		args := c.Args
		if args == "" {
			args = placeholder(c.Raw)
		}
		m.ToolCalls = append(m.ToolCalls, ToolCall{ID: c.WireID, Name: c.Name, Args: args, Extra: c.Extra})
	}
	return m
}

// private says that something of the answer belongs to its endpoint alone.
func (r CallModelResult) private() bool {
	for _, c := range r.Calls {
		if c.Extra != "" {
			return true
		}
	}
	return r.Extra != ""
}

// placeholder is what stands for arguments that were refused: the model's own
// text where it is a JSON object, else an empty one.
func placeholder(raw string) string {
	if raw != "" && raw[0] == '{' && json.Valid([]byte(raw)) {
		return raw
	}
	return "{}"
}

// ModelFailure is the detail of a model call's error.
type ModelFailure struct {
	Kind      string `json:"kind,omitempty"`   // of docs/models.md's table
	Status    int    `json:"status,omitempty"` // HTTP status, if there was one
	RequestID string `json:"request_id,omitempty"`
	Asked     int    `json:"asked,omitempty"` // how often the model was asked in this attempt

	// RetryAfter is how long the endpoint asks to wait.
	RetryAfter Duration `json:"retry_after,omitzero"`

	// PromptTokens is our estimate of the prompt, and Window the size it had to
	// fit into, where known: for who shortens a transcript.
	PromptTokens int `json:"prompt_tokens,omitempty"`
	Window       int `json:"window,omitempty"`
}

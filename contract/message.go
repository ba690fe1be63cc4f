package contract

// Role says whose message it is, in OpenAI's terms.
type Role string

// The roles of a transcript.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a transcript as the model sees it, in the shape
// of OpenAI's chat completions.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content,omitempty"`

	// Attachments are the files of a user's message. The transcript has them as
	// text: see [TextAttachments].
	Attachments []Attachment `json:"attachments,omitempty"`

	// ToolCalls are the calls an assistant message asks for, in source order.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`

	// ToolCallID names the call that a tool message answers.
	ToolCallID string `json:"tool_call_id,omitempty"`

	// Reasoning is the model's reasoning text. It is kept in our record, is
	// never part of the answer and is never sent to another provider.
	Reasoning string `json:"reasoning,omitempty"`

	// Extra is provider-private JSON that must be echoed byte for byte to the
	// provider it came from (a string: a raw value would not survive the data
	// converter byte for byte).
	Extra string `json:"extra,omitempty"`

	// Origin names the endpoint that Reasoning and Extra came from. They are
	// sent to no other; without an origin, to none.
	Origin string `json:"origin,omitempty"`
}

// ToolCall is a call as it stands in an assistant message.
type ToolCall struct {
	ID   string `json:"id"`   // unique inside the turn: repeats of a server are rewritten
	Name string `json:"name"` // as the model wrote it
	Args string `json:"args"` // one JSON object

	// Extra is provider-private JSON of this call: see [Message.Extra].
	Extra string `json:"extra,omitempty"`
}

// Usage counts tokens, as far as the endpoint reports them.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens,omitempty"`
	CachedTokens     int `json:"cached_tokens,omitempty"` // part of PromptTokens
	CompletionTokens int `json:"completion_tokens,omitempty"`
	ReasoningTokens  int `json:"reasoning_tokens,omitempty"` // part of CompletionTokens
}

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		PromptTokens:     u.PromptTokens + v.PromptTokens,
		CachedTokens:     u.CachedTokens + v.CachedTokens,
		CompletionTokens: u.CompletionTokens + v.CompletionTokens,
		ReasoningTokens:  u.ReasoningTokens + v.ReasoningTokens,
	}
}

// Total is what a token budget counts: prompt and completion.
func (u Usage) Total() int { return u.PromptTokens + u.CompletionTokens }

package contract

// Quirk names one of the ways in which OpenAI-compatible servers differ. Each
// provider has its own values; [Endpoint.Quirks] overrides them.
type Quirk string

// The quirks. docs/models.md says what each provider's are, and why.
const (
	// QuirkEchoReasoning says whether reasoning text goes back to where it came
	// from: never, always, or even_empty (on every message with tool calls).
	QuirkEchoReasoning Quirk = "echo_reasoning"

	// QuirkPrivateFields says whether the provider's own fields of a message or
	// call (extra_content, reasoning_details …) go back to it: echo or drop.
	QuirkPrivateFields Quirk = "private_fields"

	// QuirkMissingSignature says what a call from elsewhere, which has no
	// signature, is sent with: none, or google's word for it.
	QuirkMissingSignature Quirk = "missing_signature"

	// QuirkToolCallIDs says which ids are legal: any, max_40 characters, or
	// alnum_9 (exactly nine letters and digits). Others are mapped on sending.
	QuirkToolCallIDs Quirk = "tool_call_ids"

	// QuirkTokenLimit is the name of the output limit: max_tokens or
	// max_completion_tokens.
	QuirkTokenLimit Quirk = "token_limit"

	// QuirkStream says whether answers are streamed: on or off.
	QuirkStream Quirk = "stream"

	// QuirkStreamUsage says whether stream_options may be sent, which asks for
	// token counts: ask or omit.
	QuirkStreamUsage Quirk = "stream_usage"

	// QuirkParallelOption says whether parallel_tool_calls may be sent: send or
	// omit.
	QuirkParallelOption Quirk = "parallel_option"

	// QuirkHistoryTools says what a request without tools, whose transcript has
	// tool calls, is sent with: omit (no tools), or declare (the tools of the
	// transcript, with tool_choice none).
	QuirkHistoryTools Quirk = "history_tools"

	// QuirkUserAfterTool says whether a user message may follow a tool result:
	// allow, or bridge (an assistant message is put between).
	QuirkUserAfterTool Quirk = "user_after_tool"

	// QuirkAuth is how the key is sent: bearer or api_key_header.
	QuirkAuth Quirk = "auth"

	// QuirkOrigin says what private fields belong to: the provider, or the
	// model, where a router hands on to several providers.
	QuirkOrigin Quirk = "origin"
)

// QuirkChoice is a quirk with its legal values; the first is what an unknown
// provider gets.
type QuirkChoice struct {
	Quirk  Quirk
	Values []string
}

// QuirkChoices lists all quirks.
func QuirkChoices() []QuirkChoice {
	return []QuirkChoice{
		{QuirkEchoReasoning, []string{"never", "always", "even_empty"}},
		{QuirkPrivateFields, []string{"echo", "drop"}},
		{QuirkMissingSignature, []string{"none", "google"}},
		{QuirkToolCallIDs, []string{"any", "max_40", "alnum_9"}},
		{QuirkTokenLimit, []string{"max_tokens", "max_completion_tokens"}},
		{QuirkStream, []string{"on", "off"}},
		{QuirkStreamUsage, []string{"ask", "omit"}},
		{QuirkParallelOption, []string{"send", "omit"}},
		{QuirkHistoryTools, []string{"omit", "declare"}},
		{QuirkUserAfterTool, []string{"allow", "bridge"}},
		{QuirkAuth, []string{"bearer", "api_key_header"}},
		{QuirkOrigin, []string{"provider", "model"}},
	}
}

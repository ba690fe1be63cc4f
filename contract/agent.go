package contract

// Agent is a resolved agent as the first model call of a turn records it.
// Later steps use the recorded one, so a deploy does not change a turn in
// flight. It holds no secret: keys are named by their environment variable.
type Agent struct {
	Name         string `json:"name"`
	Model        string `json:"model"` // provider/model
	Instructions string `json:"instructions,omitempty"`

	// Tools are the names the model is shown, matched by name against the
	// tools of the worker that makes the call.
	Tools []string `json:"tools,omitempty"`

	Endpoint Endpoint `json:"endpoint,omitzero"`

	Temperature     *float64 `json:"temperature,omitempty"`
	ReasoningEffort string   `json:"reasoning_effort,omitempty"`
	ContextWindow   int      `json:"context_window,omitempty"`

	Limits Limits `json:"limits,omitzero"`

	// OnUnknown is what happens to calls whose outcome is unknown, for tools
	// that do not say so themselves.
	OnUnknown OnUnknown `json:"on_unknown,omitempty"`

	// ApprovalTimeout is how long a call waits for a person, where neither the
	// tool nor the policy says. Zero is for ever.
	ApprovalTimeout Duration `json:"approval_timeout,omitzero"`

	// Approvers are who may decide, where neither the tool nor the policy says.
	// Empty is anyone.
	Approvers []string `json:"approvers,omitempty"`

	// Policy says which calls may run. Nil lets every call pass to the tool's
	// own approval.
	Policy *Policy `json:"policy,omitempty"`

	// Digest names this version of the agent: hex SHA-256 of its definition.
	Digest string `json:"digest,omitempty"`
}

// Endpoint overrides where an agent's model is called.
type Endpoint struct {
	BaseURL   string `json:"base_url,omitempty" yaml:"base_url"`
	APIKeyEnv string `json:"api_key_env,omitempty" yaml:"api_key_env"` // the variable's name, never its value

	// Provider says whose quirks and defaults apply. If empty, the one that the
	// model's name begins with.
	Provider string `json:"provider,omitempty" yaml:"provider"`

	// APIVersion is sent as the query parameter api-version: Azure's
	// deployment URLs want one.
	APIVersion string `json:"api_version,omitempty" yaml:"api_version"`

	// EchoReasoning says whether reasoning text goes back to the endpoint:
	// "never", "always", "even_empty" or "" (the provider's default). It is
	// short for the quirk of that name.
	EchoReasoning string `json:"echo_reasoning,omitempty" yaml:"echo_reasoning"`

	// ParallelToolCalls, if not nil, is sent as parallel_tool_calls where there
	// are tools and the endpoint takes the option.
	ParallelToolCalls *bool `json:"parallel_tool_calls,omitempty" yaml:"parallel_tool_calls"`

	// FirstByteTimeout is how long an answer may take to begin: a server that
	// loads a model, or a model that reasons, needs minutes. Zero is 5 min.
	FirstByteTimeout Duration `json:"first_byte_timeout,omitzero" yaml:"first_byte_timeout"`

	// IdleTimeout is how long an answer that has begun may pause. Zero is 1 min.
	IdleTimeout Duration `json:"idle_timeout,omitzero" yaml:"idle_timeout"`

	// Quirks override the provider's: see [QuirkChoices].
	Quirks map[Quirk]string `json:"quirks,omitempty" yaml:"quirks"`
}

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

	// EchoReasoning says whether reasoning text goes back to the endpoint:
	// "never", "always", "even_empty" or "" (the provider's default).
	EchoReasoning string `json:"echo_reasoning,omitempty" yaml:"echo_reasoning"`
}

package contract

import "encoding/json"

// ReconcileInput is the input of a tool's reconciling activity: a read of the
// outside world that is to say what became of a call.
type ReconcileInput struct {
	Args    string `json:"args"`
	Key     string `json:"key"`
	Ordinal int    `json:"ordinal"`
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`

	Timeout Duration `json:"timeout,omitzero"`
}

// ReconcileResult is what it records. Text and JSON are the call's result when
// it happened, in the shape of a [ToolResult].
type ReconcileResult struct {
	Verdict Verdict         `json:"verdict"`
	Text    string          `json:"text,omitempty"`
	JSON    json.RawMessage `json:"json,omitempty"`
	Digest  string          `json:"digest,omitempty"`
	Note    string          `json:"note,omitempty"` // why it cannot tell

	Truncated bool   `json:"truncated,omitempty"`
	Blob      string `json:"blob,omitempty"`
	Bytes     int    `json:"bytes,omitempty"`
}

// ReconcileReceipt is the part of a [ReconcileResult] that a workflow keeps.
type ReconcileReceipt struct {
	Verdict Verdict `json:"verdict"`
	Digest  string  `json:"digest,omitempty"`
	Note    string  `json:"note,omitempty"`
}

// PlanCallInput is the input of [ActivityPlanCall]: the gates for a call that
// is made by code.
type PlanCallInput struct {
	Agent   string `json:"agent,omitempty"` // whose tools and policy; empty: all tools, no policy
	Tool    string `json:"tool"`
	Ordinal int    `json:"ordinal"`
	First   bool   `json:"first,omitempty"` // of the run: asks for the scope

	// Args are the arguments as JSON text, Value as a value: one of both.
	Args  string `json:"args,omitempty"`
	Value Value  `json:"value,omitzero"`
}

// Text is the arguments as JSON text.
func (in PlanCallInput) Text() string {
	if in.Args == "" {
		return in.Value.JSON
	}
	return in.Args
}

// PlanCallResult is what it records.
type PlanCallResult struct {
	Call  PlannedCall `json:"call"`
	Scope *Scope      `json:"scope,omitempty"`
}

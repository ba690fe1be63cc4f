package contract

import "encoding/json"

// Policy says which of an agent's tool calls may run. It is recorded with the
// agent in the first step of a turn and decides every call of that turn; how
// it is evaluated stands in internal/policy, how it is written in
// docs/policy.md.
type Policy struct {
	// Default is what becomes of a call that no rule matches: PolicyAllow or
	// PolicyDeny.
	Default PolicyAction `json:"default"`

	// Rules are tried in order; the first that matches decides.
	Rules []PolicyRule `json:"rules,omitempty"`

	// Digest names this version of the policy: 16 hex digits of the SHA-256 of
	// all of the above. A worker that does not get the same digest from what it
	// reads (it is older than the policy) denies every call.
	Digest string `json:"digest,omitempty"`
}

// PolicyAction is what a policy says of a call.
type PolicyAction string

// The actions. An unknown one denies.
const (
	PolicyAllow           PolicyAction = "allow"
	PolicyDeny            PolicyAction = "deny"
	PolicyRequireApproval PolicyAction = "require_approval"
)

// PolicyDefaultRule stands in place of a rule's id where none matched and the
// policy's default decided. No rule may have it as its id.
const PolicyDefaultRule = "default"

// PolicyRule is one rule.
type PolicyRule struct {
	ID   string     `json:"id"` // unique in its policy
	When PolicyWhen `json:"when"`
	Then PolicyThen `json:"then"`
}

// PolicyWhen is which calls a rule is about: all that is given must hold, and
// of a list one item. At least one part is given.
type PolicyWhen struct {
	Tools   []string       `json:"tools,omitempty"`   // names with * (any text) and ? (one character)
	Effects []Effects      `json:"effects,omitempty"` // of the tool
	Agents  []string       `json:"agents,omitempty"`  // names with * and ?
	Args    []ArgCondition `json:"args,omitempty"`

	// OverLimit holds for the calls beyond a number of earlier ones.
	OverLimit *CallLimit `json:"over_limit,omitempty"`
}

// ArgCondition is a condition on one value of a call's arguments. All that is
// given must hold. A value that is not there, or of another type than the
// condition's, makes it false; only Absent looks at whether it is there.
type ArgCondition struct {
	// Pointer is a JSON Pointer (RFC 6901) into the canonical arguments.
	Pointer string `json:"pointer"`

	// Equals and the items of OneOf are JSON scalars. Numbers are compared by
	// value, exactly: 1 is 1.0, and 9007199254740993 is not …992.
	Equals json.RawMessage   `json:"equals,omitempty"`
	OneOf  []json.RawMessage `json:"one_of,omitempty"`

	// Contains is a part of a text, or an item of an array. A JSON scalar.
	Contains json.RawMessage `json:"contains,omitempty"`

	// Regex is an RE2 expression that the whole text must match.
	Regex string `json:"regex,omitempty"`

	// The comparisons are for numbers, exact like Equals. Empty is none.
	GT  json.Number `json:"gt,omitempty"`
	GTE json.Number `json:"gte,omitempty"`
	LT  json.Number `json:"lt,omitempty"`
	LTE json.Number `json:"lte,omitempty"`

	// Absent, if true, holds when the pointer leads nowhere; if false, when it
	// leads to a value. A null is a value.
	Absent *bool `json:"absent,omitempty"`
}

// CallLimit is a number of calls. Zero is no limit; at least one is given, and
// one that is passed is enough.
type CallLimit struct {
	PerTurn    int `json:"per_turn,omitempty"`
	PerSession int `json:"per_session,omitempty"` // all turns of the session, this one included
}

// PolicyThen is what a rule says of the calls it matches.
type PolicyThen struct {
	Action PolicyAction `json:"action"`
	Reason string       `json:"reason,omitempty"` // of a denial, for the model

	// Of PolicyRequireApproval. What is empty is as the tool says, else as the
	// agent says.
	Approvers []string `json:"approvers,omitempty"`
	Timeout   Duration `json:"timeout,omitzero"`
	Message   string   `json:"message,omitempty"` // for the person who decides
}

// RuleCount is how many calls a rule with a limit has counted.
type RuleCount struct {
	Rule  string `json:"rule"`
	Calls int    `json:"calls"`
}

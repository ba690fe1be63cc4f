package contract

import "time"

// ApprovalPlan says that a call needs a person's yes before it runs.
type ApprovalPlan struct {
	Reason    string   `json:"reason,omitempty"`    // why, for the person
	Approvers []string `json:"approvers,omitempty"` // who may decide; empty: anyone
	Timeout   Duration `json:"timeout,omitzero"`    // until it expires; zero: never
	Message   string   `json:"message,omitempty"`   // the policy's own words
	Rule      string   `json:"rule,omitempty"`      // the policy rule that asks
}

// DecideRequest is the input of the update [UpdateDecide]. Key and Digest are
// both required: a decision is for exactly one call as it was shown.
type DecideRequest struct {
	Key     string `json:"key"`
	Digest  string `json:"digest"`
	Approve bool   `json:"approve"`
	By      string `json:"by"` // who decides, as claimed; required
	Comment string `json:"comment,omitempty"`
}

// DecideReply is what the update returns: the decision that stands.
type DecideReply struct {
	Decision Decided `json:"decision"`

	// Held says that no such call waits yet: the decision is kept for the one
	// call that has this key and digest.
	Held bool `json:"held,omitempty"`
}

// Decided is a decision that stands.
type Decided struct {
	Key     string    `json:"key"`
	Digest  string    `json:"digest"`
	Approve bool      `json:"approve"`
	Expired bool      `json:"expired,omitempty"`
	By      string    `json:"by,omitempty"`
	Comment string    `json:"comment,omitempty"`
	At      time.Time `json:"at"`
	Used    bool      `json:"used,omitempty"` // its one execution has begun
}

// HeldDecision is a decision for a call that is not planned yet.
type HeldDecision struct {
	Request DecideRequest `json:"request"`
	At      time.Time     `json:"at"`
}

// HeldVerdict is a verdict for a call that is not known to be unknown yet: a
// reset applies it again before its question.
type HeldVerdict struct {
	Request ResolveRequest `json:"request"`
	At      time.Time      `json:"at"`
}

// MaxHeldDecisions bounds the decisions a turn holds for calls to come.
const MaxHeldDecisions = 64

// Verdict settles a call whose outcome is unknown.
type Verdict string

// The verdicts, of a reconciling tool or of a person.
const (
	VerdictHappened     Verdict = "happened"
	VerdictDidNotHappen Verdict = "did_not_happen"
	VerdictCannotTell   Verdict = "cannot_tell" // it stays unknown
)

// ResolveRequest is the input of the update [UpdateResolve].
type ResolveRequest struct {
	Key     string  `json:"key"`
	Verdict Verdict `json:"verdict"`
	Value   string  `json:"value,omitempty"` // what happened, as the model shall read it
	By      string  `json:"by"`              // who says so, as claimed; required
	Comment string  `json:"comment,omitempty"`
}

// ResolveReply is what the update returns: the verdict that stands.
type ResolveReply struct {
	Key     string    `json:"key"`
	Verdict Verdict   `json:"verdict"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// InterruptRequest is the input of the update [UpdateInterrupt].
type InterruptRequest struct {
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// InterruptReply is what the update returns, at once: the turn's end follows.
type InterruptReply struct {
	Status Status `json:"status"`
}

// PendingKind says what a call waits for.
type PendingKind string

// The kinds.
const (
	PendingApproval PendingKind = "approval" // the update decide
	PendingUnknown  PendingKind = "unknown"  // the update resolve
)

// Pending is a call that waits for a person, as the status query lists it.
type Pending struct {
	Kind    PendingKind `json:"kind"`
	Key     string      `json:"key"`
	Digest  string      `json:"digest"`
	Ordinal int         `json:"ordinal"`
	Tool    string      `json:"tool"`
	Args    string      `json:"args"` // canonical: exactly what will run
	Class   Class       `json:"class"`
	Effects Effects     `json:"effects"`

	Reason    string     `json:"reason,omitempty"`
	Approvers []string   `json:"approvers,omitempty"`
	Rule      string     `json:"rule,omitempty"`
	Asked     time.Time  `json:"asked"`
	Expires   *time.Time `json:"expires,omitempty"`
}

// OnUnknown says what happens to a call whose outcome is unknown.
type OnUnknown string

// The choices.
const (
	OnUnknownTellModel OnUnknown = ""          // the model is told
	OnUnknownAskHuman  OnUnknown = "ask_human" // the call waits for the update resolve
)

package contract

import "time"

// Packed is a transcript that travels in an input: the gzipped JSON of a
// [PackedTranscript], or where a blob store keeps it when it is larger than
// [MaxPackedBytes]. Only a worker unpacks it.
type Packed struct {
	Gzip  []byte `json:"gzip,omitempty"`
	Blob  string `json:"blob,omitempty"`
	Bytes int    `json:"bytes,omitempty"` // size of the JSON, unpacked
}

// MaxPackedBytes bounds [Packed.Gzip]: a workflow's input over 2 MiB wedges
// the run for ever, and JSON writes bytes a third longer.
const MaxPackedBytes = 1 << 20

// PackedTranscript is what a [Packed] holds.
type PackedTranscript struct {
	// Agent is the turn's resolved agent; nil in a base that a new turn starts
	// from.
	Agent *Agent `json:"agent,omitempty"`

	// Base is how many of the messages were said before this turn.
	Base int `json:"base,omitempty"`

	// Messages are model-visible, without the system message. Tool results are
	// cut to what the model reads of them.
	Messages []Message `json:"messages"`
}

// Carried is what a turn takes along when it continues as new: all of its
// state that a later decision can depend on. A start never sets it.
type Carried struct {
	Transcript Packed `json:"transcript"`

	Runs  int       `json:"runs"` // how many runs of this turn came before
	Step  int       `json:"step"` // the last step done
	Began time.Time `json:"began"`

	Model  string `json:"model,omitempty"` // the agent's, for summaries
	Limits Limits `json:"limits"`          // as resolved

	Calls CarriedTools `json:"calls"`
	Loop  CarriedLoop  `json:"loop,omitzero"`

	Usage   Usage        `json:"usage,omitzero"`
	Effects EffectCounts `json:"effects,omitzero"`

	WrapUp string `json:"wrap_up,omitempty"`
	Ending Status `json:"ending,omitempty"`

	Parked Duration `json:"parked,omitzero"` // time spent waiting for people

	// Counted is what the policy's rules with a limit counted in this turn.
	Counted []RuleCount `json:"counted,omitempty"`

	// Told is what the turn's search attributes say, nil while it wrote none.
	// They go on with the turn.
	Told *CarriedTold `json:"told,omitempty"`
}

// CarriedTold is what was last written into a turn's search attributes.
type CarriedTold struct {
	Known   []string `json:"known"` // those that the cluster has
	Pending int      `json:"pending"`
	Status  Status   `json:"status"`
}

// CarriedSlot is how the occurrences of one identity (tool and arguments)
// stand, one letter each: d definite, u unknown, f free, c cleared (it was unknown
// and did not happen).
type CarriedSlot struct {
	ID     string `json:"id"`
	States string `json:"states"`
}

// CarriedShared is the outcome that later calls of an override key share.
type CarriedShared struct {
	Key     string  `json:"key"`
	Outcome Outcome `json:"outcome"`
	Text    string  `json:"text,omitempty"`    // bounded: what the model is shown
	Cleared bool    `json:"cleared,omitempty"` // settled as "did not happen": the next call may run

	// Again says that the outcome is unknown, and was of a class that runs again
	// under its key. A call that has become AtMostOnce does not.
	Again bool `json:"again,omitempty"`

	// Value is the result itself, for code that calls tools.
	Value *ToolResult `json:"value,omitempty"`
}

// CarriedLoop is where the watch for repeats stands.
type CarriedLoop struct {
	Last  string `json:"last,omitempty"`
	Count int    `json:"count,omitempty"`

	Before string `json:"before,omitempty"`
	Turns  int    `json:"turns,omitempty"` // calls in a row that were the one before the last again
}

// CarriedTools is what is carried of the calls made so far, by a turn and by
// a workflow of a user's own (workflows.Tools).
type CarriedTools struct {
	Ordinal int             `json:"ordinal"` // the last one given
	Slots   []CarriedSlot   `json:"slots,omitempty"`
	Shared  []CarriedShared `json:"shared,omitempty"`

	// Lineage says that a run before the next comes from a reset.
	Lineage bool `json:"lineage,omitempty"`

	Decided      []Decided      `json:"decided,omitempty"`
	Held         []HeldDecision `json:"held,omitempty"`
	Resolved     []ResolveReply `json:"resolved,omitempty"`
	HeldVerdicts []HeldVerdict  `json:"held_verdicts,omitempty"`

	// HeldResolves is HeldVerdicts in histories of before their time was carried.
	HeldResolves []ResolveRequest `json:"held_resolves,omitempty"`
}

// CarryInput is the input of [ActivityCarry]: the transcript of the run so
// far, its last step included, is packed for the run that follows.
type CarryInput struct {
	Step    int     `json:"step"` // the last step done
	Entries []Entry `json:"entries,omitempty"`
	Shared  []Entry `json:"shared,omitempty"` // outcomes to resolve into texts, in order

	// OnlyNew packs what this turn said, without its base: for its session.
	OnlyNew bool `json:"only_new,omitempty"`
}

// CarryResult is what [ActivityCarry] records.
type CarryResult struct {
	Transcript Packed `json:"transcript"`

	// Shared are the texts of CarryInput.Shared, in order.
	Shared []string `json:"shared,omitempty"`

	// Counted is what the policy's rules with a limit counted in this turn, in
	// the order of the rules' first calls.
	Counted []RuleCount `json:"counted,omitempty"`

	// TooLarge says that the transcript fits no input and the worker has no
	// blob store: the turn has to stay in its run.
	TooLarge bool `json:"too_large,omitempty"`
}

package replay

import (
	"fmt"
	"strings"
)

// Verdict says what a replay came to.
type Verdict string

// The verdicts.
const (
	Replays    Verdict = "replays"    // this code takes the recorded path
	Breaks     Verdict = "breaks"     // this code takes another path: its next workflow task would fail
	NotOurs    Verdict = "not_ours"   // a workflow type that this binary does not register; nothing was tried
	Unreadable Verdict = "unreadable" // its payloads, or its history, could not be read; nothing was tried
)

// Finding is the verdict on one run.
type Finding struct {
	WorkflowID string  `json:"workflow_id"`
	RunID      string  `json:"run_id"`
	Type       string  `json:"workflow_type"`
	File       string  `json:"file,omitempty"` // the saved history it was read from
	Verdict    Verdict `json:"verdict"`
	Events     int     `json:"events"`

	// Error is the SDK's or server's own word on why it does not replay, Where
	// the place, Advice what to do. Empty for a run that replays.
	Error  string `json:"error,omitempty"`
	Where  *Where `json:"where,omitempty"`
	Advice string `json:"advice,omitempty"`
}

// Where is the place where the code leaves the recorded path: a workflow task
// and what it recorded.
type Where struct {
	Event int64  `json:"event_id"`   // the first event that the code does not account for
	Type  string `json:"event_type"` // of that event
	What  string `json:"what"`       // in words: an activity by id and type, for example
	Task  int64  `json:"task_event"` // the WorkflowTaskCompleted event whose commands differ; 0 if the last task has not completed

	// Reset is the WorkflowTaskCompleted event that a reset to leads away from
	// the difference: Task, or an earlier one. 0 like Task.
	Reset int64 `json:"reset_event"`
}

// String is the place in one line.
func (w Where) String() string {
	s := fmt.Sprintf("event %d, %s", w.Event, w.Type)
	if w.What != "" {
		s += " (" + w.What + ")"
	}
	return s
}

// name is how a run is named to people, and taken as an argument.
func (f Finding) name() string {
	if f.WorkflowID == "" {
		return f.File
	}
	return f.WorkflowID + "/" + f.RunID
}

// adviceOnBreak is what to do about a run that breaks, with the commands. A
// reset makes the differing task anew; what it had begun is not repeated, since
// tools and the model are asked by what the history holds.
func adviceOnBreak(f Finding) string {
	run := "--workflow-id " + shellWord(f.WorkflowID) + " --run-id " + f.RunID
	reset := "let it end on the old code"
	if f.Where != nil && f.Where.Reset > 0 {
		reset = fmt.Sprintf("after the deploy, go on from before the difference: temporal workflow reset %s --event-id %d --reason deploy", run, f.Where.Reset)
	}
	return strings.Join([]string{
		"keep the old path for runs like this one with workflow.GetVersion",
		"pin: keep a worker of the old code up under a TURNKEEL_BUILD_ID, and hold the run on it: temporal workflow update-options " + run +
			" --versioning-override-behavior pinned --versioning-override-deployment-name DEPLOYMENT --versioning-override-build-id OLD_BUILD",
		"reset: " + reset,
	}, "; or ")
}

// shellWord quotes what a shell would not take as one word.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

package agenttest

import (
	"fmt"
	"slices"
	"strings"

	historypb "go.temporal.io/api/history/v1"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// Arrival is one request that reached the service behind a tool.
type Arrival struct {
	// Key is the idempotency key that came with it.
	Key string

	// Deduplicated says that the service knew the key and did nothing. A list of
	// what took effect has none of these.
	Deduplicated bool
}

// arrived counts what came under one key.
type arrived struct{ requests, applied int }

func countArrivals(all []Arrival) map[string]arrived {
	counts := map[string]arrived{}
	for _, a := range all {
		n := counts[a.Key]
		n.requests++
		if !a.Deduplicated {
			n.applied++
		}
		counts[a.Key] = n
	}
	return counts
}

// crashCheck holds turns against what arrived.
type crashCheck struct {
	report  *CrashReport
	arrived map[string]arrived
	known   map[string]bool // keys that an effect log has
	outside map[string]bool // tools of which anything arrived
	last    string          // what the model was told last of a call
	unseen  int             // calls with an effect that are done, of tools of which nothing arrived
}

func (c *crashCheck) problem(format string, args ...any) {
	c.report.problem(fmt.Sprintf(format, args...))
}

// problem adds one, once: a fault that all worker processes have is one fault.
func (r *CrashReport) problem(text string) {
	if !slices.Contains(r.Problems, text) {
		r.Problems = append(r.Problems, text)
	}
}

// outcome reads a turn's last run.
func (r *crashRun) outcome(turn *crashTurn) (Outcome, *fold.Run, error) {
	out := Outcome{History: &historypb.History{Events: turn.events}}
	if turn.err != nil {
		return out, nil, turn.err
	}
	run, err := fold.Build(turn.events, nil)
	if err != nil {
		return out, nil, err
	}
	out.Turn = r.bench.Turns.Turn(r.bench.t.Context(), turn.id, run.RunID)
	if run.Result != nil {
		out.Result = *run.Result
	}
	out.Effects = run.Effects()
	out.Messages, err = run.Transcript()
	return out, run, err
}

// turn checks one turn that has ended.
func (c *crashCheck) turn(id string, run *fold.Run, out Outcome) {
	if run.Status != contract.StatusCompleted {
		c.problem("turn %s ended as %s: %s", id, run.Status, out.Result.Reason)
		return
	}
	c.report.Completed++
	told, before := toldOf(run, out.Messages), c.report.Calls.Unknown
	for i, e := range out.Effects {
		c.effect(id, e, told[i])
	}
	for _, text := range told {
		c.last = text
	}
	if n := c.report.Calls.Unknown - before; out.Result.Effects.Unknown != n {
		c.problem("turn %s counts %d unknown calls, its effect log %d", id, out.Result.Effects.Unknown, n)
	}
}

// toldOf is what the model was told of each call, in the order of the effect
// log.
func toldOf(run *fold.Run, messages []contract.Message) []string {
	texts := map[string]string{}
	for _, m := range messages {
		if m.Role == contract.RoleTool {
			texts[m.ToolCallID] = m.Content
		}
	}
	var told []string
	for _, s := range run.Steps {
		if s.Answer == nil {
			continue
		}
		for _, call := range s.Answer.Calls {
			told = append(told, texts[call.WireID])
		}
	}
	return told
}

// effect checks one line of an effect log.
func (c *crashCheck) effect(turn string, e fold.Effect, told string) {
	c.known[e.Key] = true
	n := c.arrived[e.Key]
	calls := &c.report.Calls
	calls.count(e)
	line := fmt.Sprintf("turn %s, %s (%s, key %.8s)", turn, e.Tool, e.Class, e.Key)
	switch {
	case e.Derived:
		c.problem("%s: the turn ended without a word on it", line)
	case e.Class == contract.ClassAtMostOnce && n.requests > 1:
		c.report.Duplicates += n.requests - 1
		c.problem("%s arrived %d times", line, n.requests)
	case e.Class == contract.ClassKeyed && n.applied > 1:
		c.report.Duplicates += n.applied - 1
		c.problem("%s was applied %d times", line, n.applied)
	}
	switch e.Outcome {
	case contract.OutcomeDone:
		switch {
		case e.Effects == contract.EffectsNone || n.applied > 0:
		case c.outside[e.Tool]:
			c.problem("%s is said to be done and never arrived", line)
		default:
			c.unseen++ // the tool may have no service behind it
		}
	case contract.OutcomeUnknown, contract.OutcomeInterrupted:
		if !saysUnknown(told) {
			c.problem("%s is unknown, and the model was told %q", line, told)
		}
	case contract.OutcomeFailed, contract.OutcomeTimedOut: // the tool's own word
	default:
		if n.requests > 0 {
			c.problem("%s is said to be %s and arrived %d times", line, e.Outcome, n.requests)
		}
	}
}

// saysUnknown says whether a text tells that an effect may have happened.
func saysUnknown(text string) bool {
	return strings.Contains(text, "may or may not have taken effect") ||
		strings.Contains(text, "may have taken effect") || strings.Contains(text, "outcome is unknown")
}

// ledger checks that what arrived and what turns know go together at all: a
// ledger that is not the tools' own proves nothing.
func (c *crashCheck) ledger() {
	if calls := c.report.Calls; c.report.Completed > 0 && calls.Done+calls.Unknown == 0 {
		c.problem("not one call was done, so nothing is proved; the model was told %q", c.last)
	}
	if len(c.arrived) == 0 && c.unseen > 0 {
		c.problem("the ledger has no arrival, and %d calls with an effect are said to be done: is it the ledger of the service that the tools call?", c.unseen)
	}
	for key, n := range c.arrived {
		switch {
		case key == "":
			c.problem("%d requests arrived without a key: a tool hands its service call.IdempotencyKey()", n.requests)
		case !c.known[key]:
			c.problem("key %.8s arrived %d times and stands in no effect log", key, n.requests)
		}
	}
}

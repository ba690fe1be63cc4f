package turnkeel

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/turnkeel/turnkeel/contract"
)

// EventKind says what an [Event] is about. A reader must accept a kind it does
// not know.
type EventKind string

// The kinds. EventText, EventProgress, EventRestarted and EventRetrying are
// seen while they happen and nowhere in history.
const (
	EventStep         EventKind = "step"          // the model is called
	EventText         EventKind = "text"          // it says more: Text
	EventAnswer       EventKind = "answer"        // it has answered: Text, whole
	EventToolStarted  EventKind = "tool_started"  //
	EventProgress     EventKind = "progress"      // a tool shows how far it is: Progress
	EventToolFinished EventKind = "tool_finished" // Text is its result or error, bounded
	EventToolNotRun   EventKind = "tool_not_run"  // a call that was asked for and never began: Outcome, and Text says why
	EventRestarted    EventKind = "restarted"     // a call begins anew: drop the text and progress shown of it
	EventRetrying     EventKind = "retrying"      // an attempt failed: Text says of what
	EventWaiting      EventKind = "waiting"       // a call waits for a person: Pending
	EventDecided      EventKind = "decided"       // a person said it: Verdict, By, Key, and Text if there is a comment
	EventContinued    EventKind = "continued"     // the turn goes on in a new run: RunID
	EventDone         EventKind = "done"          // the turn has ended: Status and Text
)

// Event is something that happened in a turn.
type Event struct {
	Kind  EventKind `json:"kind"`
	Time  time.Time `json:"time"`
	RunID string    `json:"run_id,omitempty"`

	Step     int    `json:"step,omitempty"`
	Activity string `json:"activity,omitempty"` // activity id

	Tool string `json:"tool,omitempty"`

	// Ordinal is the call's number in the turn, from 1, of a call that was not run.
	Ordinal int `json:"ordinal,omitempty"`

	Args string `json:"args,omitempty"`
	Key  string `json:"key,omitempty"`

	Text     string          `json:"text,omitempty"`
	Progress json.RawMessage `json:"progress,omitempty"`
	Calls    int             `json:"calls,omitempty"` // how many the answer asks for
	Tokens   int             `json:"tokens,omitempty"`

	Attempt int           `json:"attempt,omitempty"`
	Took    time.Duration `json:"took,omitempty"`

	// Of a call that was not run: what became of it, such as "denied" or
	// "invalid", the gate that stopped it, if one did, and the policy's rule.
	Outcome contract.Outcome     `json:"outcome,omitempty"`
	Problem contract.ProblemKind `json:"problem,omitempty"`
	Rule    string               `json:"rule,omitempty"`

	// Verdict is "approved" or "denied" of a call that waited for a yes, else a
	// [contract.Verdict]. By is who said so, as claimed.
	Verdict string `json:"verdict,omitempty"`
	By      string `json:"by,omitempty"`

	Failed  bool              `json:"failed,omitempty"` // of a tool or model call that ended in an error
	Status  contract.Status   `json:"status,omitempty"`
	Pending *contract.Pending `json:"pending,omitempty"`
}

// Events follows the turn from its beginning, through all its runs, and ends
// with EventDone or the first error. Text and progress come only if the turn
// was started to stream; then the server is asked every 100 ms. Leaving early
// and losing the connection harm nothing, and any number of readers may follow
// one turn. A turn that was started by another process is followed with
// [Client.Turn].
func (t *Turn) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		f := newFollower(ctx, t)
		defer func() {
			stop()
			f.wait()
		}()
		for {
			select {
			case e, open := <-f.events:
				if !open {
					if f.err != nil {
						yield(Event{}, f.err)
					}
					return
				}
				if !yield(e, nil) {
					return
				}
			case <-ctx.Done():
				yield(Event{}, ctx.Err())
				return
			}
		}
	}
}

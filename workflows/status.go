package workflows

import (
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
)

// registerQueries answers from outside. Queries write nothing into history.
func (t *turn) registerQueries(ctx workflow.Context) error {
	err := workflow.SetQueryHandlerWithOptions(ctx, contract.QueryStatus, func() (contract.StatusReply, error) {
		return t.status(), nil
	}, workflow.QueryHandlerOptions{Description: "How the turn stands: status, step, what runs, tokens used."})
	if err != nil {
		return err
	}
	return workflow.SetQueryHandlerWithOptions(ctx, contract.QueryTranscript, func() (contract.TranscriptReply, error) {
		return contract.TranscriptReply{Steps: t.steps}, nil
	}, workflow.QueryHandlerOptions{Description: "What each step's calls came to, by activity id. The words are in the history: starter show."})
}

func (t *turn) status() contract.StatusReply {
	status := t.result.Status
	if status == contract.StatusRunning && len(t.calls.people.pending) > 0 {
		status = contract.StatusWaiting
	}
	return contract.StatusReply{
		Status:  status,
		Agent:   t.in.Agent,
		Step:    t.step,
		Running: t.atWork(),
		Usage:   t.result.Usage,
		Effects: t.result.Effects,
		Pending: t.calls.people.list(),
		Runs:    t.runs,
	}
}

// tell updates the details that the Web UI shows for the turn. It writes no
// event: the text is served to whoever asks, and needs a live worker.
func (t *turn) tell(ctx workflow.Context) {
	var b strings.Builder
	b.WriteString(fmt.Sprintf("**%s** · agent `%s` · step %d", t.status().Status, t.in.Agent, t.step))
	if t.result.Reason != "" {
		b.WriteString(" · " + oneLine(contract.BoundText(t.result.Reason, maxReasonRunes)))
	}
	b.WriteString("\n\n")
	for _, p := range t.calls.people.list() {
		b.WriteString(waitsFor(t.calls.scope, p))
	}
	for _, id := range t.atWork() {
		b.WriteString("- running `" + id + "`\n")
	}
	e := t.result.Effects
	b.WriteString(fmt.Sprintf("\ncalls: %d done, %d failed, %d unknown, %d not executed · tokens: %d\n",
		e.Done, e.Failed, e.Unknown, e.NotExecuted, t.result.Usage.Total()))
	workflow.SetCurrentDetails(ctx, b.String())
}

// atWork is the activities under way: of the calls that were begun, those that
// wait for no person.
func (t *turn) atWork() []string {
	var ids []string
	for _, id := range t.running {
		waits := slices.ContainsFunc(t.calls.people.pending, func(w *waiting) bool {
			return id == contract.CallActivityID(t.step, w.Ordinal, 0)
		})
		if !waits {
			ids = append(ids, id)
		}
	}
	return ids
}

package workflows

import (
	"fmt"
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
		Running: t.running,
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
	b.WriteString(fmt.Sprintf("**%s** · agent `%s` · step %d\n\n", t.status().Status, t.in.Agent, t.step))
	for _, p := range t.calls.people.list() {
		b.WriteString(waitsFor(t.calls.scope.WorkflowID, p))
	}
	for _, id := range t.running {
		b.WriteString("- running `" + id + "`\n")
	}
	e := t.result.Effects
	b.WriteString(fmt.Sprintf("\ncalls: %d done, %d failed, %d unknown, %d not executed · tokens: %d\n",
		e.Done, e.Failed, e.Unknown, e.NotExecuted, t.result.Usage.Total()))
	workflow.SetCurrentDetails(ctx, b.String())
}

// maxShownArgs bounds the arguments in the details; the status query has them
// whole.
const maxShownArgs = 1_000

// waitsFor is a question as the Web UI shows it, with the commands that answer
// it.
func waitsFor(turn string, p contract.Pending) string {
	var b strings.Builder
	b.WriteString(fmt.Sprintf("- **%s** %s\n\n      %s\n\n", p.Tool, p.Reason, contract.BoundText(p.Args, maxShownArgs)))
	if p.Kind == contract.PendingUnknown {
		b.WriteString(fmt.Sprintf("      starter resolve %s --key %s --verdict happened|did_not_happen|cannot_tell\n\n", turn, p.Key))
	} else {
		for _, verb := range []string{"approve", "deny"} {
			b.WriteString(fmt.Sprintf("      starter %s %s --key %s --digest %s\n\n", verb, turn, p.Key, p.Digest))
		}
	}
	if p.Expires != nil {
		b.WriteString("  expires " + p.Expires.UTC().Format("2006-01-02 15:04:05 UTC") + "\n\n")
	}
	return b.String()
}

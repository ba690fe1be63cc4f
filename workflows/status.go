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
	return contract.StatusReply{
		Status:  t.result.Status,
		Agent:   t.in.Agent,
		Step:    t.step,
		Running: t.running,
		Usage:   t.result.Usage,
		Effects: t.result.Effects,
	}
}

// tell updates the details that the Web UI shows for the turn. It writes no
// event: the text is served to whoever asks, and needs a live worker.
func (t *turn) tell(ctx workflow.Context) {
	var b strings.Builder
	b.WriteString(fmt.Sprintf("**%s** · agent `%s` · step %d\n\n", t.result.Status, t.in.Agent, t.step))
	for _, id := range t.running {
		b.WriteString("- running `" + id + "`\n")
	}
	e := t.result.Effects
	b.WriteString(fmt.Sprintf("\ncalls: %d done, %d failed, %d unknown, %d not executed · tokens: %d\n",
		e.Done, e.Failed, e.Unknown, e.NotExecuted, t.result.Usage.Total()))
	workflow.SetCurrentDetails(ctx, b.String())
}

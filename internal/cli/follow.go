package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/conversation"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// follow prints a turn as it happens until it has ended, ctx ends, or see
// returns an error.
func follow(ctx context.Context, turn *turnkeel.Turn, see func(turnkeel.Event) error) error {
	for e, err := range turn.Events(ctx) {
		if err != nil {
			return err
		}
		if err := see(e); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// read folds a run as far as it has come.
func read(ctx context.Context, c sdkclient.Client, workflowID, runID string) (*fold.Run, error) {
	run := fold.New(nil)
	it := c.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return nil, fmt.Errorf("read the history of %s: %w", workflowID, err)
		}
		if err := run.Add(event); err != nil {
			return nil, err
		}
	}
	return run, ctx.Err()
}

// fetchBase reads what a run's transcript begins with, where that is a blob or
// in the history of the turn's session.
func (s *session) fetchBase(ctx context.Context, run *fold.Run) error {
	ref, before := run.BaseBlob(), run.SessionBase()
	if ref == "" && before == nil {
		return nil
	}
	if before != nil {
		store, err := turnkeel.BlobsFromEnv()
		if err != nil {
			return err
		}
		reader := conversation.Reader{Service: s.temporal.WorkflowService(), Namespace: s.info.Namespace, Blobs: store}
		messages, err := reader.Before(ctx, *before, run.WorkflowID)
		if err != nil {
			return fmt.Errorf("the transcript begins in the session: %w", err)
		}
		return run.SetMessages(messages)
	}
	data, err := fromStore(ctx, ref)
	if err != nil {
		return fmt.Errorf("the transcript begins in a blob of the worker's store (TURNKEEL_BLOBS): %w", err)
	}
	return run.SetBase(data)
}

// lineOf is an event as a line for people, "" when there is nothing to say.
// shown says that an answer's text has been printed already.
func lineOf(e turnkeel.Event, shown bool) string {
	switch e.Kind {
	case turnkeel.EventStep:
		return fmt.Sprintf("model  called, step %d", e.Step)
	case turnkeel.EventAnswer:
		return answerLine(e, shown)
	case turnkeel.EventToolStarted:
		return fmt.Sprintf("tool   %s %s  (key %.8s)", e.Tool, contract.BoundText(visible(e.Args), 200), e.Key)
	case turnkeel.EventToolFinished:
		return fmt.Sprintf("tool   %s → %s  (%s)", e.Tool, contract.BoundText(e.Text, 300), tookOf(e))
	case turnkeel.EventToolNotRun:
		return notRunLine(e)
	case turnkeel.EventRetrying:
		what := "model"
		if e.Tool != "" {
			what = e.Tool
		}
		return fmt.Sprintf("retry  %s, attempt %d: %s", what, e.Attempt, e.Text)
	case turnkeel.EventWaiting:
		return waitingLine(*e.Pending)
	case turnkeel.EventDecided:
		return fmt.Sprintf("decide %s by %s  (key %.8s)", decidedWords(e), e.By, e.Key)
	case turnkeel.EventContinued:
		return "turn   goes on in a new run: " + e.RunID
	default:
		return ""
	}
}

func answerLine(e turnkeel.Event, shown bool) string {
	if e.Failed {
		return "model  " + e.Text
	}
	line := "model  answered"
	if e.Calls == 1 {
		line = "model  asks for 1 call"
	} else if e.Calls > 1 {
		line = fmt.Sprintf("model  asks for %d calls", e.Calls)
	}
	line += fmt.Sprintf("  (%s, %d tokens)", tookOf(e), e.Tokens)
	if e.Text != "" && !shown {
		line += "\n          " + contract.BoundText(e.Text, 2_000)
	}
	return line
}

// notRunLine says why a call that the model asked for does not run.
func notRunLine(e turnkeel.Event) string {
	what := strings.ReplaceAll(string(e.Outcome), "_", " ")
	if e.Rule != "" {
		what += " by rule " + e.Rule
	}
	return fmt.Sprintf("tool   %s %s  not run, %s: %s", e.Tool, contract.BoundText(visible(e.Args), 200), what, contract.BoundText(e.Text, 300))
}

func tookOf(e turnkeel.Event) string {
	took := e.Took.Round(time.Millisecond).String()
	if e.Attempt > 1 {
		took += fmt.Sprintf(", attempt %d", e.Attempt)
	}
	return took
}

func waitingLine(p contract.Pending) string {
	what := "waits for a yes"
	if p.Kind == contract.PendingUnknown {
		what = "waits for a word on what became of it"
	}
	line := fmt.Sprintf("wait   %s %s  %s", p.Tool, visible(p.Args), what)
	if p.Reason != "" {
		line += ": " + p.Reason
	}
	if p.Expires != nil {
		line += "  (expires " + p.Expires.Local().Format(time.DateTime) + ")"
	}
	return line
}

// decidedWords is what a person said of a call.
func decidedWords(e turnkeel.Event) string {
	words := strings.ReplaceAll(e.Verdict, "_", " ")
	if e.Tool != "" {
		words = e.Tool + " " + words
	}
	if e.Text != "" {
		words += " (" + e.Text + ")"
	}
	return words
}

// commandsFor are the commands that answer a question.
func commandsFor(turn string, p contract.Pending) string {
	if p.Kind == contract.PendingUnknown {
		return fmt.Sprintf("          starter resolve %s --key %s --verdict happened|did_not_happen|cannot_tell", turn, p.Key)
	}
	args := fmt.Sprintf("%s --key %s --digest %s", turn, p.Key, p.Digest)
	return "          starter approve " + args + "\n          starter deny " + args
}

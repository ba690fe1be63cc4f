package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/stub"
)

// A session goes on in a new run at these: below what makes the first step of
// a turn, which reads the session's run, slow.
const (
	sessionEvents = 2_000
	sessionBytes  = 4 << 20

	// maxCarriedSession bounds what the next run's input holds, about, in bytes:
	// 2 MiB are the server's limit.
	maxCarriedSession = 1800 << 10
)

// continueAsNew ends the run between two turns when its history has grown
// long. Messages that came are carried: none is lost, none is run twice.
func (s *session) continueAsNew(ctx workflow.Context) error {
	if ctx.Err() != nil || !s.mustContinue(ctx) {
		return nil
	}
	if len(s.queue) > 0 && !since(ctx, changeBusySessions) {
		return nil
	}
	packCtx := workflow.WithActivityOptions(ctx, sessionOptions(fmt.Sprintf("pack.%d", s.turns), "pack the transcript for the next run"))
	packed, err := stub.PackSession.Start(packCtx, contract.PackSessionInput{}).Result(packCtx)
	if err != nil || packed.TooLarge || s.carriedBytes(packed.Transcript) > maxCarriedSession {
		workflow.GetLogger(ctx).Warn("the session cannot continue in a new run and stays in this one", "error", err, "queue", len(s.queue))
		s.inRun = 0
		return nil
	}
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return nil //nolint:nilerr // canceled: the loop ends the session
	}
	if ctx.Err() != nil { // it was canceled while it packed: the new run would not know
		return nil
	}
	next := s.in
	next.Carried = &contract.CarriedSession{
		Transcript: packed.Transcript, Turns: s.turns, Runs: s.runs,
		Seen: s.seen, Queue: s.queue, Usage: s.usage, Effects: s.effects, Counted: s.counted,
	}
	return workflow.NewContinueAsNewError(ctx, workflow.GetInfo(ctx).WorkflowType.Name, next)
}

// carriedBytes is about how large the next run's input would be. What waits may
// be long: then the session goes on here until less does.
func (s *session) carriedBytes(transcript contract.Packed) int {
	const perMessage = 100 // the names of its fields
	size := len(transcript.Gzip)*4/3 + len(transcript.Blob)
	for _, list := range [][]contract.SentMessage{s.seen, s.queue} {
		for _, m := range list {
			size += perMessage + jsonBytes(m.MessageID) + jsonBytes(m.TurnID) + jsonBytes(m.Text)
			for _, a := range m.Attachments {
				size += perMessage + jsonBytes(a.FileID) + jsonBytes(a.Name) + jsonBytes(a.Type)
			}
		}
	}
	return size
}

// jsonBytes is at most how many bytes a text takes in JSON.
func jsonBytes(text string) int {
	size := len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ', c == '<', c == '>', c == '&':
			size += 5 // \u003c
		case c == '"', c == '\\':
			size++
		case c >= 0x80:
			size += 2 // a broken byte becomes \ufffd
		}
	}
	return size
}

func (s *session) mustContinue(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	if s.in.TurnsPerRun > 0 && s.inRun >= s.in.TurnsPerRun {
		return true
	}
	if s.inRun == 0 {
		return false // it could not be continued a moment ago
	}
	return info.GetCurrentHistoryLength() >= sessionEvents || info.GetCurrentHistorySize() >= sessionBytes || updatesRunOut(info)
}

// updatesRunOut says that the server takes few updates more in this run.
func updatesRunOut(info *workflow.Info) bool {
	for _, reason := range info.GetContinueAsNewSuggestedReasons() {
		if reason == workflow.ContinueAsNewSuggestedReasonTooManyUpdates {
			return true
		}
	}
	return false
}

// tell shows the session in the Web UI.
func (s *session) tell(ctx workflow.Context) {
	text := fmt.Sprintf("**session** · agent `%s` · %d turns · tokens: %d\n\n", s.in.Agent, s.turns, s.usage.Total())
	if s.running != nil {
		text += "- running turn `" + s.running.TurnID + "`\n"
	}
	if n := len(s.queue); n > 0 {
		text += fmt.Sprintf("- %d messages wait\n", n)
	}
	workflow.SetCurrentDetails(ctx, text)
}

package turnkeel

import (
	"bytes"
	"context"
	"time"

	"go.temporal.io/api/workflow/v1"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/turnkeel/turnkeel/contract"
)

// How often a turn's running calls are looked at: for their text and progress
// when it streams, else only for what they fail of and are retried.
const (
	lookStreaming = 100 * time.Millisecond
	lookQuiet     = 2 * time.Second
)

// watcher reads what a run's calls show while they run. It is in no history:
// an ordinary describe call carries it.
type watcher struct {
	client        sdkclient.Client
	turnID, runID string
	every         time.Duration
	seen          map[string]*shownCall
}

// shownCall is how much of a call the reader has seen.
type shownCall struct {
	attempt  int32
	restarts int
	read     int // bytes of text
	seq      int
	failure  string
}

func newWatcher(c sdkclient.Client, turnID, runID string, stream bool) *watcher {
	w := &watcher{client: c, turnID: turnID, runID: runID, every: lookQuiet, seen: map[string]*shownCall{}}
	if stream {
		w.every = lookStreaming
	}
	return w
}

func (w *watcher) watch(ctx context.Context, to chan<- Event) {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		described, err := w.client.DescribeWorkflow(ctx, w.turnID, w.runID)
		if err != nil {
			continue // who reads the history says what is wrong
		}
		for _, p := range described.RawResponse.GetPendingActivities() {
			for _, e := range w.look(p) {
				select {
				case to <- e:
				case <-ctx.Done():
					return
				}
			}
		}
	}
}

// look gives what is new of one running call.
func (w *watcher) look(p *workflow.PendingActivityInfo) []Event {
	call := w.seen[p.GetActivityId()]
	if call == nil {
		call = &shownCall{attempt: 1}
		w.seen[p.GetActivityId()] = call
	}
	about := Event{Activity: p.GetActivityId(), Attempt: int(p.GetAttempt())}
	about.Tool, _ = contract.ToolOfActivity(p.GetActivityType().GetName())
	var news []Event
	if cause := p.GetLastFailure().GetMessage(); cause != "" && cause != call.failure {
		call.failure = cause
		e := about
		e.Kind, e.Text = EventRetrying, contract.BoundText(cause, 500)
		news = append(news, e)
	}
	var frame contract.Frame
	details := p.GetHeartbeatDetails()
	if details == nil || converter.GetDefaultDataConverter().FromPayloads(details, &frame) != nil || frame.Attempt < call.attempt {
		return news
	}
	if frame.Attempt != call.attempt || frame.Restarts != call.restarts {
		if call.read > 0 || call.seq > 0 {
			e := about
			e.Kind = EventRestarted
			news = append(news, e)
		}
		*call = shownCall{attempt: frame.Attempt, restarts: frame.Restarts, failure: call.failure}
	}
	return append(news, call.take(about, frame)...)
}

// take gives the part of a frame that has not been shown. A reader that polled
// too late to have all of the text is told so by an ellipsis.
func (call *shownCall) take(about Event, f contract.Frame) []Event {
	var news []Event
	if end := f.Offset + len(f.Text); end > call.read {
		text := f.Text[max(0, call.read-f.Offset):]
		if f.Offset > call.read {
			text = "… " + text
		}
		call.read = end
		e := about
		e.Kind, e.Text = EventText, text
		news = append(news, e)
	}
	if f.Seq > call.seq && len(bytes.TrimSpace(f.Progress)) > 0 {
		call.seq = f.Seq
		e := about
		e.Kind, e.Progress = EventProgress, f.Progress
		news = append(news, e)
	}
	return news
}

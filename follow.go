package turnkeel

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// quietAfter is how long nothing has to happen before a turn is asked whether
// it waits for a person.
const quietAfter = 200 * time.Millisecond

// askAgain is how soon a turn whose worker did not answer is asked again.
const askAgain = 2 * time.Second

// follower reads a turn's history as it grows and, beside it, what its running
// calls show.
type follower struct {
	client sdkclient.Client
	turnID string
	events chan Event
	err    error // once events is closed

	run   *fold.Run
	runID string
	told  map[string]bool // questions, by key and digest
	unrun map[int]bool    // calls told of as not run, by ordinal
	group sync.WaitGroup
}

func newFollower(ctx context.Context, t *Turn) *follower {
	f := &follower{client: t.client, turnID: t.ID, runID: t.RunID, events: make(chan Event), told: map[string]bool{}, unrun: map[int]bool{}}
	f.group.Go(func() {
		f.err = f.follow(ctx)
		close(f.events)
	})
	return f
}

// wait returns once nothing of the follower runs any more; its ctx has ended.
func (f *follower) wait() { f.group.Wait() }

// tell hands an event to the reader; false when nobody reads any more.
func (f *follower) tell(ctx context.Context, e Event) bool {
	if e.RunID == "" {
		e.RunID = f.runID
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	select {
	case f.events <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// follow reads run after run until the turn has ended.
func (f *follower) follow(ctx context.Context) error {
	for ctx.Err() == nil {
		next, err := f.followRun(ctx)
		if err != nil || next == "" {
			return err
		}
		f.runID = next
		f.tell(ctx, Event{Kind: EventContinued})
	}
	return ctx.Err()
}

// page is what one read of the history gave.
type page struct {
	event *historypb.HistoryEvent
	err   error
}

func (f *follower) followRun(ctx context.Context) (next string, err error) {
	ctx, stop := context.WithCancel(ctx)
	var readers sync.WaitGroup
	defer func() {
		stop()
		readers.Wait()
	}()
	pages := make(chan page)
	readers.Go(func() { f.read(ctx, pages) })
	shown := make(chan Event)
	f.run = fold.New(nil)
	quiet := time.NewTimer(quietAfter)
	defer quiet.Stop()
	watching := false
	for {
		select {
		case p := <-pages:
			if p.err != nil {
				return "", p.err
			}
			if done, err := f.fold(ctx, p.event); done || err != nil {
				return p.event.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId(), err
			}
			if !watching {
				watching = true
				w := newWatcher(f.client, f.turnID, f.runID, f.run.Input.Stream)
				readers.Go(func() { w.watch(ctx, shown) })
			}
			quiet.Reset(quietAfter)
		case e := <-shown:
			if !f.current(e) {
				continue
			}
			f.tell(ctx, e)
		case <-quiet.C:
			if !f.ask(ctx) {
				quiet.Reset(askAgain)
			}
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// read hands on the run's events, waiting for new ones.
func (f *follower) read(ctx context.Context, to chan<- page) {
	it := f.client.GetWorkflowHistory(ctx, f.turnID, f.runID, true, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			err = fmt.Errorf("read the history of %s: %w", f.turnID, err)
		}
		select {
		case to <- page{event, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// fold takes an event in and tells what it means; done when the run closed.
func (f *follower) fold(ctx context.Context, e *historypb.HistoryEvent) (done bool, err error) {
	if err := f.run.Add(e); err != nil {
		return true, err
	}
	if event, ok := eventOf(f.run, e); ok {
		f.tell(ctx, event)
	}
	for _, event := range notRun(f.run, e) {
		if !f.unrun[event.Ordinal] {
			f.unrun[event.Ordinal] = true
			f.tell(ctx, event)
		}
	}
	if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW {
		return true, nil
	}
	if f.run.Closed.IsZero() {
		return false, nil
	}
	last := Event{Kind: EventDone, Time: f.run.Closed, Status: f.run.Status}
	if f.run.Result != nil {
		last.Text = f.run.Result.Text
		if last.Status != contract.StatusCompleted {
			last.Text = f.run.Result.Reason
		}
	}
	f.tell(ctx, last)
	return true, nil
}

// current drops what a call showed that has ended meanwhile.
func (f *follower) current(e Event) bool {
	act := f.run.Activity(e.Activity)
	return act != nil && act.State == fold.StateOpen
}

// ask finds out whether a quiet turn waits for a person. Only a worker can
// tell; false when none did.
func (f *follower) ask(ctx context.Context) bool {
	if !f.mayWait() {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var status contract.StatusReply
	value, err := f.client.QueryWorkflow(ctx, f.turnID, f.runID, contract.QueryStatus)
	if err != nil || value.Get(&status) != nil {
		return false
	}
	for _, p := range status.Pending {
		if id := p.Key + p.Digest + string(p.Kind); !f.told[id] {
			f.told[id] = true
			f.tell(ctx, Event{Kind: EventWaiting, Time: p.Asked, Tool: p.Tool, Args: p.Args, Key: p.Key, Pending: &p, Status: contract.StatusWaiting})
		}
	}
	return true
}

// mayWait says that a call may wait for a person: nothing runs, or one of the
// latest answer's calls needs a yes beside those that run.
func (f *follower) mayWait() bool {
	if len(f.run.Steps) == 0 {
		return false
	}
	if !f.run.Open() {
		return true
	}
	answer := f.run.Steps[len(f.run.Steps)-1].Answer
	return answer != nil && slices.ContainsFunc(answer.Calls, func(c contract.PlannedCall) bool {
		return c.Run != nil && (c.Run.Approval != nil || c.Run.OnUnknown == contract.OnUnknownAskHuman)
	})
}

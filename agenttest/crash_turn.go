package agenttest

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
)

// crashPause is how long is waited before a request that the server did not
// answer is made again.
const crashPause = 100 * time.Millisecond

// errCrashPatience ends a run whose turns do not.
var errCrashPatience = errors.New("it did not end within " + crashPatience.String() + " after the last kill")

// crashTurn is one turn of a crash run.
type crashTurn struct {
	id     string
	last   int64  // the last event that was seen of the latest run
	worker string // the process that was last seen at it
	ended  bool
	events []*historypb.HistoryEvent // of the last run, once it has ended
	err    error                     // why it is not known whether it ended
}

// add makes room for one more turn.
func (r *crashRun) add() *crashTurn {
	r.mu.Lock()
	defer r.mu.Unlock()
	turn := &crashTurn{id: "crash-" + strings.ToLower(rand.Text()[:12])}
	r.turns = append(r.turns, turn)
	return turn
}

// follow starts a turn and watches its history grow, through all its runs and
// all outages, until it has ended.
func (r *crashRun) follow(ctx context.Context, turn *crashTurn) {
	run, err := r.start(ctx, turn.id)
	for err == nil {
		if err = r.watchRun(ctx, turn, run); err != nil {
			break
		}
		latest := r.latest(ctx, turn.id)
		if latest == run {
			break
		}
		run = latest // it was reset or goes on in a new run
	}
	// What was watched may hold events that came to nothing: a workflow task that
	// is under way is shown as if it were recorded.
	whole := &historypb.History{}
	if err == nil {
		whole, err = History(ctx, r.bench.Temporal, turn.id, run)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	turn.ended, turn.events, turn.err = true, whole.GetEvents(), err
}

func (r *crashRun) start(ctx context.Context, id string) (runID string, err error) {
	request := turnkeel.TurnRequest{TurnID: id, Input: contract.TurnInput{
		Agent: AgentName, Messages: []contract.Message{{Role: contract.RoleUser, Content: r.o.Message}},
	}}
	for {
		turn, err := r.bench.Turns.Start(ctx, request)
		if err == nil {
			return turn.RunID, nil
		}
		if !pause(ctx) {
			return "", err
		}
	}
}

// latest is the id of the turn's latest run.
func (r *crashRun) latest(ctx context.Context, id string) string {
	for {
		described, err := r.bench.Temporal.DescribeWorkflow(ctx, id, "")
		if err == nil {
			return described.WorkflowExecution.RunID
		}
		if !pause(ctx) {
			return ""
		}
	}
}

// watchRun watches a run until it has ended.
func (r *crashRun) watchRun(ctx context.Context, turn *crashTurn, run string) error {
	r.mu.Lock()
	turn.last = 0
	r.mu.Unlock()
	for {
		it := r.bench.Temporal.GetWorkflowHistory(ctx, turn.id, run, true, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		var err error
		for it.HasNext() && err == nil {
			var e *historypb.HistoryEvent
			if e, err = it.Next(); err == nil {
				r.see(turn, e)
			}
		}
		if err == nil {
			return nil
		}
		if !pause(ctx) {
			return err
		}
	}
}

// see takes the next event of a turn.
func (r *crashRun) see(turn *crashTurn, e *historypb.HistoryEvent) {
	r.mu.Lock()
	if e.GetEventId() <= turn.last {
		r.mu.Unlock()
		return // read again after an outage
	}
	turn.last = e.GetEventId()
	if name := workerOf(e); name != "" {
		turn.worker = name
	}
	worker := turn.worker
	r.mu.Unlock()
	r.watch.see(e.GetEventId(), crashHit{turn.id, worker})
}

// workerOf is the identity of the worker that an event is of.
func workerOf(e *historypb.HistoryEvent) string {
	if a := e.GetWorkflowTaskStartedEventAttributes(); a != nil {
		return a.GetIdentity()
	}
	return e.GetActivityTaskStartedEventAttributes().GetIdentity()
}

// pause waits a moment; false when there is no more to wait for.
func pause(ctx context.Context) bool {
	select {
	case <-time.After(crashPause):
		return true
	case <-ctx.Done():
		return false
	}
}

// crashHit is a turn that has come to a place in its history.
type crashHit struct{ turn, worker string }

// crashWatch waits for any turn to come to an event.
type crashWatch struct {
	mu   sync.Mutex
	want int64
	hit  chan crashHit
}

// arm waits for the event of that id, in whatever turn records it next.
func (w *crashWatch) arm(event int64) <-chan crashHit {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.want, w.hit = event, make(chan crashHit, 1)
	return w.hit
}

func (w *crashWatch) see(event int64, h crashHit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if event == w.want {
		w.want = 0
		w.hit <- h
	}
}

package agenttest

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"syscall"
	"time"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
)

// crashPoint is a place in an activity at which a worker process ends itself.
type crashPoint string

// The two edges of an activity, of a tool's or a model call's alike.
const (
	crashBefore crashPoint = "before" // the task is here, nothing has been done
	crashAfter  crashPoint = "after"  // it is done and not reported
)

// crashReport is what a worker process says of itself, one JSON line each.
type crashReport struct {
	Kind     string    `json:"kind"`
	At       time.Time `json:"at"`
	Turn     string    `json:"turn,omitempty"`
	Run      string    `json:"run,omitempty"`
	Activity string    `json:"activity,omitempty"`
	Attempt  int32     `json:"attempt,omitempty"`
}

// The kinds of report.
const (
	crashReady = "ready" // it takes tasks
	crashStart = "start" // an attempt is here
	crashDone  = "done"  // its activity function has returned
	crashEnd   = "end"   // it ends itself now
)

// crashTap sees every activity of a worker process, reports it, and ends the
// process where it is told to.
type crashTap struct {
	interceptor.WorkerInterceptorBase
	out    *os.File
	signal syscall.Signal

	mu    sync.Mutex
	point crashPoint // of the next activity; empty while it may live
}

// InterceptActivity implements the SDK's interceptor.
func (t *crashTap) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &crashActivity{interceptor.ActivityInboundInterceptorBase{Next: next}, t}
}

// doom ends the process at the next activity that comes to that point.
func (t *crashTap) doom(p crashPoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.point = p
}

// pass goes through a point, once.
func (t *crashTap) pass(p crashPoint) {
	t.mu.Lock()
	doomed := t.point == p
	if doomed {
		t.point = ""
	}
	t.mu.Unlock()
	if doomed {
		t.end()
	}
}

// report writes one line. A write to a pipe outlives the process.
func (t *crashTap) report(r crashReport) {
	r.At = time.Now()
	line, err := json.Marshal(r)
	if err != nil {
		return
	}
	_, _ = t.out.Write(append(line, '\n'))
}

type crashActivity struct {
	interceptor.ActivityInboundInterceptorBase
	tap *crashTap
}

// ExecuteActivity implements the SDK's interceptor.
func (a *crashActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	info := sdkactivity.GetInfo(ctx)
	r := crashReport{
		Kind: crashStart, Turn: info.WorkflowExecution.ID, Run: info.WorkflowExecution.RunID,
		Activity: info.ActivityID, Attempt: info.Attempt,
	}
	a.tap.report(r)
	a.tap.pass(crashBefore)
	result, err := a.Next.ExecuteActivity(ctx, in)
	a.tap.pass(crashAfter)
	r.Kind = crashDone
	a.tap.report(r)
	return result, err
}

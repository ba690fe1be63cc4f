package effectlog

import (
	"context"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// The metrics of a fold, as docs/effect-log.md names them.
const (
	eventsRead = "turnkeel_fold_events_read"
	foldTime   = "turnkeel_fold_seconds"
)

func echo(text string) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[number, string]{
		Name: "look", Description: "Looks.", Effects: tooldefs.None,
		Handler: func(context.Context, *tooldefs.Call, number) (string, error) { return text, nil },
	})
}

// P19, C12: all folds of a 300-step turn together read hardly more than its
// history once; without a cache they would read it 150 times.
func TestFold_ReadsWhatIsNew(t *testing.T) {
	t.Parallel()
	const n = 300
	s := newStack(t, options{
		tools: []*tooldefs.Tool{echo("found")}, script: steps("look", n), limits: contract.Limits{MaxSteps: n + 1},
	})
	began := time.Now()
	out := s.run("go")
	took := time.Since(began)
	if out.err != nil || out.result.Steps != n+1 || out.result.Effects.Done != n {
		t.Fatalf("%+v, %v", out.result, out.err)
	}
	read, events := s.meter.count(eventsRead), len(out.events)
	t.Logf("%d events read for a history of %d; folds took %v of %v", read, events, s.meter.time(foldTime), took)
	if read < int64(events)/2 || float64(read) > 1.2*float64(events) {
		t.Errorf("the folds read %d events of a history of %d; want at most 1.2 times as many", read, events)
	}
}

// The fold's reader counts on it: the server counts a page of a reverse read
// in batches of events, and a token goes on with any other size.
func TestReverseRead_CountsBatches(t *testing.T) {
	t.Parallel()
	s := newStack(t, options{tools: []*tooldefs.Tool{echo("found")}, script: steps("look", 3)})
	out := s.run("go")
	var token []byte
	next := int64(len(out.events))
	for size := int32(1); ; size++ {
		resp, err := s.client.WorkflowService().GetWorkflowExecutionHistoryReverse(t.Context(),
			&workflowservice.GetWorkflowExecutionHistoryReverseRequest{
				Namespace: server.Namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: out.id, RunId: out.runID},
				MaximumPageSize: size, NextPageToken: token,
			})
		if err != nil {
			t.Fatal(err)
		}
		page := resp.GetHistory().GetEvents()
		t.Logf("page of %d: %d events", size, len(page))
		for _, e := range page {
			if e.GetEventId() != next {
				t.Fatalf("event %d where %d should be", e.GetEventId(), next)
			}
			next--
		}
		if token = resp.GetNextPageToken(); len(token) == 0 {
			break
		}
		if len(page) < int(size) {
			t.Errorf("a page of %d has only %d events", size, len(page))
		}
	}
	if next != 0 {
		t.Errorf("the read stops at event %d", next)
	}
}

package effectlog

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/proto"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// C12: two hundred answers of a model, each with 40 KB of new text, in words
// that hardly pack, over several runs. None is terminated, and what is recorded
// is about what was said.
func TestTurn_TwoHundredStepsOf40KB(t *testing.T) {
	t.Parallel()
	const steps, stepsPerRun, size = 200, 60, 40 << 10
	words := newWords()
	look := tooldefs.Define(tooldefs.Spec[number, string]{
		Name: "look", Description: "Looks.", Effects: tooldefs.None,
		Handler: func(context.Context, *tooldefs.Call, number) (string, error) { return words.text(size), nil },
	})
	s := newStack(t, options{
		tools: []*tooldefs.Tool{look}, endpoint: oneCallAStep(t, steps), blobs: blob.Folder(t.TempDir()),
		limits: contract.Limits{MaxSteps: steps + 1, MaxToolResultChars: size}, stepsPerRun: stepsPerRun,
	})
	turn := s.start("go")
	result, err := turn.Result(t.Context())
	if err != nil || result.Status != contract.StatusCompleted || result.Effects.Done != steps {
		t.Fatalf("%+v, %v", result, err)
	}
	runs, total := 0, 0
	s.runsOf(turn.ID, func(_ string, _ enumspb.WorkflowExecutionStatus, bytes int) {
		runs++
		total += bytes
	})
	if runs != steps/stepsPerRun+1 || total > steps*size*13/10 {
		t.Errorf("%d runs, %d bytes for %d", runs, total, steps*size)
	}
}

// R50, C12: a session of long turns goes on in new runs, and every turn is asked
// with all that was said.
func TestSession_OfLongTurns(t *testing.T) {
	t.Parallel()
	const turns, size = 20, 150 << 10
	var longest atomic.Int64
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			t.Error(err)
		}
		longest.Store(n)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"id\":\"a\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"noted\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(endpoint.Close)
	s := newStack(t, options{endpoint: endpoint.URL + "/v1", blobs: blob.Folder(t.TempDir())})
	session := "session-" + s.queue
	words := newWords()
	var first, last int
	for i := range turns {
		reply, err := s.turns.Send(t.Context(), turnkeel.Message{Session: session, Agent: agentName, Text: words.text(size)})
		if err != nil {
			t.Fatalf("turn %d: %v", i+1, err)
		}
		turn, err := s.turns.Sent(t.Context(), reply.TurnID)
		if err != nil {
			t.Fatalf("turn %d: %v", i+1, err)
		}
		result, err := turn.Result(t.Context())
		if err != nil || result.Status != contract.StatusCompleted {
			t.Fatalf("turn %d: %+v, %v", i+1, result, err)
		}
		switch i {
		case 0, turns - 1:
			bytes := 0
			for _, e := range s.history(reply.TurnID, "") {
				bytes += proto.Size(e)
			}
			first, last = last, bytes
		}
	}
	if n := longest.Load(); n < turns*size {
		t.Errorf("the last turn was asked with %d bytes", n)
	}
	if last > first+size/2 {
		t.Errorf("the first turn's history has %d bytes, the last one's %d", first, last)
	}
	runs := 0
	s.runsOf(session, func(runID string, status enumspb.WorkflowExecutionStatus, _ int) {
		runs++
		if status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING && status != enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
			t.Errorf("run %s of the session is %s", runID, status)
		}
	})
	if runs < 2 {
		t.Errorf("%d runs", runs)
	}
}

// words are texts that hardly pack.
type words struct {
	mu     sync.Mutex
	random *rand.Rand
}

func newWords() *words {
	return &words{random: rand.New(rand.NewPCG(1, 2))} //nolint:gosec // only to be hard to pack
}

func (w *words) text(size int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%x ", w.random.Uint64())
	}
	return b.String()[:size]
}

// runsOf calls see with every run of a workflow id, the latest first.
func (s *stack) runsOf(id string, see func(runID string, status enumspb.WorkflowExecutionStatus, bytes int)) {
	s.t.Helper()
	for runID := ""; ; {
		described, err := s.client.DescribeWorkflow(s.t.Context(), id, runID)
		if err != nil {
			s.t.Fatal(err)
		}
		info := described.RawResponse.GetWorkflowExecutionInfo()
		bytes := 0
		events := s.history(id, info.GetExecution().GetRunId())
		for _, e := range events {
			bytes += proto.Size(e)
		}
		see(info.GetExecution().GetRunId(), info.GetStatus(), bytes)
		if runID = events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId(); runID == "" {
			return
		}
	}
}

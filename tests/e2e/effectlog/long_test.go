package effectlog

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/proto"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
)

// C12: two hundred turns of one session, each with 40 KB of new text, in words
// that hardly pack. Nothing is terminated, the last turn is asked with all
// 8 MB, and no run's history holds them more than about once.
func TestSession_TwoHundredTurnsOf40KB(t *testing.T) {
	t.Parallel()
	const turns, size = 200, 40 << 10
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
	words := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // only to be hard to pack
	text := func() string {
		var b bytes.Buffer
		for b.Len() < size {
			fmt.Fprintf(&b, "%x ", words.Uint64())
		}
		return b.String()[:size]
	}
	var first, last int
	for i := range turns {
		reply, err := s.turns.Send(t.Context(), turnkeel.Message{Session: session, Agent: agentName, Text: text()})
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
	s.runsOf(t, session, func(runID string, status enumspb.WorkflowExecutionStatus, bytes int) {
		if status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING && status != enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
			t.Errorf("run %s of the session is %s", runID, status)
		}
		if bytes > 13*turns*size/10 {
			t.Errorf("run %s has %d bytes for %d", runID, bytes, turns*size)
		}
		t.Logf("run %s: %d bytes", runID, bytes)
	})
}

// runsOf calls see with every run of a workflow id, the latest first.
func (s *stack) runsOf(t *testing.T, id string, see func(runID string, status enumspb.WorkflowExecutionStatus, bytes int)) {
	t.Helper()
	for runID := ""; ; {
		described, err := s.client.DescribeWorkflowExecution(t.Context(), id, runID)
		if err != nil {
			t.Fatal(err)
		}
		info := described.GetWorkflowExecutionInfo()
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

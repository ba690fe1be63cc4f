package modelwire

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	sdkworker "go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// endpoint is a model server that a test drives by hand, where a script cannot
// say when something has to happen. asks counts from 1.
type endpoint func(s *said, asks int)

// said is one answer under way.
type said struct {
	t testing.TB
	w http.ResponseWriter
	r *http.Request
}

// frame sends one frame of the stream; false when the client has left.
func (s *said) frame(text string) bool {
	s.w.Header().Set("Content-Type", "text/event-stream")
	if _, err := io.WriteString(s.w, text+"\n\n"); err != nil {
		return false
	}
	return http.NewResponseController(s.w).Flush() == nil
}

func (s *said) text(text string) bool {
	return s.frame(fmt.Sprintf(`data: {"id":"c","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`, text))
}

func (s *said) finish(reason string) {
	s.frame(fmt.Sprintf(`data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason))
	s.frame("data: [DONE]")
}

// await waits until the test goes on; false when the client has left before.
func (s *said) await(until <-chan struct{}) bool {
	select {
	case <-until:
		return true
	case <-s.r.Context().Done():
		return false
	}
}

// benchAt is a bench whose worker asks e. The agent's other settings are kept.
func benchAt(t *testing.T, agent contract.Agent, e endpoint) *agenttest.Bench {
	t.Helper()
	var asks atomic.Int32
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // net/http sees a client leave only after that
		e(&said{t, w, r}, int(asks.Add(1)))
	}))
	t.Cleanup(model.Close)
	agent.Endpoint.BaseURL = model.URL + "/v1"
	return benchWith(t, agent)
}

// benchWith is a bench whose worker serves this agent as it is, under the
// bench's name for it.
func benchWith(t *testing.T, agent contract.Agent, tools ...*tooldefs.Tool) *agenttest.Bench {
	t.Helper()
	b := bench(t, agenttest.BenchOptions{NoWorker: true, Script: agenttest.Script{Steps: []agenttest.Step{{Text: "not asked"}}}})
	agent.Name = agenttest.AgentName
	if agent.Model == "" {
		agent.Model = "openai/by-hand"
	}
	for _, tool := range tools {
		agent.Tools = append(agent.Tools, tool.Name())
	}
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(b.Temporal, b.Queue, options)
	if err := turnkeel.Register(worker, turnkeel.Options{Tools: tools, Agents: []contract.Agent{agent}}); err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Stop)
	return b
}

// start starts a turn that streams.
func start(t *testing.T, b *agenttest.Bench) *turnkeel.Turn {
	t.Helper()
	turn, err := b.Turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent: agenttest.AgentName, Stream: true,
		Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

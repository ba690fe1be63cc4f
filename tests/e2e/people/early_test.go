package people

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// R50, R53, F05: a session's turn that ends before its first model call, in its
// first run or in one that goes on, gives its session what was said.
func TestSession_TurnEndsBeforeItAsks(t *testing.T) {
	t.Parallel()
	said := []contract.Message{{Role: contract.RoleUser, Content: "hello"}}
	before := append([]contract.Message{{Role: contract.RoleUser, Content: "before"}, {Role: contract.RoleAssistant, Content: "re before"}}, said...)
	packed, bytes, err := fold.Pack(contract.PackedTranscript{Agent: &contract.Agent{Name: agenttest.AgentName}, Base: 2, Messages: before})
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]contract.TurnInput{
		"first run": {Messages: said},
		"continued": {Carried: &contract.Carried{
			Transcript: contract.Packed{Gzip: packed, Bytes: bytes}, Runs: 1, Step: 3, Began: time.Now(), Limits: contract.Limits{}.WithDefaults(),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, NoWorker: true, Script: echoScript()})
			id := "turn-" + b.Queue
			in.Agent, in.BaseOf = agenttest.AgentName, &contract.BaseRef{WorkflowID: "never read", RunID: "never read"}
			handle, err := b.Temporal.ExecuteWorkflow(t.Context(), startOptions(id, b.Queue), contract.WorkflowTurn, in)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Temporal.CancelWorkflow(t.Context(), id, ""); err != nil {
				t.Fatal(err)
			}
			b.StartWorker()
			var canceled *temporal.CanceledError
			var result contract.TurnResult
			if err := handle.Get(t.Context(), nil); !errors.As(err, &canceled) {
				t.Fatalf("the turn ended with %v", err)
			} else if err := canceled.Details(&result); err != nil {
				t.Fatal(err)
			}
			if result.Messages == nil {
				t.Fatalf("nothing of what was said is in %+v", result)
			}
			got, err := fold.Unpack(result.Messages.Gzip)
			if err != nil || len(got.Messages) != 1 || got.Messages[0].Content != "hello" {
				t.Errorf("%+v, %v", got, err)
			}
			history, err := agenttest.History(t.Context(), b.Temporal, id, handle.GetRunID())
			if err != nil {
				t.Fatal(err)
			}
			agenttest.Replay(t, history)
		})
	}
}

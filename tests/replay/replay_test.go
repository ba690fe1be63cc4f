// Package replay holds the corpus of recorded histories. Each one is replayed
// against the code at hand: a turn in flight must survive a deploy. Files are
// added, never changed (see CONTRIBUTING.md).
package replay

import (
	"os"
	"path/filepath"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

func corpus(t *testing.T) map[string]*historypb.History {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 5 {
		t.Fatalf("the corpus has %d histories (%v)", len(files), err)
	}
	histories := map[string]*historypb.History{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		h, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
		_ = f.Close()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		histories[filepath.Base(file)] = h
	}
	return histories
}

func TestReplay_Corpus(t *testing.T) {
	for name, h := range corpus(t) {
		t.Run(name, func(t *testing.T) { agenttest.Replay(t, h) })
	}
}

// A workflow that takes another path must fail to replay, or the corpus would
// prove nothing.
func TestReplay_NoticesAChangedWorkflow(t *testing.T) {
	h := corpus(t)["serial.json"]
	replayer := sdkworker.NewWorkflowReplayer()
	replayer.RegisterWorkflowWithOptions(func(ctx workflow.Context, _ contract.TurnInput) (contract.TurnResult, error) {
		return contract.TurnResult{}, workflow.Sleep(ctx, 1)
	}, workflow.RegisterOptions{Name: contract.WorkflowTurn})
	if err := replayer.ReplayWorkflowHistory(nil, h); err == nil {
		t.Error("a workflow that does something else replays a recorded history")
	}
}

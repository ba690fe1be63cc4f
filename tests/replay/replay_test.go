package replay

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// sums names every file of the corpus with its SHA-256.
const sums = "testdata/SUMS"

// own registers the workflow of the corpus's own.
var own = agenttest.ReplayOptions{Register: func(r turnkeel.Registry) {
	r.RegisterWorkflowWithOptions(ownWorkflow, workflow.RegisterOptions{Name: ownType})
}}

func TestReplay_Corpus(t *testing.T) {
	agenttest.ReplayFiles(t, "testdata/*.json", own)
}

// The corpus is append-only: what stood in it stands in it unchanged.
func TestCorpus_IsAppendOnly(t *testing.T) {
	f, err := os.Open(sums)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	known := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		want, name, _ := strings.Cut(lines.Text(), "  ")
		known[name] = true
		if data, err := os.ReadFile(filepath.Join("testdata", name)); err != nil || sumOf(data) != want {
			t.Errorf("%s was changed or removed (%v)", name, err)
		}
	}
	for name := range corpus(t) {
		if !known[name] {
			t.Errorf("%s is not in %s: record with `task corpus:record`", name, sums)
		}
	}
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// corpus are the recorded histories by file name.
func corpus(t *testing.T) map[string]*historypb.History {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
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

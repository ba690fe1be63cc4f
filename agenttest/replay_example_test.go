package agenttest_test

import (
	"testing"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
)

// Histories that were saved with `temporal workflow show --workflow-id ID
// --output json` are replayed by every `go test`: a change that would break
// runs like them, of Turnkeel's workflows or your own, fails before it is
// deployed.
func ExampleReplayFiles() {
	_ = func(t *testing.T) { // func TestReplay(t *testing.T)
		agenttest.ReplayFiles(t, "testdata/histories/*.json", agenttest.ReplayOptions{
			Register: func(r turnkeel.Registry) {
				r.RegisterWorkflow(Refund)
			},
		})
	}
}

// Refund is a workflow of one's own.
func Refund(ctx workflow.Context, order string) error { return nil }

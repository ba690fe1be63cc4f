// Package uncached runs the scenarios with the sticky cache at 0: every
// workflow task replays its run from the beginning.
package uncached

import (
	"testing"

	sdkworker "go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tests/e2e/scenario"
)

func TestScenarios_WithoutStickyCache(t *testing.T) {
	sdkworker.SetStickyWorkflowCacheSize(0) // of the whole process, before its first worker
	scenario.Run(t, agenttest.StartServer(t), "")
}

package crash

import (
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
)

// The model's endpoint breaks in the middle of a stream, at each of its steps,
// while workers are killed: an answer that was cut had no effects, one that is
// recorded is not asked for again.
func TestModelCut(t *testing.T) {
	t.Parallel()
	s := script()
	for i := range s.Steps {
		s.Steps[i].Failures = []agenttest.StepFailure{{Cut: 2 + i}, {Cut: 1}}
	}
	run(t, newLedger(t, quick), agenttest.CrashOptions{Script: s, Workers: 2, Turns: 4, Kills: 5})
}

package effect_test

import (
	"testing"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
)

// What an earlier use of a key left open is closed by what settles it, and by
// nothing else.
func TestStateAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		was     effect.SlotState
		class   contract.Class
		outcome contract.Outcome
		how     string
		want    effect.SlotState
	}{
		{effect.SlotNew, contract.ClassKeyed, contract.OutcomeDone, "", effect.SlotDefinite},
		{effect.SlotNew, contract.ClassKeyed, contract.OutcomeDenied, "", effect.SlotDefinite},
		{effect.SlotNew, contract.ClassKeyed, contract.OutcomeInterrupted, "", effect.SlotUnknown},
		{effect.SlotNew, contract.ClassKeyed, contract.OutcomeNotStarted, "", effect.SlotFree},
		{effect.SlotNew, contract.ClassKeyed, contract.OutcomeNotExecuted, contract.HowResolved, effect.SlotCleared},
		{effect.SlotUnknown, contract.ClassKeyed, contract.OutcomeDone, "", effect.SlotDefinite},
		{effect.SlotUnknown, contract.ClassKeyed, contract.OutcomeDenied, "", effect.SlotUnknown},
		{effect.SlotUnknown, contract.ClassAtMostOnce, contract.OutcomeExpired, "", effect.SlotUnknown},
		{effect.SlotUnknown, contract.ClassSafeToRetry, contract.OutcomeFailed, "", effect.SlotDefinite},
		{effect.SlotUnknown, contract.ClassKeyed, contract.OutcomeNotStarted, "", effect.SlotUnknown},
		{effect.SlotUnknown, contract.ClassKeyed, contract.OutcomeNotExecuted, contract.HowReconciled, effect.SlotCleared},
		{effect.SlotCleared, contract.ClassKeyed, contract.OutcomeNotStarted, "", effect.SlotCleared},
	} {
		if got := effect.StateAfter(c.was, c.class, c.outcome, c.how); got != c.want {
			t.Errorf("%c, then %s %s %s: %c, want %c", c.was, c.class, c.outcome, c.how, got, c.want)
		}
	}
}

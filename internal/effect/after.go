package effect

import "github.com/turnkeel/turnkeel/contract"

// StateOf is what a call's outcome means for the key it ran under. how is the
// entry's: how the outcome became known.
func StateOf(outcome contract.Outcome, how string) SlotState {
	switch outcome {
	case contract.OutcomeUnknown, contract.OutcomeInterrupted:
		return SlotUnknown
	case contract.OutcomeNotExecuted, contract.OutcomeNotStarted:
		if how != "" {
			return SlotCleared
		}
		return SlotFree
	default:
		return SlotDefinite
	}
}

// StateAfter is how a key stands after a use that found it as was. What an
// earlier use left open stays open unless this one settles it: a call that was
// denied, expired or failed by its own word says nothing of the one before, and
// a new key would let both take effect.
func StateAfter(was SlotState, class contract.Class, outcome contract.Outcome, how string) SlotState {
	state := StateOf(outcome, how)
	switch {
	case was == SlotUnknown && state == SlotDefinite &&
		outcome != contract.OutcomeDone && class != contract.ClassSafeToRetry,
		was == SlotUnknown && state == SlotFree:
		return SlotUnknown
	case was == SlotCleared && state == SlotFree:
		return SlotCleared
	default:
		return state
	}
}

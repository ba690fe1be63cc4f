package effect

// Ledger hands out the occurrences of identical calls. It is one turn's, is
// not safe for concurrent use, and survives continue-as-new as its Slots.
//
// Identical calls are those of one tool with one canonical arguments object.
// Each takes the lowest slot that is free: one never used, or one whose last
// use ended without a definite outcome. So an identical call after a definite
// outcome is a new effect with a new key, and one after an unknown outcome is
// the same effect again.
type Ledger struct {
	slots map[string][]SlotState // never ranged over
}

// SlotState is how the last use of an occurrence stands.
type SlotState string

// The states of a slot.
const (
	SlotRunning  SlotState = "running"
	SlotDefinite SlotState = "definite"
	SlotUnknown  SlotState = "unknown"
	SlotFree     SlotState = "free" // used, and certainly without effect
)

// Take gives the occurrence of the next identical call, and whether an
// earlier use of it ended unknown.
func (l *Ledger) Take(tool, canonicalArgs string) (occurrence int, unknown bool) {
	if l.slots == nil {
		l.slots = map[string][]SlotState{}
	}
	id := identity(tool, canonicalArgs)
	states := l.slots[id]
	for i, s := range states {
		if s == SlotUnknown || s == SlotFree {
			states[i] = SlotRunning
			return i, s == SlotUnknown
		}
	}
	l.slots[id] = append(states, SlotRunning)
	return len(states), false
}

// Settle records how the use of an occurrence ended.
func (l *Ledger) Settle(tool, canonicalArgs string, occurrence int, state SlotState) {
	states := l.slots[identity(tool, canonicalArgs)]
	if occurrence < len(states) {
		states[occurrence] = state
	}
}

func identity(tool, canonicalArgs string) string {
	return hash("turnkeel/identity/v1", tool, ArgsDigest(canonicalArgs))
}

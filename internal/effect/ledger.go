package effect

import "github.com/turnkeel/turnkeel/contract"

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
	order []string               // the identities, as they came
}

// SlotState is how the last use of an occurrence stands.
type SlotState byte

// The states of a slot. They travel in a [contract.CarriedSlot].
const (
	SlotNew      SlotState = 0   // never used
	SlotRunning  SlotState = 'r' //
	SlotDefinite SlotState = 'd'
	SlotUnknown  SlotState = 'u'
	SlotFree     SlotState = 'f' // used, and certainly without effect
	SlotCleared  SlotState = 'c' // was unknown; it was settled that it did not happen
)

// NewLedger is a ledger with the slots that an earlier run carried.
func NewLedger(carried []contract.CarriedSlot) Ledger {
	l := Ledger{slots: make(map[string][]SlotState, len(carried))}
	for _, c := range carried {
		l.order = append(l.order, c.ID)
		l.slots[c.ID] = []SlotState(c.States)
	}
	return l
}

// Slots is what the next run carries. No call may be running.
func (l *Ledger) Slots() []contract.CarriedSlot {
	slots := make([]contract.CarriedSlot, len(l.order))
	for i, id := range l.order {
		slots[i] = contract.CarriedSlot{ID: id, States: string(l.slots[id])}
	}
	return slots
}

// Take gives the occurrence of the next identical call, and how its last use
// ended: SlotNew, SlotUnknown, SlotFree or SlotCleared.
func (l *Ledger) Take(tool, canonicalArgs string) (occurrence int, was SlotState) {
	id := identity(tool, canonicalArgs)
	states, known := l.slots[id]
	for i, s := range states {
		if s == SlotUnknown || s == SlotFree || s == SlotCleared {
			states[i] = SlotRunning
			return i, s
		}
	}
	if !known {
		if l.slots == nil {
			l.slots = map[string][]SlotState{}
		}
		l.order = append(l.order, id)
	}
	l.slots[id] = append(states, SlotRunning)
	return len(states), SlotNew
}

// Settle records how the use of an occurrence ended.
func (l *Ledger) Settle(tool, canonicalArgs string, occurrence int, state SlotState) {
	states := l.slots[identity(tool, canonicalArgs)]
	if occurrence < len(states) {
		states[occurrence] = state
	}
}

// Taken is how many occurrences of the call there have been.
func (l *Ledger) Taken(tool, canonicalArgs string) int {
	return len(l.slots[identity(tool, canonicalArgs)])
}

// Unknown says that another occurrence of the call ended unknown.
func (l *Ledger) Unknown(tool, canonicalArgs string, except int) bool {
	for i, s := range l.slots[identity(tool, canonicalArgs)] {
		if s == SlotUnknown && i != except {
			return true
		}
	}
	return false
}

// identity names tool and arguments in 32 hex digits, short enough to carry
// many of them.
func identity(tool, canonicalArgs string) string {
	return hash("turnkeel/identity/v1", tool, ArgsDigest(canonicalArgs))[:32]
}

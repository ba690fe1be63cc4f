package effect_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
)

func take(t *testing.T, l *effect.Ledger, args string, want int, wantWas effect.SlotState) {
	t.Helper()
	got, was := l.Take("pay", args)
	if got != want || was != wantWas {
		t.Errorf("occurrence %d, was %q; want %d, %q", got, was, want, wantWas)
	}
}

func TestLedger(t *testing.T) {
	t.Parallel()
	var l effect.Ledger
	take(t, &l, "{}", 0, effect.SlotNew)
	take(t, &l, "{}", 1, effect.SlotNew) // beside the first, in one parallel batch
	l.Settle("pay", "{}", 0, effect.SlotUnknown)
	l.Settle("pay", "{}", 1, effect.SlotDefinite)
	take(t, &l, "{}", 0, effect.SlotUnknown) // the natural repeat of what is unknown
	l.Settle("pay", "{}", 0, effect.SlotDefinite)
	take(t, &l, "{}", 2, effect.SlotNew)
	l.Settle("pay", "{}", 2, effect.SlotFree)
	take(t, &l, "{}", 2, effect.SlotFree) // nothing happened under it
	take(t, &l, `{"other":1}`, 0, effect.SlotNew)
	if l.Taken("pay", "{}") != 3 || l.Unknown("pay", "{}", -1) {
		t.Errorf("taken %d", l.Taken("pay", "{}"))
	}
}

// R06: the occurrences go on where the run before left them.
func TestLedger_Carried(t *testing.T) {
	t.Parallel()
	var l effect.Ledger
	take(t, &l, `{"a":1}`, 0, effect.SlotNew)
	l.Settle("pay", `{"a":1}`, 0, effect.SlotDefinite)
	take(t, &l, `{"b":1}`, 0, effect.SlotNew)
	l.Settle("pay", `{"b":1}`, 0, effect.SlotUnknown)
	data, err := json.Marshal(l.Slots())
	if err != nil {
		t.Fatal(err)
	}
	var slots []contract.CarriedSlot
	if err := json.Unmarshal(data, &slots); err != nil {
		t.Fatal(err)
	}
	next := effect.NewLedger(slots)
	if diff := cmp.Diff(l.Slots(), next.Slots()); diff != "" {
		t.Error(diff)
	}
	take(t, &next, `{"a":1}`, 1, effect.SlotNew)
	take(t, &next, `{"b":1}`, 0, effect.SlotUnknown)
	take(t, &next, `{"c":1}`, 0, effect.SlotNew)
	if !next.Unknown("pay", `{"b":1}`, 1) && len(next.Slots()) != 3 {
		t.Errorf("%+v", next.Slots())
	}
}

package replay

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
)

const plainHistory = "../../tests/replay/testdata/plain.json"

// A file that an editor has put a byte order mark before is read; one that
// holds no history is told as such, without the parser's own source.
func TestSaved_OddFiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(plainHistory)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range []struct{ name, text, says string }{
		{"marked.json", "\xEF\xBB\xBF" + string(text), ""},
		{"empty.json", "", "it is empty"},
		{"blank.json", "\xEF\xBB\xBF \n", "it is empty"},
		{"null.json", "null", "unexpected token null; save one with"},
	} {
		file := filepath.Join(dir, c.name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := Saved(t.Context(), file, nil)
		switch {
		case c.says == "":
			if err != nil || len(h.GetEvents()) == 0 {
				t.Errorf("%s: %v", c.name, err)
			}
		case !errors.Is(err, ErrNotSaved) || !strings.Contains(err.Error(), c.says):
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Saved(t.Context(), dir, nil); !errors.Is(err, ErrNotSaved) {
		t.Errorf("a folder: %v", err)
	}
}

// A history that is damaged, or newer than this binary, is no verdict on the
// code: nothing is advised about the run.
func TestCheck_Damaged(t *testing.T) {
	t.Parallel()
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	read := func() []*historypb.HistoryEvent {
		h, err := Saved(t.Context(), plainHistory, nil)
		if err != nil {
			t.Fatal(err)
		}
		return h.GetEvents()
	}
	unknown := func(kind enumspb.EventType, ignore bool) []*historypb.HistoryEvent {
		events := read()
		events[8].EventType, events[8].WorkerMayIgnore, events[8].Attributes = kind, ignore, nil
		return events
	}
	for _, test := range []struct {
		name   string
		events []*historypb.HistoryEvent
		says   string
	}{
		{"without an event", append(read()[:4], read()[5:]...), "event 6 stands where event 5 should be"},
		{"twice", append(read(), read()...), "event 1 stands where event 12 should be"},
		{"of an unknown type", unknown(9999, false), "event 9 is of a type that is unknown here"},
		{"of no type", unknown(0, false), "event 9 is of a type that is unknown here"},
	} {
		f := c.Check(Finding{}, &historypb.History{Events: test.events})
		if f.Verdict != Unreadable || f.Error != test.says || f.Where != nil || f.Advice == "" {
			t.Errorf("%s: %+v", test.name, f)
		}
	}
	if err := whole(unknown(9999, true)); err != nil {
		t.Errorf("an event that may be ignored: %v", err)
	}
}

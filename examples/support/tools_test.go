package support

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tooldefs"
)

func newSet(t *testing.T, book ledger) *tooldefs.Set {
	t.Helper()
	set, err := tooldefs.NewSet(Tools(book.path)...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestTools(t *testing.T) {
	t.Parallel()
	set := newSet(t, newLedger(t))
	type facts struct {
		Name     string
		Effects  tooldefs.Effects
		Class    tooldefs.Class
		Parallel bool
	}
	var got []facts
	for _, tool := range set.Tools() {
		got = append(got, facts{tool.Name(), tool.Effects(), tool.Class(), tool.ParallelSafe("{}")})
		if w := tool.Warnings(); len(w) > 0 {
			t.Errorf("%s: %v", tool.Name(), w)
		}
	}
	want := []facts{
		{"lookup_order", tooldefs.None, tooldefs.SafeToRetry, true},
		{"lookup_customer", tooldefs.None, tooldefs.SafeToRetry, true},
		{"refund", tooldefs.External, tooldefs.Keyed, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestDemo plays the calls of demo.yaml: every one is valid and succeeds.
func TestDemo(t *testing.T) {
	t.Parallel()
	script, err := agenttest.LoadScript("demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	book := newLedger(t)
	set := newSet(t, book)
	var called []string
	for _, step := range script.Steps {
		for _, c := range step.Calls {
			called = append(called, c.Name)
			args, err := json.Marshal(c.Args)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := set.CallWith(t.Context(), tooldefs.CallInfo{Key: c.Name}, c.Name, string(args)); err != nil {
				t.Errorf("%s %s: %v", c.Name, args, err)
			}
		}
	}
	if diff := cmp.Diff([]string{"lookup_order", "lookup_customer", "refund"}, called); diff != "" {
		t.Error(diff)
	}
	if got := lines(t, book); len(got) != 1 {
		t.Errorf("got %d refunds", len(got))
	}
}

func TestToolsCheckTheirArguments(t *testing.T) {
	t.Parallel()
	set := newSet(t, newLedger(t))
	for _, tt := range []struct{ tool, args string }{
		{"lookup_order", `{"order_id":"1001"}`},
		{"lookup_customer", `{}`},
		{"refund", `{"order_id":"A-1001","amount_cents":0}`},
		{"refund", `{"order_id":"A-1001","amount_cents":42.5}`},
	} {
		if _, err := set.Call(t.Context(), tt.tool, tt.args); err == nil {
			t.Errorf("%s accepts %s", tt.tool, tt.args)
		}
	}
}

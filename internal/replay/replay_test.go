package replay

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const run = "01a22b89-0a96-7a15-abf6-9a6b74cc2546"
	for in, want := range map[string][2]string{
		"ticket-1":        {"ticket-1", ""},
		"ticket-1/" + run: {"ticket-1", run},
		"a/b":             {"a/b", ""},
		"a/b/" + run:      {"a/b", run},
		"/" + run:         {"/" + run, ""},
		run:               {run, ""},
		"x/" + run + "0":  {"x/" + run + "0", ""},
	} {
		if id, gotRun := Parse(in); id != want[0] || gotRun != want[1] {
			t.Errorf("%s: %q, %q, want %q", in, id, gotRun, want)
		}
	}
}

func TestSelected(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		types         []string
		every, closed bool
		condition     string
		all, others   string
	}{
		{types: []string{"a", "o'b"}, all: `WorkflowType IN ('a', 'o''b') AND ExecutionStatus = 'Running'`, others: `WorkflowType NOT IN ('a', 'o''b') AND ExecutionStatus = 'Running'`},
		{types: []string{"a"}, closed: true, condition: "X = 1 OR Y = 2", all: `WorkflowType IN ('a') AND (X = 1 OR Y = 2)`, others: `WorkflowType NOT IN ('a') AND (X = 1 OR Y = 2)`},
		{types: []string{"a"}, every: true, all: `ExecutionStatus = 'Running'`},
	} {
		got := selected("n", tt.types, tt.every, tt.condition, tt.closed)
		if diff := cmp.Diff([]string{tt.all, tt.others}, []string{got.all, got.others}); diff != "" {
			t.Error(diff)
		}
	}
}

func TestShellWord(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"ticket-1": "ticket-1", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "": "''"} {
		if got := shellWord(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// A registration that the SDK refuses is an error, never a panic, and types are
// known by the names that the SDK gives them.
func TestNew(t *testing.T) {
	t.Parallel()
	twice := func(r *Registry) {
		r.RegisterWorkflow(Order)
		r.RegisterWorkflow(Order)
	}
	if _, err := New(Options{Register: twice}); err == nil || !strings.Contains(err.Error(), "register the workflows") {
		t.Errorf("registered twice: %v", err)
	}
	c, err := New(Options{Register: func(r *Registry) { r.RegisterWorkflow(Order); r.RegisterActivity(Order) }})
	if err != nil {
		t.Fatal(err)
	}
	types, all := c.Types()
	if diff := cmp.Diff([]string{"turnkeel.Turn", "turnkeel.Session", "Order"}, types); diff != "" || all {
		t.Errorf("%v\n%s", all, diff)
	}
}

// Order is a workflow registered by its function's name.
func Order(workflow.Context) error { return nil }

// Each beginning of a history that does not cut a task's own events apart is
// itself one that replays: what is read of a live run is such a beginning, and
// a break is located by them.
func TestCheck_EveryBeginning(t *testing.T) {
	t.Parallel()
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"support", "approvals", "session", "resolve-reset"} {
		f, err := os.Open("../../tests/replay/testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		h, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		events := h.GetEvents()
		whole := 0 // no beginning before it is one
		for n := range events {
			if slices.Contains(completedTasks(events), n) {
				whole = recordedBy(events, n)
			}
			if h.Events = events[:n+1]; n+1 < whole {
				continue
			}
			if got := c.Check(Finding{}, h); got.Verdict != Replays {
				t.Errorf("%s, %d events: %+v", name, n+1, got)
			}
		}
	}
}

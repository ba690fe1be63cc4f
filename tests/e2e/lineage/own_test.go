package lineage

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/workflows"
)

type ownCall struct{ Tool, Item string }

type ownInput struct {
	Queue   string // of the worker that has the tools
	Runs    [][]ownCall
	Carried *contract.CarriedTools
}

// ownCalls is a workflow of a user's own: each of its runs calls tools by name
// and leaves it to the next to go on.
func ownCalls(ctx workflow.Context, in ownInput) error {
	tools, err := workflows.NewTools(ctx, workflows.ToolsOptions{TaskQueue: in.Queue, Carried: in.Carried})
	if err != nil {
		return err
	}
	err = workflow.SetQueryHandler(ctx, "waiting", func() ([]contract.Pending, error) { return tools.Pending(), nil })
	if err != nil {
		return err
	}
	for _, c := range in.Runs[0] {
		if _, err := tools.Call(ctx, c.Tool, map[string]any{"item": c.Item}); err != nil {
			workflow.GetLogger(ctx).Info("a call has no value", "tool", c.Tool, "error", err)
		}
	}
	if len(in.Runs) == 1 {
		return nil
	}
	carried := tools.Carry()
	return workflow.NewContinueAsNewError(ctx, ownCalls, ownInput{Queue: in.Queue, Runs: in.Runs[1:], Carried: &carried})
}

// logRow is what these tests read of a line of the effect log.
type logRow struct {
	Ordinal    int              `json:"ordinal"`
	Tool       string           `json:"tool"`
	Class      contract.Class   `json:"class"`
	Key        string           `json:"key"`
	Attempts   int              `json:"attempts"`
	Outcome    contract.Outcome `json:"outcome"`
	How        string           `json:"how"`
	RunID      string           `json:"run_id"`
	Continues  string           `json:"continues"`
	Approval   *fold.Decision   `json:"approval"`
	Resolution *fold.Decision   `json:"resolution"`
}

func logRows(t *testing.T, args ...string) []logRow {
	t.Helper()
	var rows []logRow
	dec := json.NewDecoder(strings.NewReader(starter(t, append([]string{"effects", "--output", "json"}, args...)...)))
	for dec.More() {
		var r logRow
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// decided is what a row says that a person said.
func (r logRow) decided() string {
	said := ""
	for _, d := range []*fold.Decision{r.Approval, r.Resolution} {
		if d != nil {
			said += d.Verdict + " by " + d.By
		}
	}
	return said
}

// T46: the calls that a workflow of a user's own makes by name are in the
// effect log as a turn's are: key, class, attempts, outcome and who decided,
// while it runs and afterwards, over continue-as-new, and from a saved file.
func TestT46_EffectsOfAnOwnWorkflow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(), worldOptions{answer: func(a arrival, n int) reply {
		return reply{Cut: n == 1 && a.Tool != read}
	}})
	own := sdkworker.New(w.Temporal, w.Queue+"-own", sdkworker.Options{})
	own.RegisterWorkflow(ownCalls)
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	id := "own-" + w.Queue
	handle, err := w.Temporal.ExecuteWorkflow(t.Context(), sdkclient.StartWorkflowOptions{ID: id, TaskQueue: w.Queue + "-own"}, ownCalls, ownInput{
		Queue: w.Queue, Runs: [][]ownCall{
			{{read, "a"}, {once, "b"}, {keyed, "c"}, {gated, "d"}, {"nope", "e"}, {asked, "f"}},
			{{read, "a"}, {once, "b"}, {gated, "g"}, {gated, "d"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	first := w.decideOwn(t, id, false)
	second := w.decideOwn(t, id, true)
	if err := handle.Get(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	rows := logRows(t, id)
	const denied, approved = "denied by ann", "approved by ann"
	for i, want := range []struct {
		tool     string
		class    contract.Class
		attempts int
		outcome  contract.Outcome
		how      string
		decided  string
	}{
		{read, contract.ClassSafeToRetry, 1, contract.OutcomeDone, "", ""},
		{once, contract.ClassAtMostOnce, 1, contract.OutcomeUnknown, "", ""},
		{keyed, contract.ClassKeyed, 2, contract.OutcomeDone, "", ""},
		{gated, contract.ClassAtMostOnce, 0, contract.OutcomeDenied, "", denied},
		{"nope", "", 0, contract.OutcomeInvalid, "", ""},
		{asked, contract.ClassAtMostOnce, 1, contract.OutcomeDone, "reconciled", ""},
		{read, contract.ClassSafeToRetry, 1, contract.OutcomeDone, "", ""},
		{once, contract.ClassAtMostOnce, 0, contract.OutcomeUnknown, "", ""}, // not repeated
		{gated, contract.ClassAtMostOnce, 1, contract.OutcomeUnknown, "", approved},
		{gated, contract.ClassAtMostOnce, 0, contract.OutcomeDenied, "", denied}, // as before
	} {
		if i >= len(rows) {
			t.Fatalf("%d rows", len(rows))
		}
		r := rows[i]
		got := logRow{Ordinal: i + 1, Tool: want.tool, Class: want.class, Attempts: want.attempts, Outcome: want.outcome, How: want.how,
			Key: r.Key, RunID: r.RunID, Continues: r.Continues, Approval: r.Approval, Resolution: r.Resolution}
		if diff := cmp.Diff(got, r); diff != "" || r.decided() != want.decided {
			t.Errorf("call %d, decided %q:\n%s", i+1, r.decided(), diff)
		}
	}
	sameKey := func(a, b int) bool { return rows[a-1].Key == rows[b-1].Key }
	if rows[4].Key != "" || sameKey(1, 7) || !sameKey(2, 8) || rows[3].Key != first || !sameKey(4, 10) || rows[8].Key != second {
		t.Errorf("the keys do not tell which calls are which: %+v", rows)
	}
	for item, arrivals := range map[string]int{"b": 1, "c": 2, "d": 0, "f": 1, "g": 1} {
		w.ledger.want(t, item, arrivals)
	}
	if keys := w.ledger.of("a"); len(keys) != 2 || keys[0] != rows[0].Key || keys[1] != rows[6].Key {
		t.Errorf("a arrived under %.8q", keys)
	}
	w.ownText(t, id, rows)
	w.ownFile(t, id, rows)
}

// decideOwn waits for a call of a workflow to ask, looks at how the log shows
// it meanwhile, and decides.
func (w *world) decideOwn(t *testing.T, id string, approve bool) (key string) {
	t.Helper()
	var waiting []contract.Pending
	for poll := time.NewTicker(20 * time.Millisecond); len(waiting) == 0; <-poll.C {
		answer, err := w.Temporal.QueryWorkflow(t.Context(), id, "", "waiting")
		if err == nil {
			err = answer.Get(&waiting)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	rows := logRows(t, id)
	if r := rows[len(rows)-1]; r.Key != waiting[0].Key || r.Outcome != contract.OutcomeNotStarted || r.Approval != nil {
		t.Errorf("the call that waits is shown as %+v", r)
	}
	command := "deny"
	if approve {
		command = "approve"
	}
	starter(t, command, id, "--key", waiting[0].Key, "--digest", waiting[0].Digest, "--by", "ann")
	return waiting[0].Key
}

// ownText looks at the log as a person does.
func (w *world) ownText(t *testing.T, id string, rows []logRow) {
	t.Helper()
	text := starter(t, "effects", id)
	for _, want := range []string{"continues " + rows[0].RunID[:8], "denied by ann", "approved by ann", "done (reconciled)", rows[2].Key[:12]} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "by the events") || strings.Contains(text, "abandoned") {
		t.Errorf("the log of a workflow that ended:\n%s", text)
	}
}

// ownFile looks at each run as it was saved, alone.
func (w *world) ownFile(t *testing.T, id string, rows []logRow) {
	t.Helper()
	for _, c := range []struct {
		run  string
		want []logRow
	}{{rows[0].RunID, rows[:6]}, {rows[9].RunID, rows[6:]}} {
		h, err := agenttest.History(t.Context(), w.Temporal, id, c.run)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "history.json")
		data, err := protojson.Marshal(h)
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		saved := logRows(t, "--file", file)
		if len(saved) != len(c.want) {
			t.Errorf("run %s: %d calls, want %d", c.run, len(saved), len(c.want))
			continue
		}
		for i, r := range saved {
			want := c.want[i]
			if want.Attempts == 0 && c.run == rows[9].RunID { // the run before, which is not in the file, has its key
				want.Key, r.Key = "", ""
				want.Approval, r.Approval = nil, nil
				want.Outcome, r.Outcome = "", ""
			}
			if diff := cmp.Diff(want, r); diff != "" {
				t.Errorf("run %s, call %d:\n%s", c.run, r.Ordinal, diff)
			}
		}
		if text := starter(t, "effects", "--file", file); strings.Count(text, "\n") != len(c.want)+1 {
			t.Errorf("run %s as text:\n%s", c.run, text)
		}
	}
}

package lineage

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/cli"
)

// starter runs a command of the starter on the test's server.
func starter(t *testing.T, args ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	if code := cli.Main(args, strings.NewReader(""), &out, &errOut); code != 0 {
		t.Fatalf("starter %q: exit code %d\n%s", args, code, errOut.String())
	}
	return out.String()
}

// row is what these tests read of a line of the effect log.
type row struct {
	Tool      string           `json:"tool"`
	RunID     string           `json:"run_id"`
	Outcome   contract.Outcome `json:"outcome"`
	FromRun   string           `json:"from_run"`
	Abandoned bool             `json:"abandoned"`
}

func effectRows(t *testing.T, args ...string) []row {
	t.Helper()
	var rows []row
	dec := json.NewDecoder(strings.NewReader(starter(t, append([]string{"effects", "--output", "json"}, args...)...)))
	for dec.More() {
		var r row
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// The effect log of a turn that was reset three times tells what each run did,
// what it only took over, and what is left behind. P06: an unrelated call that
// a fresh read brings about does not move a key.
func TestStory_OfThreeResets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(calls(call(read, "gate")), calls(call(once, "charge"))), worldOptions{
		answer: func(a arrival, n int) reply { return reply{Hang: a.Item == "gate" && n == 1} },
	})
	a := w.Start("charge it")
	w.next(t)
	task := w.tasks(t, a.ID, a.RunID)[0]
	b := w.reset(t, a.ID, a.RunID, task)
	completed(t, w.Wait(b))
	c := w.reset(t, a.ID, a.RunID, task)
	completed(t, w.Wait(c))
	d := w.reset(t, a.ID, c.RunID, w.tasks(t, a.ID, c.RunID)[2])
	last := w.Wait(d)
	completed(t, last)
	const done, unknown = contract.OutcomeDone, contract.OutcomeUnknown
	want := []row{
		{Tool: read, RunID: a.RunID, Outcome: unknown, Abandoned: true}, // running when it was reset
		{Tool: read, RunID: b.RunID, Outcome: done, Abandoned: true},
		{Tool: once, RunID: b.RunID, Outcome: done, Abandoned: true}, // the one charge
		{Tool: read, RunID: c.RunID, Outcome: done, FromRun: b.RunID},
		{Tool: once, RunID: c.RunID, Outcome: done, FromRun: b.RunID, Abandoned: true},
		{Tool: once, RunID: d.RunID, Outcome: done, FromRun: b.RunID},
	}
	if diff := cmp.Diff(want, effectRows(t, a.ID)); diff != "" {
		t.Error(diff)
	}
	w.ledger.want(t, "charge", 1)
	text := starter(t, "effects", a.ID)
	for _, want := range []string{"run 4", "a reset of " + c.RunID[:8], "recorded by run " + b.RunID[:8], "abandoned by a reset"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	file := filepath.Join(t.TempDir(), "history.json")
	data, err := protojson.Marshal(&historypb.History{Events: last.History.GetEvents()})
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	saved := effectRows(t, "--file", file) // one run alone, with what it took over
	if len(saved) != 2 || saved[1].RunID != d.RunID || saved[1].FromRun != b.RunID {
		t.Errorf("of the file: %+v", saved)
	}
}

// A read that is recorded is not made again: its changed result would have the
// model ask for other effects. With NoReplay (T34) it is, and they happen.
func TestReset_RecordedReadsStand(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]int{read: 1, fresh: 2} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			s := script(calls(call(tool, "price")))
			s.Hook = chargeWhatWasRead
			w := newWorld(t, s, worldOptions{answer: func(_ arrival, n int) reply { return reply{Text: strconv.Itoa(n)} }})
			first := w.Run("go")
			completed(t, first)
			out := w.Wait(w.reset(t, first.Turn.ID, first.Turn.RunID, w.tasks(t, first.Turn.ID, first.Turn.RunID)[0]))
			completed(t, out)
			w.ledger.want(t, "price", want)
			charges := len(w.ledger.of("charge 1")) + len(w.ledger.of("charge 2"))
			if charges != want {
				t.Errorf("%d charges, want %d", charges, want)
			}
			w.ledger.want(t, "always", 1) // P06: beside what moved, its key stands
		})
	}
}

// R08: a fork goes on from a step, and its effects are its own.
func TestFork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(calls(call(once, "a")), calls(call(once, "b"))), worldOptions{})
	first := w.Run("go")
	completed(t, first)
	said := starter(t, "fork", first.Turn.ID, "--step", "1", "--message", "go again", "--task-queue", w.Queue, "--output", "json")
	var forked struct {
		WorkflowID string `json:"workflow_id"`
		RunID      string `json:"run_id"`
		Later      int    `json:"later_calls"`
	}
	if err := json.Unmarshal([]byte(said), &forked); err != nil {
		t.Fatalf("%v in %s", err, said)
	}
	out := w.Wait(w.Turns.Turn(t.Context(), forked.WorkflowID, forked.RunID))
	completed(t, out)
	if forked.Later != 1 || len(out.Messages) < 4 || out.Messages[3].Content != "go again" {
		t.Errorf("later calls: %d; messages: %+v", forked.Later, out.Messages)
	}
	if keys := w.ledger.of("b"); len(keys) != 2 || keys[0] == keys[1] {
		t.Errorf("b arrived under %.8q, want two keys", keys)
	}
}

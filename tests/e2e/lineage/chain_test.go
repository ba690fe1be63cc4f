package lineage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// startSteps starts a turn that continues as new after every step.
func (w *world) startSteps(t *testing.T) *turnkeel.Turn {
	t.Helper()
	turn, err := w.Turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent: agenttest.AgentName, StepsPerRun: 1, Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// chain are the ids of a run and of those that continue it, in order, once the
// last one has ended. Each is replayed.
func (w *world) chain(t *testing.T, turn *turnkeel.Turn) []string {
	t.Helper()
	if _, err := turn.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for id := turn.RunID; id != ""; {
		ids = append(ids, id)
		completed(t, w.Wait(w.Turns.Turn(t.Context(), turn.ID, id)))
		run, err := fold.Build(w.events(t, turn.ID, id), nil)
		if err != nil {
			t.Fatal(err)
		}
		id = run.ContinuedAs
	}
	return ids
}

// spread is a turn of four steps, each a run of its own, whose second one
// waits at a gate when it comes there first.
func spread(t *testing.T) *world {
	return newWorld(t, script(
		calls(call(once, "a"), call(keyed, "b")),
		calls(call(read, "gate"), call(once, "c")),
		calls(call(keyed, "d")),
	), worldOptions{
		answer: func(a arrival, n int) reply { return reply{Hang: a.Item == "gate" && n == 1} },
	})
}

// named gives the runs names that a person can follow: A1, A2 and so on.
func named(chains ...[]string) *strings.Replacer {
	var names []string
	for i, ids := range chains {
		for j, id := range ids {
			names = append(names, id, string(rune('A'+i))+string(rune('1'+j)))
		}
	}
	return strings.NewReplacer(names...)
}

// R08, R06: a turn that goes on in a new run after every step and is reset
// three times: a closed run while a later one is under way, a closed run in the
// middle, the latest one. Every effect arrives once, the model is asked for
// nothing again, and the effect log tells all of it.
func TestStory_OfThreeResetsAndContinuedRuns(t *testing.T) {
	t.Parallel()
	w := spread(t)
	turn := w.startSteps(t)
	for range 3 {
		w.next(t) // a, b; the second run waits at the gate
	}
	second, err := fold.Build(w.events(t, turn.ID, turn.RunID), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := []string{turn.RunID, second.ContinuedAs}
	b := w.chain(t, w.reset(t, turn.ID, a[0], w.tasks(t, turn.ID, a[0])[0]))
	c := w.chain(t, w.reset(t, turn.ID, b[1], w.tasks(t, turn.ID, b[1])[2]))
	d := w.chain(t, w.reset(t, turn.ID, c[2], w.tasks(t, turn.ID, c[2])[0]))
	if len(b) != 4 || len(c) != 3 || len(d) != 1 {
		t.Fatalf("the chains have %d, %d and %d runs", len(b), len(c), len(d))
	}
	for item, arrivals := range map[string]int{"a": 1, "b": 1, "c": 1, "d": 1, "gate": 2} {
		w.ledger.want(t, item, arrivals) // A2's reading has no recorded outcome: it is made again
	}
	w.asked(t, 4)
	names := named(a, b, c, d)
	var got []row
	for _, r := range effectRows(t, turn.ID) {
		r.RunID, r.FromRun = names.Replace(r.RunID), names.Replace(r.FromRun)
		got = append(got, r)
	}
	const done, unknown = contract.OutcomeDone, contract.OutcomeUnknown
	want := []row{
		{Tool: once, RunID: "A1", Outcome: done, Abandoned: true},
		{Tool: keyed, RunID: "A1", Outcome: done, Abandoned: true},
		{Tool: read, RunID: "A2", Outcome: unknown, Abandoned: true},
		{Tool: once, RunID: "A2", Outcome: contract.OutcomeNotStarted, Abandoned: true},
		{Tool: once, RunID: "B1", Outcome: done, FromRun: "A1"},
		{Tool: keyed, RunID: "B1", Outcome: done, FromRun: "A1"},
		{Tool: read, RunID: "B2", Outcome: done},
		{Tool: once, RunID: "B2", Outcome: done, Abandoned: true},
		{Tool: keyed, RunID: "B3", Outcome: done, Abandoned: true},
		{Tool: once, RunID: "C1", Outcome: done, FromRun: "B2"},
		{Tool: keyed, RunID: "C2", Outcome: done, FromRun: "B3"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	text := named(short(a), short(b), short(c), short(d)).Replace(starter(t, "effects", turn.ID))
	for _, want := range []string{
		"  continues A1", "a reset of A1 (test)", "a reset of B2 (test)", "a reset of C3 (test)", "  continues C2",
		"done (recorded by run B3, not repeated)", "done [abandoned by a reset]", "run 10 ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

func short(ids []string) []string {
	var list []string
	for _, id := range ids {
		list = append(list, id[:8])
	}
	return list
}

// R08: the recorded answers and results are in runs that the reset one
// continues into, or comes from: after a reset of any run of the chain to any
// of its workflow tasks nothing is asked or done again, and the answer stands.
func TestReset_OfEveryContinuedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(calls(call(once, "a"), call(keyed, "b")), calls(call(once, "c"))), worldOptions{})
	turn := w.startSteps(t)
	first, err := turn.Result(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asked := len(w.Model.Requests())
	for i, id := range w.chain(t, turn) {
		for _, task := range w.tasks(t, turn.ID, id) {
			again, err := w.reset(t, turn.ID, id, task).Result(t.Context())
			if err != nil {
				t.Errorf("run %d, event %d: %v", i+1, task, err)
			}
			again.RunID, first.RunID = "", ""
			if diff := cmp.Diff(first, again); diff != "" {
				t.Errorf("run %d, event %d: %s", i+1, task, diff)
			}
		}
	}
	for _, item := range []string{"a", "b", "c"} {
		w.ledger.want(t, item, 1)
	}
	w.asked(t, asked)
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/toolbin"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type payInput struct {
	Cents int `json:"cents"`
}

// gatedBench serves an agent whose every payment needs a yes.
func gatedBench(t *testing.T, calls ...int) *agenttest.Bench {
	t.Helper()
	return gatedBenchOn(t, server, calls...)
}

func gatedBenchOn(t *testing.T, on agenttest.Server, calls ...int) *agenttest.Bench {
	t.Helper()
	pay := tooldefs.Define(tooldefs.Spec[payInput, string]{
		Name: "pay", Description: "Pays.", Approval: tooldefs.Always,
		Handler: func(context.Context, *tooldefs.Call, payInput) (string, error) { return "paid", nil },
	})
	step := agenttest.Step{}
	for _, cents := range calls {
		step.Calls = append(step.Calls, agenttest.ScriptCall{Name: "pay", Args: map[string]any{"cents": cents}})
	}
	return agenttest.NewBench(t, agenttest.BenchOptions{
		Server: on, Tools: []*tooldefs.Tool{pay},
		Script: agenttest.Script{
			Turns: []agenttest.ScriptTurn{{When: "hello", Steps: []agenttest.Step{{Text: "Good evening."}}}},
			Steps: []agenttest.Step{step, {Text: "done"}},
		},
	})
}

type pendingLine struct {
	Turn, Key, Digest, Tool, Args string
}

func ask(t *testing.T, args ...string) result {
	t.Helper()
	return finish(t, command(t, t.TempDir(), starter, append(onServer(), "TURNKEEL_USER=ann"), args...))
}

func pendingOf(t *testing.T, turn string, n int) []pendingLine {
	t.Helper()
	for {
		r := ask(t, "pending", turn, "--output", "json")
		var lines []pendingLine
		dec := json.NewDecoder(strings.NewReader(r.out))
		for dec.More() {
			var line pendingLine
			if err := dec.Decode(&line); err != nil {
				t.Fatalf("%v in %s", err, r.out)
			}
			lines = append(lines, line)
		}
		if len(lines) == n {
			return lines
		}
		if t.Context().Err() != nil {
			t.Fatalf("%d calls wait, want %d: %s", len(lines), n, r.errOut)
		}
	}
}

// R22, R24, R25 at the terminal: what waits is shown exactly, decided by key
// and digest, denied with a comment, and left with exit code 4.
func TestPeople(t *testing.T) {
	t.Parallel()
	b := gatedBench(t, 1, 2)
	r := ask(t, "run", "--agent", agenttest.AgentName, "--task-queue", b.Queue, "--turn-id", "people-"+b.Queue, "--no-wait", "pay")
	if r.code != 4 || !strings.Contains(r.out, "starter approve people-"+b.Queue+" --key ") {
		t.Fatalf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	turn := "people-" + b.Queue
	waiting := pendingOf(t, turn, 2)
	if waiting[0].Args != `{"cents":1}` || waiting[0].Tool != "pay" || waiting[0].Turn != turn {
		t.Errorf("%+v", waiting)
	}
	if r := ask(t, "approve", turn, "--key", waiting[0].Key); r.code != 2 {
		t.Errorf("a key without its digest: exit code %d", r.code)
	}
	if r := ask(t, "approve", turn, "--key", waiting[0].Key, "--digest", "0000000000000000"); r.code != 1 || !strings.Contains(r.errOut, "digest does not match") {
		t.Errorf("a wrong digest: exit code %d, %s", r.code, r.errOut)
	}
	if r := ask(t, "approve", turn, "--key", waiting[0].Key, "--digest", waiting[0].Digest); r.code != 0 || !strings.Contains(r.out, "approved by ann") {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	if r := ask(t, "deny", turn, "--comment", "too much", "--yes"); r.code != 0 || !strings.Contains(r.errOut, `{"cents":2}`) {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	out := b.Wait(b.Turns.Turn(t.Context(), turn, ""))
	if out.Effects[0].Outcome != contract.OutcomeDone || out.Effects[1].Outcome != contract.OutcomeDenied || !strings.Contains(out.Effects[1].Text, "too much") {
		t.Errorf("%+v", out.Effects)
	}
}

// R22, P13: deciding twice changes nothing, also after a reset to before the
// question; the first decision stands, and a turn that has ended says so.
func TestPeople_Again(t *testing.T) {
	t.Parallel()
	b := gatedBench(t, 1, 2)
	turn := b.Start("pay")
	calls := pendingOf(t, turn.ID, 2)
	decided := func(verb string, p pendingLine, code int, want string) {
		t.Helper()
		r := ask(t, verb, turn.ID, "--key", p.Key, "--digest", p.Digest)
		if r.code != code || !strings.Contains(r.out+r.errOut, want) {
			t.Errorf("%s: exit code %d, want %d; wanted %q in\n%s%s", verb, r.code, code, want, r.out, r.errOut)
		}
	}
	decided("approve", calls[0], 0, "approved by ann")
	decided("approve", calls[0], 0, "approved by ann")
	decided("deny", calls[0], 1, "first decision stands")
	cli, err := toolbin.TemporalCLI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := finish(t, command(t, t.TempDir(), cli, onServer(), "workflow", "reset", "--workflow-id", turn.ID, "--event-id", "4", "--reason", "test"))
	if r.code != 0 {
		t.Fatalf("%s%s", r.out, r.errOut)
	}
	pendingOf(t, turn.ID, 1)
	decided("approve", calls[0], 0, "approved by ann")
	decided("deny", calls[0], 1, "first decision stands")
	decided("deny", calls[1], 0, "denied by ann")
	if out := b.Wait(b.Turns.Turn(t.Context(), turn.ID, "")); out.Result.Effects.Done != 1 || out.Result.Effects.NotExecuted != 1 {
		t.Errorf("%+v", out.Effects)
	}
	decided("approve", calls[1], 3, "completed")
}

// T50: at the terminal: a call whose outcome is unknown is listed with the
// command that settles it; the verdict, the value, who and when are recorded and
// shown, and the model reads the value.
func TestPeople_UnknownOutcome(t *testing.T) {
	t.Parallel()
	pay := tooldefs.Define(tooldefs.Spec[payInput, string]{
		Name: "pay", Description: "Pays.", OnUnknown: tooldefs.AskHuman,
		Handler: func(context.Context, *tooldefs.Call, payInput) (string, error) {
			return "", tooldefs.Unknown(errors.New("the line went dead"))
		},
	})
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{pay},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{{Name: "pay", Args: map[string]any{"cents": 5}}}}, {Text: "done"}}},
	})
	turn := b.Start("pay")
	p := pendingOf(t, turn.ID, 1)[0]
	if r := ask(t, "pending", turn.ID); !strings.Contains(r.out, "outcome unknown") || !strings.Contains(r.out, "the line went dead") || !strings.Contains(r.out, "starter resolve "+turn.ID+" --key ") {
		t.Errorf("listed as\n%s\n%s", r.out, r.errOut)
	}
	if r := ask(t, "resolve", turn.ID, "--key", p.Key, "--verdict", "perhaps"); r.code == 0 {
		t.Error("an unknown verdict is taken")
	}
	if r := ask(t, "resolve", turn.ID, "--key", p.Key, "--verdict", "happened", "--value", "receipt 7", "--comment", "in the book"); r.code != 0 || !strings.Contains(r.out, "settled as happened by ann") {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	out := b.Wait(turn)
	e := out.Effects[0]
	if e.Outcome != contract.OutcomeDone || e.How != contract.HowResolved || e.Resolution == nil || e.Resolution.By != "ann" || e.Resolution.At.IsZero() || !strings.Contains(e.Text, "receipt 7") {
		t.Errorf("%+v", e)
	}
	if r := ask(t, "effects", turn.ID); !strings.Contains(r.out, "happened by ann") {
		t.Errorf("the log:\n%s", r.out)
	}
}

// R22: --all needs a filter and a yes; it decides what was shown, and nothing
// else.
func TestPeople_All(t *testing.T) {
	t.Parallel()
	b := gatedBench(t, 1, 2)
	turns := []string{b.Start("pay").ID, b.Start("pay").ID, b.Start("pay").ID}
	for _, turn := range turns {
		pendingOf(t, turn, 2)
	}
	filter := "WorkflowId IN ('" + turns[0] + "', '" + turns[1] + "')"
	approve := func(stdin string, args ...string) result {
		cmd := command(t, t.TempDir(), starter, append(onServer(), "TURNKEEL_USER=ann"), append([]string{"approve"}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		return finish(t, cmd)
	}
	for _, args := range [][]string{
		{"--all"}, {"--all", "--yes"}, {turns[0], "--all", "--tool", "pay"}, {"--tool", "pay"}, {turns[0], "--query", filter},
		{"--all", "--tool", "pay", "--key", "k", "--digest", "d"},
	} {
		if r := approve("y\n", args...); r.code != 2 {
			t.Errorf("%v: exit code %d: %s", args, r.code, r.errOut)
		}
	}
	if r := approve("y\n", "--all", "--tool", "no_such_tool"); r.code != 3 || !strings.Contains(r.errOut, "no call waits") {
		t.Errorf("a tool that nothing waits for: exit code %d: %s", r.code, r.errOut)
	}
	var r result
	for t.Context().Err() == nil && !strings.Contains(r.errOut, "Approve these 4 calls?") { // what is listed follows with a delay
		r = approve("", "--all", "--tool", "pay", "--query", filter)
	}
	if r.code != 1 || !strings.Contains(r.errOut, "nothing was decided") || strings.Count(r.errOut, `{"cents":1}`) != 2 {
		t.Errorf("nobody said yes: exit code %d: %s", r.code, r.errOut)
	}
	if r = approve("n\n", "--all", "--query", filter); r.code != 1 {
		t.Errorf("a no: exit code %d", r.code)
	}
	for _, turn := range turns {
		pendingOf(t, turn, 2)
	}
	if r = approve("yes\n", "--all", "--tool", "pay", "--query", filter); r.code != 0 || strings.Count(r.out, "approved by ann") != 4 {
		t.Errorf("a yes: exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	for _, turn := range turns[:2] {
		if out := b.Wait(b.Turns.Turn(t.Context(), turn, "")); out.Result.Effects.Done != 2 {
			t.Errorf("%+v", out.Effects)
		}
	}
	pendingOf(t, turns[2], 2)
	if r := ask(t, "cancel", turns[2]); r.code != 0 {
		t.Error(r.errOut)
	}
}

// The command that docs/approvals.md gives for the temporal CLI decides.
func TestPeople_TemporalCLI(t *testing.T) {
	t.Parallel()
	b := gatedBench(t, 3)
	turn := b.Start("pay")
	p := pendingOf(t, turn.ID, 1)[0]
	cli, err := toolbin.TemporalCLI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(contract.DecideRequest{Key: p.Key, Digest: p.Digest, Approve: true, By: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	r := finish(t, command(t, t.TempDir(), cli, onServer(), "workflow", "update", "execute", "--workflow-id", turn.ID,
		"--name", "decide", "--input", string(input)))
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	if out := b.Wait(turn); out.Effects[0].Outcome != contract.OutcomeDone {
		t.Errorf("%+v", out.Effects)
	}
}

// R50: a session from the terminal.
func TestSend(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Script: agenttest.Script{Steps: []agenttest.Step{{Text: "hello there"}}}})
	session := "talk-" + b.Queue
	for _, id := range []string{"m1", "m2", "m1"} {
		r := ask(t, "send", session, "--agent", agenttest.AgentName, "--task-queue", b.Queue, "--message-id", id, "hi", id)
		if r.code != 0 || !strings.Contains(r.out, "hello there") {
			t.Fatalf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
		}
	}
	if n := len(b.Model.Requests()); n != 2 {
		t.Errorf("the model was asked %d times for two messages", n)
	}
	if r := ask(t, "send", session, "--while-busy", "maybe", "hi"); r.code != 2 {
		t.Errorf("exit code %d", r.code)
	}
}

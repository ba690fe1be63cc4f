package chat

import (
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/devproc"
)

func pay(args map[string]any) agenttest.Step {
	return agenttest.Step{Calls: []agenttest.ScriptCall{{Name: "pay", Args: args}}}
}

const (
	you    = "you>"
	ctrlC  = "\x03"
	ctrlD  = "\x04"
	choice = "y approve · n deny"
)

// R20, R22, R24, R40, R50: a person's whole evening at the terminal: an
// approval and a denial on the spot, an interruption, leaving, and coming back
// to the turn that waits.
func TestChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, agenttest.Script{
		Turns: []agenttest.ScriptTurn{
			{When: "hello", Steps: []agenttest.Step{{Text: "Good evening."}}},
			{When: "pay one", Steps: []agenttest.Step{pay(map[string]any{"cents": 1, "note": "a\u202eb"}), {Text: "One is paid."}}},
			{When: "pay two", Steps: []agenttest.Step{pay(map[string]any{"cents": 2}), {Text: "Two is not paid."}}},
			{When: "work", Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{{Name: "work", Args: map[string]any{"cents": 1}}}}, {Text: "never"}}},
			{When: "pay three", Steps: []agenttest.Step{pay(map[string]any{"cents": 3}), {Text: "Three is paid."}}},
		},
	})
	w.worker(t)
	session := "evening-" + w.Queue
	p := sit(t, nil, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue, "--session", session)
	p.sees(you, 1)
	p.types("hallo\x1b[D\x1b[D\x1b[D\x7fe\x05\r") // arrows, backspace, end of line
	p.sees("Good evening.", 1)
	p.sees(you, 2)

	p.types("pay one\r")
	p.sees(choice, 1)
	for _, want := range []string{`arguments  {"cents":1,"note":"a\u202eb"}`, "tool       pay", "class at_most_once", "digest     ", "key        ", "by agent test"} {
		p.sees(want, 1)
	}
	p.types("what\r")
	p.sees(choice, 2)
	p.types("v\r")
	p.sees("arguments, exactly: ", 1)
	p.sees(choice, 3)
	p.types("y\r")
	p.sees("decide approved by ann", 1)
	p.sees("One is paid.", 1)
	p.sees(you, 3)

	p.types("pay two\r")
	p.sees(choice, 4)
	p.types("n\r")
	p.sees("why?", 1)
	p.types("too much\r")
	p.sees("decide denied (too much) by ann", 1)
	p.sees("Two is not paid.", 1)
	p.sees(you, 4)

	p.types("work\r")
	p.sees("half way", 1)
	p.types(ctrlC)
	p.sees("turn   interrupted: interrupted by ann: from the chat", 1)
	p.sees(you, 5)

	p.types("\x1b[A\x1b[A\x7f\x7f\x7fthree\r") // up twice: no answer is among the messages
	p.sees(you+" pay three", 1)
	p.sees(choice, 5)
	p.types(ctrlD) // skips
	p.sees("starter approve "+session+"/", 1)
	p.types(ctrlC + ctrlC)
	p.sees("starter chat --session "+session, 1)
	if code := p.left(); code != 130 {
		t.Errorf("exit code %d after leaving a turn that runs", code)
	}

	// The first Ctrl-C interrupted that turn; it is over when we come back.
	back := sit(t, nil, "chat", "--session", session)
	back.sees("5 turns so far", 1)
	back.sees(you, 1)
	back.types("hello\r")
	back.sees("Good evening.", 1)
	back.sees(you, 3) // "pay three" is shown again
	back.types("half a line" + ctrlC)
	back.sees("^C", 1)
	back.types(ctrlC)
	if code := back.left(); code != 0 {
		t.Errorf("exit code %d after leaving at the prompt", code)
	}
	if diff := cmp.Diff([]string{"pay", "work"}, w.effects(t)); diff != "" {
		t.Error(diff)
	}
}

// R11, R50: who comes back to a turn that waits is shown it and asked, and
// no turn is started anew; what another decides takes the question back.
func TestChat_ComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, agenttest.Script{Turns: []agenttest.ScriptTurn{
		{When: "pay", Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{
			{Name: "pay", Args: map[string]any{"cents": 1}}, {Name: "pay", Args: map[string]any{"cents": 2}},
		}}, {Text: "Both are paid."}}},
	}, Steps: []agenttest.Step{{Text: "Good evening."}}})
	kill := w.worker(t)
	session := "back-" + w.Queue
	p := sit(t, nil, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue, "--session", session)
	p.sees(you, 1)
	p.types("hello\r")
	p.sees(you, 2)
	p.types("pay\r")
	p.sees(choice, 1)
	if err := p.cmd.Process.Kill(); err != nil { // the window is closed
		t.Fatal(err)
	}
	p.left()
	kill()
	w.worker(t)

	back := sit(t, nil, "chat", "--session", session)
	back.sees("2 turns so far", 1)
	back.sees("Good evening.", 1) // what was said last
	back.sees(choice, 1)
	status, err := w.Turns.SessionStatus(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := w.Turns.Status(t.Context(), status.Running.TurnID)
	if err != nil || len(waiting.Pending) != 2 {
		t.Fatalf("%+v %v", waiting, err)
	}
	first := waiting.Pending[0]
	if _, err := w.Turns.Decide(t.Context(), status.Running.TurnID, contract.DecideRequest{Key: first.Key, Digest: first.Digest, Approve: true, By: "bob"}); err != nil {
		t.Fatal(err)
	}
	back.sees("decide approved by bob", 1)
	back.sees(`{"cents":2}`, 1)
	back.sees(choice, 1)
	back.types("y\r")
	back.sees("Both are paid.", 1)
	back.types(ctrlD)
	if code := back.left(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := len(w.Model.Requests()); n != 3 {
		t.Errorf("the model was asked %d times, want 3: no turn is started anew", n)
	}
	if diff := cmp.Diff([]string{"pay", "pay"}, w.effects(t)); diff != "" {
		t.Error(diff)
	}
}

// P23, R50: the text of a killed worker is replaced on the screen, not
// repeated, also where it has gone over many rows, or its characters are wide.
func TestChat_KilledWorker(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		columns     int
		begin, text string
	}{
		"wide terminal": {240, "Thequick", "The quick brown fox jumps over the lazy dog and goes home to sleep, tired of all the jumping that it did today, " +
			"and of the dog, and of the quick people who look at it; it dreams of a long line of text that goes on and on, over the edge, and of two."},
		"narrow":          {31, "Thequick", "The quick brown fox jumps over the lazy dog and\ngoes home to sleep, tired\tof all the jumping that it did today, and of a lot more."},
		"wide characters": {41, "漢字で", "漢字で 書いた 長い 文章は、 端末の 端を 越えて 次の 行へ 続き、 そして また 次の 行へ 続いて 行き、 いつまでも 終わらない 🙂 🙂 ように 見える。"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, agenttest.Script{Steps: []agenttest.Step{{Text: tt.text, ChunkDelay: contract.Duration(100 * time.Millisecond)}}})
			kill := w.worker(t)
			p := sitAt(t, tt.columns, nil, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue)
			flat := func(text string) string { return strings.Join(strings.Fields(text), "") }
			p.sees(you, 1)
			p.types("tell\r")
			p.until(tt.begin, func() bool { return strings.Contains(flat(p.text()), tt.begin) })
			kill()
			w.worker(t)
			p.until("the answer", func() bool { return strings.Contains(flat(p.text()), "modelanswered") })
			p.sees(you, 2)
			if got := flat(p.text()); strings.Count(got, tt.begin) != 1 || !strings.Contains(got, flat(tt.text)) {
				t.Errorf("the text stands %d times", strings.Count(got, tt.begin))
			}
			if n := strings.Count(flat(p.printed()), tt.begin); n < 2 {
				t.Errorf("the text was printed %d times: nothing was killed", n)
			}
		})
	}
}

// R22, R50: a server that goes down in the middle of an answer and comes back
// takes it; the chat goes on.
func TestChat_ServerDown(t *testing.T) {
	t.Parallel()
	bin, err := devproc.Ensure(t.Context(), devproc.Printer(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	own := devproc.Options{Dir: t.TempDir()}
	s, err := devproc.Start(t.Context(), bin, own)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldOn(t, agenttest.Server{Address: s.Address, Namespace: s.Namespace},
		agenttest.Script{Steps: []agenttest.Step{pay(map[string]any{"cents": 1}), {Text: "Paid."}}})
	w.worker(t)
	p := sit(t, []string{"TEMPORAL_ADDRESS=" + s.Address}, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue)
	p.sees(you, 1)
	p.types("pay\r")
	p.sees(choice, 1)
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	p.types("y\r")
	p.sees("no answer yet", 1)
	_, port, _ := net.SplitHostPort(s.Address)
	if own.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	if s, err = devproc.Start(t.Context(), bin, own); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Kill() })
	p.sees("decide approved by ann", 1)
	p.sees("Paid.", 1)
	p.sees(you, 2)
	if diff := cmp.Diff([]string{"pay"}, w.effects(t)); diff != "" {
		t.Error(diff)
	}
}

// R22: at a terminal of a few columns the question is asked whole, and a line
// longer than a row is edited; keys that were typed before a question are no
// answer to it.
func TestChat_Narrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, agenttest.Script{Steps: []agenttest.Step{pay(map[string]any{"cents": 1}), {Text: "Paid."}}})
	w.worker(t)
	p := sitAt(t, 20, nil, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue)
	p.sees(you, 1)
	p.types("pay, and do it at once, however long this is\x01X\ry\r") // ^A goes to the beginning
	p.until("the question", func() bool { return strings.Contains(strings.ReplaceAll(p.text(), "\n", ""), choice) })
	if got := w.Model.Requests()[0].User; got != "Xpay, and do it at once, however long this is" {
		t.Errorf("it was asked %q", got)
	}
	if n := len(w.effects(t)); n != 0 {
		t.Error("what was typed before the question was taken for a yes")
	}
	p.types("y\r")
	p.sees("Paid.", 1)
}

// R50: a call whose outcome nobody knows is asked about on the spot.
func TestChat_Unknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{{Name: "wire", Args: map[string]any{"cents": 9}}}}, {Text: "It went out."}}})
	w.worker(t)
	p := sit(t, []string{"NO_COLOR=1"}, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue)
	p.sees(you, 1)
	p.types("\x1b[200~wire\rnine\x1b[201~\r") // pasted lines are one message
	p.sees("h happened", 1)
	p.sees(`{"cents":9}`, 1)
	p.types("h\r")
	p.sees("for the model to read", 1)
	p.types("the bank has it\r")
	p.sees("It went out.", 1)
	requests := w.Model.Requests()
	if got := requests[0].User; got != "wire\nnine" {
		t.Errorf("the pasted message came as %q", got)
	}
	last := requests[len(requests)-1].Messages
	if got := last[len(last)-1].Content; !strings.Contains(got, "the bank has it") {
		t.Errorf("the model reads %q", got)
	}
}

var escapes = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f]`)

// A terminal that cannot move its cursor gets plain lines, and is asked.
func TestChat_Dumb(t *testing.T) {
	t.Parallel()
	w := newWorld(t, agenttest.Script{Steps: []agenttest.Step{pay(map[string]any{"cents": 1}), {Text: "Paid."}}})
	w.worker(t)
	p := sit(t, []string{"TERM=dumb"}, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue)
	p.sees(you, 1)
	p.types("pay\n")
	p.sees(choice, 1)
	p.types("y\n")
	p.sees("Paid.", 1)
	p.sees(you, 2)
	p.types(ctrlD)
	if code := p.left(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if found := escapes.FindString(strings.ReplaceAll(p.printed(), "^D\b\b", "")); found != "" && found != "\r" {
		t.Errorf("printed %q", p.printed())
	}
}

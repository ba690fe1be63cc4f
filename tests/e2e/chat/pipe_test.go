package chat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// From a pipe each line is a message; what is printed are plain lines.
func TestChat_Pipe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, agenttest.Script{Steps: []agenttest.Step{{Text: "Good evening."}}})
	w.worker(t)
	cmd := command(t, nil, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue, "--session", "pipe-"+w.Queue)
	cmd.Stdin = strings.NewReader("one\n\ntwo")
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errOut.String())
	}
	if n := strings.Count(out.String(), "Good evening."); n != 2 || !strings.Contains(out.String(), "starter chat --session pipe-"+w.Queue) {
		t.Errorf("%d answers in:\n%s", n, out.String())
	}
	if found := escapes.FindString(out.String() + errOut.String()); found != "" {
		t.Errorf("%q in:\n%q", found, out.String())
	}
	if n := len(w.Model.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}

// event is as much of a line of --output json as the test looks at.
type event struct {
	Kind, Session, Turn, Text string
	Pending                   *contract.Pending
}

// R11, R22: with --output json each event is one line, and who decides does it
// elsewhere: no line of the input is taken for a yes.
func TestChat_JSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t, agenttest.Script{Steps: []agenttest.Step{pay(map[string]any{"cents": 1}), {Text: "Paid."}}})
	w.worker(t)
	cmd := command(t, nil, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue, "--output", "json")
	cmd.Stdin = strings.NewReader("y\n")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Session == "" {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		switch e.Kind {
		case "text":
			continue
		case "waiting":
			if len(w.effects(t)) != 0 {
				t.Error("it ran unasked")
			}
			if _, err := w.Turns.Decide(t.Context(), e.Turn, contract.DecideRequest{Key: e.Pending.Key, Digest: e.Pending.Digest, Approve: true, By: "bob"}); err != nil {
				t.Fatal(err)
			}
		}
		kinds = append(kinds, e.Kind)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	want := "session sent step answer waiting decided tool_started tool_finished step answer done left"
	if diff := cmp.Diff(want, strings.Join(kinds, " ")); diff != "" {
		t.Error(diff)
	}
}

// What is not there is told, with what to do.
func TestChat_NotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, agenttest.Script{Steps: []agenttest.Step{{Text: "Good evening."}}})
	turn := w.Start("alone")
	for _, c := range []struct {
		name string
		env  []string
		args []string
		code int
		want string
	}{
		{"no server", []string{"TEMPORAL_ADDRESS=127.0.0.1:1"}, []string{"--agent", "a"}, 3, "starter dev"},
		{"no session", nil, []string{"--session", "nope-" + w.Queue}, 3, "--agent"},
		{"a turn", nil, []string{"--session", turn.ID}, 2, "starter watch " + turn.ID},
		{"nobody named", nil, nil, 2, "--agent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, c.env, append([]string{"chat"}, c.args...)...)
			var errOut bytes.Buffer
			cmd.Stderr = &errOut
			_ = cmd.Run()
			if cmd.ProcessState.ExitCode() != c.code || !strings.Contains(errOut.String(), c.want) {
				t.Errorf("exit code %d, want %d; wanted %q in:\n%s", cmd.ProcessState.ExitCode(), c.code, c.want, errOut.String())
			}
		})
	}
	p := sit(t, nil, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue)
	p.sees(you, 1)
	p.types("hello\r")
	p.sees("no answer yet: it takes the server and a worker", 1)
	p.types(ctrlC)
	p.sees("given up", 1)
	p.sees(you, 2)
	w.worker(t) // the message may have been taken; the next one is answered either way
	p.types("hello again\r")
	p.sees("Good evening.", 1)
}

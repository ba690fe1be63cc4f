package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.temporal.io/api/serviceerror"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
)

// R50, R25: a session is no turn: no command says of it that it called nothing or
// waits for nobody, each names the turn that runs. Nor is a turn a session.
func TestKinds(t *testing.T) {
	t.Parallel()
	b := gatedBench(t, 500)
	session := "kinds-" + b.Queue
	sent, err := b.Turns.Send(t.Context(), turnkeel.Message{Session: session, Agent: agenttest.AgentName, Text: "pay"})
	if err != nil {
		t.Fatal(err)
	}
	call := pendingOf(t, sent.TurnID, 1)[0]
	for _, args := range [][]string{
		{"pending", session},
		{"approve", session, "--yes"},
		{"deny", session, "--key", call.Key, "--digest", call.Digest},
		{"resolve", session, "--key", call.Key, "--verdict", "happened"},
		{"interrupt", session},
		{"show", session},
		{"effects", session},
		{"watch", session},
		{"fork", session, "--step", "1"},
	} {
		r := ask(t, args...)
		if r.code != 2 || r.out != "" || !strings.Contains(r.errOut, "is a session, no turn; its turn that runs is "+sent.TurnID) {
			t.Errorf("%v: exit code %d\n%s\n%s", args, r.code, r.out, r.errOut)
		}
	}
	if r := ask(t, "send", sent.TurnID, "--agent", agenttest.AgentName, "hm"); r.code != 2 || !strings.Contains(r.errOut, "is no session") {
		t.Errorf("exit code %d: %s", r.code, r.errOut)
	}
	if r := ask(t, "deny", sent.TurnID, "--key", call.Key, "--digest", call.Digest); r.code != 0 {
		t.Errorf("exit code %d: %s", r.code, r.errOut)
	}
}

// R50: a message that cannot begin a session leaves none behind, and one for
// another agent is not answered by the session's.
func TestSend_Refused(t *testing.T) {
	t.Parallel()
	b := gatedBench(t, 500)
	session := "refused-" + b.Queue
	r := ask(t, "send", session, "--task-queue", b.Queue, "hello")
	if r.code != 3 || !strings.Contains(r.errOut, "name its agent") {
		t.Errorf("exit code %d: %s", r.code, r.errOut)
	}
	var missing *serviceerror.NotFound
	if _, err := b.Temporal.DescribeWorkflow(context.WithoutCancel(t.Context()), session, ""); !errors.As(err, &missing) {
		t.Errorf("a session was begun: %v", err)
	}
	if r := ask(t, "send", "", "--agent", agenttest.AgentName, "--task-queue", b.Queue, "hello"); r.code != 2 {
		t.Errorf("exit code %d: %s", r.code, r.errOut)
	}
	if _, err := b.Turns.Send(t.Context(), turnkeel.Message{Agent: agenttest.AgentName, Text: "hello"}); err == nil {
		t.Error("a session without an id was begun")
	}
	if r := ask(t, "send", session, "--agent", agenttest.AgentName, "--task-queue", b.Queue, "hello"); r.code != 0 {
		t.Errorf("exit code %d: %s", r.code, r.errOut)
	}
	for _, args := range [][]string{{"send", session, "--agent", "another", "hello"}, {"chat", "--session", session, "--agent", "another"}} {
		if r := ask(t, args...); r.code == 0 || !strings.Contains(r.errOut, "is with the agent "+agenttest.AgentName) {
			t.Errorf("%v: exit code %d: %s", args, r.code, r.errOut)
		}
	}
	if n := len(b.Model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times for one message", n)
	}
}

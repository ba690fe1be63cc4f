package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// firstFile is a model that reads the first file of the conversation, also one
// of an earlier turn, and repeats what it read; without a file it says so.
func firstFile(t *testing.T) *agenttest.ModelServer {
	t.Helper()
	model, err := agenttest.NewModelServer(agenttest.Script{Hook: func(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == "tool" {
			return &agenttest.Step{Text: "<" + last.Content + ">"}
		}
		for _, m := range r.Messages {
			if id := fileID.FindStringSubmatch(m.Content); id != nil && !strings.Contains(last.Content, "greet") {
				return &agenttest.Step{Calls: []agenttest.ScriptCall{{Name: contract.ToolReadAttachment, Args: map[string]any{"file_id": id[1]}}}}
			}
		}
		return &agenttest.Step{Text: "nothing to read"}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	return model
}

// Y22: what is attached to a message of a session is read in its turn, and in
// later ones, also after the session has gone on in a new run. A repeated
// message id is the message that came first. A fork reads it too, and takes files
// of its own. History holds no text that was not read.
func TestAttach_Session(t *testing.T) {
	t.Parallel()
	dir := clerkAgent(t, "clerk", "builtin_tools: [read_attachment]\n")
	const queue, id = "attach-session", "attach-session-1"
	env := append(onServer(), "TURNKEEL_BLOBS="+t.TempDir())
	startWorker(t, dir, "agents", queue, append(env, "OPENAI_BASE_URL="+firstFile(t).URL(), "OPENAI_API_KEY=x")...)
	c, err := sdkclient.Dial(sdkclient.Options{HostPort: server.Address})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.ExecuteWorkflow(t.Context(), sdkclient.StartWorkflowOptions{ID: id, TaskQueue: queue}, contract.WorkflowSession,
		contract.SessionInput{ID: id, Agent: "clerk", TurnsPerRun: 1}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "due date.txt"), "Due: 42 EUR."+strings.Repeat(" ", 4_000)+"never read")
	write(t, filepath.Join(dir, "other.txt"), "Another file.")
	const read = "<[due date.txt, page 1 of 2]\nDue: 42 EUR."
	say := func(want string, args ...string) {
		t.Helper()
		r := finish(t, command(t, dir, starter, env, append([]string{"send", id, "--task-queue", queue}, args...)...))
		if r.code != 0 || !strings.Contains(r.out, want) {
			t.Fatalf("exit code %d, want %q in:\n%s%s", r.code, want, r.out, r.errOut)
		}
	}
	say(read, "--message-id", "one", "--attach", "due date.txt", "--attach", "other.txt", "What is due?")
	say("nothing to read", "greet me")
	say(read, "And once more?")
	say(read, "--message-id", "one", "--attach", "other.txt", "Another text.")
	r := finish(t, command(t, dir, starter, env, "show", id+"/one", "-o", "json"))
	if strings.Contains(r.out, "never read") || strings.Contains(r.out, "Another") || strings.Count(r.out, "attached file") != 2 {
		t.Errorf("the transcript:\n%s", r.out)
	}
	fork := finish(t, command(t, dir, starter, env, "fork", id+"/one", "--step", "2", "--turn-id", id+"-fork", "--task-queue", queue,
		"--message", "Again.", "--attach", "other.txt", "-o", "json"))
	if fork.code != 0 || !strings.HasPrefix(fork.out, "{") || !strings.Contains(fork.errOut, "attached other.txt") {
		t.Errorf("exit code %d:\n%s%s", fork.code, fork.out, fork.errOut)
	}
	if r := finish(t, command(t, dir, starter, env, "watch", id+"-fork")); r.code != 0 || !strings.Contains(r.out, read) {
		t.Errorf("exit code %d:\n%s%s", r.code, r.out, r.errOut)
	}
	shown := finish(t, command(t, dir, starter, env, "show", id+"-fork", "-o", "json"))
	if strings.Count(shown.out, "attached file") != 3 {
		t.Errorf("the fork's transcript:\n%s", shown.out)
	}
}

// Y22: a session refuses what its agent cannot read, before anything is kept
// where starter can know the agent, with or without --agent, else in the turn;
// later messages work all the same.
func TestAttach_SessionRefused(t *testing.T) {
	t.Parallel()
	plain := clerkAgent(t, "plain", "")
	const queue, id = "attach-session-plain", "attach-session-2"
	env := append(onServer(), "TURNKEEL_BLOBS="+t.TempDir())
	startWorker(t, plain, "agents", queue, append(env, "OPENAI_BASE_URL="+firstFile(t).URL(), "OPENAI_API_KEY=x")...)
	elsewhere := t.TempDir()
	write(t, filepath.Join(elsewhere, "a.txt"), "hello")
	for _, s := range []struct {
		name, dir string
		args      []string
		code      int
		want      string
	}{
		{"no session and no agent", elsewhere, []string{"--attach", "a.txt", "greet"}, 3, "name its agent with --agent"},
		{"the agent is known here", plain, []string{"--agent", "plain", "--attach", filepath.Join(elsewhere, "a.txt"), "greet"}, 2, "add read_attachment to builtin_tools of agents/plain/agent.yaml"},
		{"the worker refuses", elsewhere, []string{"--agent", "plain", "--attach", "a.txt", "greet"}, 1, "the agent plain cannot read it: add read_attachment to builtin_tools"},
		{"the session's agent is known here", plain, []string{"--attach", filepath.Join(elsewhere, "a.txt"), "greet"}, 2, "add read_attachment to builtin_tools of agents/plain/agent.yaml"},
		{"another agent", elsewhere, []string{"--agent", "other", "--attach", "a.txt", "greet"}, 2, "is with the agent plain, not with other"},
		{"a missing file", elsewhere, []string{"--agent", "plain", "--attach", "b.txt", "greet"}, 2, "b.txt: no such file"},
		{"a message", elsewhere, []string{"greet"}, 0, "nothing to read"},
	} {
		blobs := filepath.Join(t.TempDir(), "blobs")
		over := append(onServer(), "TURNKEEL_BLOBS="+blobs)
		r := finish(t, command(t, s.dir, starter, over, append([]string{"send", id, "--task-queue", queue}, s.args...)...))
		if r.code != s.code || !strings.Contains(r.out+r.errOut, s.want) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s%s", s.name, r.code, s.code, s.want, r.out, r.errOut)
		}
		if _, err := os.Stat(blobs); s.code > 1 && err == nil {
			t.Errorf("%s: something was kept", s.name)
		}
	}
}

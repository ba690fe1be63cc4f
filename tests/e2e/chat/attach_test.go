package chat

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

var fileID = regexp.MustCompile(`file_id "(sha256:[0-9a-f]{64})"`)

// readsAll is a model that reads what its last message has attached.
func readsAll(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
	said := ""
	for i := len(r.Messages) - 1; i >= 0; i-- {
		switch m := r.Messages[i]; {
		case m.Role == "tool":
			said = "<" + strings.ReplaceAll(m.Content, "\n", " ") + ">" + said
			continue
		case m.Role == "user" && said == "":
			step := &agenttest.Step{}
			for _, id := range fileID.FindAllStringSubmatch(m.Content, -1) {
				step.Calls = append(step.Calls, agenttest.ScriptCall{Name: contract.ToolReadAttachment, Args: map[string]any{"file_id": id[1]}})
			}
			if step.Calls == nil {
				step.Text = "no files with: " + m.Content
			}
			return step
		}
		break
	}
	return &agenttest.Step{Text: "read " + said}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Y22: a person attaches files in a chat, sees them before they are sent, takes
// one back, and an error leaves the chat where it was.
func TestChat_Attach(t *testing.T) {
	t.Parallel()
	w := newWorld(t, agenttest.Script{Hook: readsAll})
	w.blobs = filepath.Join(t.TempDir(), "blobs")
	w.worker(t)
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "my notes.txt"), "Buy milk.")
	writeFile(t, filepath.Join(home, "two.csv"), "a;b")
	writeFile(t, filepath.Join(home, "three.txt"), "Never sent.")
	session := "attach-" + w.Queue
	p := sit(t, []string{blobsEnv + "=" + w.blobs, "HOME=" + home}, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue, "--session", session)
	p.sees("/help names the commands", 1)
	p.sees(you, 1)
	p.types("/help\r")
	p.sees("/attach FILE", 1)
	p.types("/attach\r")
	p.sees("no file is attached", 1)
	p.types("/attach /nowhere/x.pdf\r")
	p.sees("/nowhere/x.pdf: no such file", 1)
	p.types("/attach /dev/zero\r")
	p.sees("/dev/zero is not a regular file", 1)
	p.types("/attach ~/my notes.txt\r")
	p.sees("file 1: my notes.txt (text/plain, 9 bytes) goes with your next message", 1)
	p.sees("[1 file(s)] you>", 1)
	p.types("/attach \"" + filepath.Join(home, "three.txt") + "\"\r")
	p.sees("file 2: three.txt", 1)
	p.types("/attach " + home + "/my\\ notes.txt\r")
	p.sees("file 3: my notes.txt", 1)
	p.types("/drop 9\r")
	p.sees("want a number from 1 to 3", 1)
	p.types("/drop 2\r")
	p.sees("dropped three.txt", 1)
	p.types("/drop 2\r")
	p.sees("dropped my notes.txt", 1)
	p.types("/attach '" + filepath.Join(home, "two.csv") + "'\r")
	p.sees("file 2: two.csv (text/csv, 3 bytes)", 1)
	p.types("/attach\r")
	p.sees("file 1: my notes.txt", 2)
	if _, err := os.Stat(w.blobs); err == nil {
		t.Error("something was kept before the message was sent")
	}
	p.types("What is in them?\r")
	p.sees("attached two.csv", 1)
	p.sees("read <[my notes.txt, page 1 of 1] Buy milk.><[two.csv, page 1 of 1] a;b>", 1)
	p.types("And now?\r")
	p.sees("no files with: And now?", 1)
	p.types(ctrlD)
	if code := p.left(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	back := sit(t, []string{blobsEnv + "=none"}, "chat", "--session", session)
	back.sees(you, 1)
	back.types("/attach " + filepath.Join(home, "two.csv") + "\r")
	back.sees("TURNKEEL_BLOBS=none", 1)
	back.types("Still here?\r")
	back.sees("no files with: Still here?", 1)
}

// Y22: what the worker refuses ends the turn, not the chat. From a pipe a line
// that reads like a command is a message: it may be another's words, and reads
// no file of this machine; --attach names files there.
func TestChat_AttachRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, agenttest.Script{Hook: readsAll})
	w.worker(t)
	file := filepath.Join(t.TempDir(), "a.txt")
	writeFile(t, file, "hello")
	blobs := blobsEnv + "=" + filepath.Join(t.TempDir(), "blobs")
	p := sit(t, []string{blobs}, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue, "--attach", file)
	p.sees("file 1: a.txt", 1)
	p.types("Read it.\r")
	p.sees("cannot read it: add read_attachment to builtin_tools", 1)
	p.types("And without?\r")
	p.sees("no files with: And without?", 1)

	full := sit(t, []string{blobsEnv + "=" + filepath.Join(file, "no folder")}, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue)
	full.sees(you, 1)
	full.types("/attach  " + file + "\r")
	full.types("Read it.\r")
	full.sees("keep it in the blob store", 1)
	full.sees("the files stay attached: /drop takes them back", 1)
	full.types("/drop\r")
	full.sees("dropped 1 file(s)", 1)
	full.types("And now?\r")
	full.sees("no files with: And now?", 1)

	cmd := command(t, []string{blobs}, "chat", "--agent", agenttest.AgentName, "--task-queue", w.Queue)
	cmd.Stdin = strings.NewReader("/attach " + file + "\n")
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "no files with: /attach "+file) || !strings.Contains(errOut.String(), "--attach names files") {
		t.Errorf("%v\n%s%s", err, out.String(), errOut.String())
	}
}

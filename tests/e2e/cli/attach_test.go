package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tests/s3"
)

// clerkAgent writes the folder agents with one agent, and gives the folder
// around it.
func clerkAgent(t *testing.T, name, builtins string) string {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "agents", name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "agent.yaml"), "model: openai/x\n"+builtins)
	write(t, filepath.Join(folder, "instructions.md"), "Read what is attached.")
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var fileID = regexp.MustCompile(`file_id "(sha256:[0-9a-f]{64})"`)

// reader is a model that reads both attached files, the second page of the
// first, and repeats what it read.
func reader(t *testing.T) *agenttest.ModelServer {
	t.Helper()
	model, err := agenttest.NewModelServer(agenttest.Script{Hook: func(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == "user" {
			ids := fileID.FindAllStringSubmatch(last.Content, -1)
			if len(ids) != 2 {
				return &agenttest.Step{Text: "no files in: " + last.Content}
			}
			return &agenttest.Step{Calls: []agenttest.ScriptCall{
				{Name: contract.ToolReadAttachment, Args: map[string]any{"file_id": ids[0][1], "page": 2}},
				{Name: contract.ToolReadAttachment, Args: map[string]any{"file_id": ids[1][1]}},
			}}
		}
		said := ""
		for _, m := range r.Messages {
			if m.Role == "tool" {
				said += "<" + m.Content + ">"
			}
		}
		return &agenttest.Step{Text: said}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	return model
}

// Y22, T45: a turn reads what was attached: from a folder, and from a bucket
// that starter and worker share. History holds the handles, and no text of a file
// that the model did not read.
func TestAttach(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	for name, shared := range map[string][]string{"folder": {"TURNKEEL_BLOBS=" + t.TempDir()}, "bucket": server.Env("turns")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, queue := clerkAgent(t, "clerk", "builtin_tools: [read_attachment]\n"), "attach-"+name
			env := append(onServer(), shared...)
			startWorker(t, dir, "agents", queue, append(env, "OPENAI_BASE_URL="+reader(t).URL(), "OPENAI_API_KEY=x")...)
			write(t, filepath.Join(dir, "notes.txt"), strings.Repeat("first page. ", 334)[:4_000]+"and the second one.")
			write(t, filepath.Join(dir, "data.csv"), "customer;due\nÄrger GmbH;42\n")
			r := finish(t, command(t, dir, starter, env, "run", "--agent", "clerk", "--task-queue", queue, "--turn-id", queue,
				"--attach", "notes.txt", "--attach", filepath.Join(dir, "data.csv"), "What is due?"))
			want := "<[notes.txt, page 2 of 2]\nand the second one.><[data.csv, page 1 of 1]\ncustomer;due\nÄrger GmbH;42>"
			if r.code != 0 || !strings.Contains(r.out, "attached notes.txt (text/plain, 4019 bytes, 2 page(s) of text)") || !strings.Contains(r.out, want) {
				t.Fatalf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
			}
			shown := finish(t, command(t, dir, starter, env, "show", queue, "-o", "json"))
			if !strings.Contains(shown.out, "attached file") || strings.Contains(shown.out, "first page.") {
				t.Errorf("the transcript:\n%s", shown.out)
			}
		})
	}
}

// Y22: what cannot work is refused with a line that says what to do: before
// anything is kept or sent where starter can know it, else at the first step.
func TestAttach_Refused(t *testing.T) {
	t.Parallel()
	dir := clerkAgent(t, "clerk", "builtin_tools: [read_attachment]\n")
	plain := clerkAgent(t, "plain", "")
	model := reader(t)
	key := []string{"OPENAI_BASE_URL=" + model.URL(), "OPENAI_API_KEY=x"}
	startWorker(t, dir, "agents", "attach-refused", append(append(onServer(), "TURNKEEL_BLOBS="+t.TempDir()), key...)...)
	startWorker(t, dir, "agents", "attach-no-store", append(append(onServer(), "TURNKEEL_BLOBS=none"), key...)...)
	startWorker(t, plain, "agents", "attach-plain", append(append(onServer(), "TURNKEEL_BLOBS="+t.TempDir()), key...)...)
	files := t.TempDir()
	write(t, filepath.Join(files, "a.txt"), "hello")
	write(t, filepath.Join(files, "elf.bin"), "\x7fELF\x00\x00")
	if err := os.Truncate(filepath.Join(files, "elf.bin"), 100); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(files, "large.txt"), "")
	if err := os.Truncate(filepath.Join(files, "large.txt"), 15<<20+1); err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		name, dir, agent, queue, file, blobs string
		code                                 int
		want                                 string
	}{
		{"missing", dir, "clerk", "", "absent.pdf", "", 2, "absent.pdf: no such file"},
		{"a folder", dir, "clerk", "", ".", "", 2, "is not a regular file"},
		{"too large", dir, "clerk", "", "large.txt", "", 2, "at most 15728640 (15 MB) can be attached"},
		{"of no use", dir, "clerk", "", "elf.bin", "", 2, "pdf, docx, xlsx, pptx, html, csv, json and plain text can be"},
		{"no store here", dir, "clerk", "", "a.txt", "none", 2, "TURNKEEL_BLOBS=none"},
		{"a bucket without keys", dir, "clerk", "", "a.txt", "s3://bucket/x", 1, "set AWS_ACCESS_KEY_ID"},
		{"an agent without the tool", plain, "plain", "", "a.txt", "", 2, "add read_attachment to builtin_tools of agents/plain/agent.yaml"},
		{"the worker's agent lacks the tool", files, "plain", "attach-plain", "a.txt", "", 1, "add read_attachment to builtin_tools"},
		{"the worker has another store", files, "clerk", "attach-refused", "a.txt", "", 1, "set TURNKEEL_BLOBS of worker and starter to the same place"},
		{"the worker has no store", files, "clerk", "attach-no-store", "a.txt", "", 1, "this worker has no blob store"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.blobs == "" {
				tt.blobs = t.TempDir()
			}
			turn := fmt.Sprintf("attach-refused-%d", i)
			env := append(onServer(), "TURNKEEL_BLOBS="+tt.blobs, "AWS_ACCESS_KEY_ID=")
			r := finish(t, command(t, tt.dir, starter, env, "run", "--agent", tt.agent, "--task-queue", tt.queue, "--turn-id", turn, "--attach", filepath.Join(files, tt.file), "Read it."))
			if r.code != tt.code || !strings.Contains(r.errOut, tt.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s%s", r.code, tt.code, tt.want, r.out, r.errOut)
			}
			if tt.queue == "" {
				if r := finish(t, command(t, tt.dir, starter, onServer(), "show", turn)); r.code != 3 {
					t.Errorf("something was sent: %s%s", r.out, r.errOut)
				}
			}
		})
	}
	t.Cleanup(func() {
		if n := len(model.Requests()); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

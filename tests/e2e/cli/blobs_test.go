package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/toolbin"
	"github.com/turnkeel/turnkeel/tests/npm"
	"github.com/turnkeel/turnkeel/tests/s3"
)

// fleet is stock workers of one queue that a test kills and starts as it likes.
type fleet struct {
	t    *testing.T
	dir  string
	env  []string
	args []string

	mu  sync.Mutex
	cmd *exec.Cmd
	log string // a file: a pipe would be held open by what a killed worker leaves
}

// newFleet starts the first worker. What is left of them ends with the test.
func newFleet(t *testing.T, dir, queue string, env ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: dir, env: env, args: []string{"--agents", "agents", "--task-queue", queue}, log: filepath.Join(t.TempDir(), "worker.log")}
	f.start()
	t.Cleanup(func() {
		f.kill()
		if t.Failed() {
			t.Logf("the workers said:\n%s", f.said())
		}
	})
	return f
}

func (f *fleet) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	log, err := os.OpenFile(f.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		f.t.Error(err)
		return
	}
	defer log.Close()
	like := command(f.t, f.dir, worker, f.env)
	f.cmd = exec.Command(worker, f.args...) //nolint:gosec // our own
	f.cmd.Dir, f.cmd.Env, f.cmd.Stdout, f.cmd.Stderr = like.Dir, like.Env, log, log
	if err := f.cmd.Start(); err != nil {
		f.t.Error(err)
	}
}

// kill ends the worker by SIGKILL.
func (f *fleet) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cmd.ProcessState == nil {
		_ = f.cmd.Process.Kill()
		_ = f.cmd.Wait()
	}
}

// said is what the workers have logged.
func (f *fleet) said() string {
	text, err := os.ReadFile(f.log)
	if err != nil {
		f.t.Error(err)
	}
	return string(text)
}

// auditor is a model that reads pages 1 to 3 of what is attached, a file by a
// tool, and repeats the first line of each answer. atEnd is called once, when it
// is asked for its last word: its answer may get lost.
func auditor(t *testing.T, file string, atEnd func()) *agenttest.ModelServer {
	t.Helper()
	var once sync.Once
	model, err := agenttest.NewModelServer(agenttest.Script{Hook: func(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
		id, said, read := "", "", 0
		for _, m := range r.Messages {
			if found := fileID.FindStringSubmatch(m.Content); m.Role == "user" && found != nil {
				id = found[1]
			}
			if m.Role == "tool" {
				head, _, _ := strings.Cut(m.Content, "\n")
				said += head[:min(len(head), 28)] + "|"
				read++
			}
		}
		switch {
		case read < 3:
			return &agenttest.Step{Calls: []agenttest.ScriptCall{{Name: contract.ToolReadAttachment, Args: map[string]any{"file_id": id, "page": read + 1}}}}
		case read == 3:
			return &agenttest.Step{Calls: []agenttest.ScriptCall{{Name: "files_read_text_file", Args: map[string]any{"path": file}}}}
		}
		once.Do(atEnd)
		return &agenttest.Step{Text: said}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	return model
}

// Y22, T45: a PDF is attached and read page by page, a result of 3 MiB goes to
// the bucket, the worker is killed by SIGKILL, the turn is reset: history holds
// handles only, nothing runs again, and what is in the bucket is read back.
func TestBucket_KilledAndReset(t *testing.T) {
	t.Parallel()
	cli, err := toolbin.TemporalCLI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bucket := s3.Start(t)
	data, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	large := largeText()
	file := filepath.Join(data, "ledger.txt")
	write(t, file, large)
	dir := clerkAgent(t, "clerk", `builtin_tools: [read_attachment]
mcp_servers:
  files:
    command: [node, "`+npm.Module(t, "@modelcontextprotocol/server-filesystem/dist/index.js")+`", "`+data+`"]
    prefix: files
    allow: [read_text_file]
    tools: {read_text_file: {effects: external, idempotency: keyed}}
`)
	const turn = "bucket-killed"
	var workers atomic.Pointer[fleet]
	model := auditor(t, file, func() { w := workers.Load(); w.kill(); w.start() })
	env := append(onServer(), bucket.Env("team-a/turns")...)
	workers.Store(newFleet(t, dir, turn, append(env, "OPENAI_BASE_URL="+model.URL(), "OPENAI_API_KEY=x")...))
	pdf, err := filepath.Abs("testdata/contract.pdf")
	if err != nil {
		t.Fatal(err)
	}
	r := finish(t, command(t, dir, starter, env, "run", "--agent", "clerk", "--task-queue", turn, "--turn-id", turn, "--attach", pdf, "Audit it."))
	if want := `[contract.pdf, page 1 of 7]|[contract.pdf, page 2 of 7]|[contract.pdf, page 3 of 7]|{"content":"row 0 of the led|`; r.code != 0 || !strings.Contains(r.out, want) {
		t.Fatalf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	first := shownTurn(t, dir, env, turn)
	handlesOnly(t, cli, turn, first, large, bucket.Dir)
	wholeResultIs(t, dir, env, turn, large)

	asked := len(model.Requests())
	reset := finish(t, exec.CommandContext(t.Context(), cli, "workflow", "reset", "--workflow-id", turn, "--type", "FirstWorkflowTask", "--reason", "test", "--address", server.Address)) //nolint:gosec // the pinned CLI
	if reset.code != 0 {
		t.Fatal(reset.errOut)
	}
	if r := finish(t, command(t, dir, starter, env, "watch", turn)); r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.out, r.errOut)
	}
	again := shownTurn(t, dir, env, turn)
	if again.RunID == first.RunID || again.Text != first.Text || len(again.Effects) != 4 {
		t.Errorf("after the reset: %+v", again)
	}
	for i, e := range again.Effects {
		if e.Outcome != "done" || e.Blob != first.Effects[i].Blob {
			t.Errorf("after the reset: %+v", e)
		}
	}
	if n := len(model.Requests()); n != asked {
		t.Errorf("the reset asked the model %d times", n-asked)
	}
	handlesOnly(t, cli, turn, again, large, bucket.Dir)
	wholeResultIs(t, dir, env, turn, large)
	table := finish(t, command(t, dir, starter, onServer(), "effects", turn))
	if !strings.Contains(table.out, fmt.Sprintf("%d bytes, whole in the blob store", first.Effects[3].ResultBytes)) || !strings.Contains(table.out, "not repeated") {
		t.Errorf("effects:\n%s%s", table.out, table.errOut)
	}
	missingIsTold(t, dir, env, turn, first.Effects[3].Blob, bucket)
}

func largeText() string {
	var b strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&b, "row %d of the ledger, with what it says\n", i)
	}
	return b.String()
}

type blobEffect struct {
	Outcome, Blob string
	Truncated     bool
	ResultBytes   int `json:"result_bytes"`
}

type blobTurn struct {
	RunID   string `json:"run_id"`
	Text    string
	Effects []blobEffect
}

func shownTurn(t *testing.T, dir string, env []string, turn string) blobTurn {
	t.Helper()
	r := finish(t, command(t, dir, starter, env, "show", turn, "-o", "json"))
	var shown blobTurn
	if err := json.Unmarshal([]byte(r.out), &shown); err != nil || r.code != 0 {
		t.Fatalf("exit code %d, %v\n%s%s", r.code, err, r.out, r.errOut)
	}
	return shown
}

// handlesOnly compares what the history has with what the bucket has.
func handlesOnly(t *testing.T, cli, turn string, shown blobTurn, large, bucket string) {
	t.Helper()
	if len(shown.Effects) != 4 || !shown.Effects[3].Truncated || shown.Effects[3].ResultBytes < len(large) {
		t.Fatalf("%+v", shown)
	}
	history := finish(t, exec.CommandContext(t.Context(), cli, "workflow", "show", "--workflow-id", turn, "--output", "json", "--address", server.Address)).out //nolint:gosec // the pinned CLI
	for _, absent := range []string{"row 45000 ", "Page 5, clause"} {                                                                                           // of the middle of the result, of a page that was not read
		if strings.Contains(history, absent) || strings.Contains(history, base64Of(absent)) {
			t.Errorf("the history holds %q", absent)
		}
	}
	if len(history) > 3<<20 {
		t.Errorf("the history has %d bytes", len(history))
	}
	digest, err := blob.Digest(shown.Effects[3].Blob)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(bucket, "team-a", "turns", digest[:2], digest)) //nolint:gosec // the test's
	if err != nil || blob.Ref(kept) != shown.Effects[3].Blob || contentOf(kept) != large || len(kept) != shown.Effects[3].ResultBytes {
		t.Errorf("the bucket has %d bytes, %v", len(kept), err)
	}
}

// contentOf is the text of what the file server answers.
func contentOf(result []byte) string {
	var answer struct{ Content string }
	if json.Unmarshal(result, &answer) != nil {
		return ""
	}
	return answer.Content
}

// base64Of is some of how a text's bytes stand in base64 at a multiple of three.
func base64Of(text string) string {
	out, err := json.Marshal([]byte(text[:len(text)/3*3]))
	if err != nil {
		panic(err)
	}
	return strings.Trim(string(out), `"`)
}

func wholeResultIs(t *testing.T, dir string, env []string, turn, want string) {
	t.Helper()
	if r := finish(t, command(t, dir, starter, env, "show", turn, "--result", "4")); r.code != 0 || contentOf([]byte(r.out)) != want {
		t.Errorf("exit code %d, %d bytes of %d: %s", r.code, len(r.out), len(want), r.errOut)
	}
	if r := finish(t, command(t, dir, starter, env, "show", turn, "--result", "1")); r.code != 0 || !strings.HasPrefix(r.out, "[contract.pdf, page 1 of 7]\n") {
		t.Errorf("exit code %d, %.200q %s", r.code, r.out, r.errOut)
	}
	r := finish(t, command(t, dir, starter, env, "show", turn, "--result", "4", "-o", "json"))
	var out struct{ Tool, Text string }
	if err := json.Unmarshal([]byte(r.out), &out); err != nil || contentOf([]byte(out.Text)) != want || out.Tool != "files_read_text_file" {
		t.Errorf("exit code %d, %v, %d bytes", r.code, err, len(out.Text))
	}
}

// missingIsTold: what is not in the store, or damaged there, is told, and never
// shown as if it were the result.
func missingIsTold(t *testing.T, dir string, env []string, turn, ref string, bucket s3.Server) {
	t.Helper()
	digest, err := blob.Digest(ref)
	if err != nil {
		t.Fatal(err)
	}
	object := filepath.Join(bucket.Dir, "team-a", "turns", digest[:2], digest)
	for name, tt := range map[string]struct {
		damage func() error
		env    []string
		code   int
		want   string
	}{
		"cut":           {func() error { return os.Truncate(object, 1000) }, nil, 1, "corrupt"},
		"another store": {nil, []string{"TURNKEEL_BLOBS=" + t.TempDir()}, 1, "set TURNKEEL_BLOBS to the worker's store"},
		"no store":      {nil, []string{"TURNKEEL_BLOBS=none"}, 1, "TURNKEEL_BLOBS=none says"},
		"no such call":  {nil, nil, 0, ""},
	} {
		args := []string{"show", turn, "--result", "4"}
		if name == "no such call" {
			args[3], tt.code, tt.want = "5", 2, "its calls are 1 to 4"
		}
		if tt.damage != nil {
			if err := tt.damage(); err != nil {
				t.Error(err)
			}
		}
		r := finish(t, command(t, dir, starter, append(env[:len(env):len(env)], tt.env...), args...))
		if r.code != tt.code || r.out != "" || !strings.Contains(r.errOut, tt.want) || strings.Contains(r.errOut, bucket.SecretKey) {
			t.Errorf("%s: exit code %d\n%.300s%s", name, r.code, r.out, r.errOut)
		}
	}
}

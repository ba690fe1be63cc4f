package docs

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/internal/agentfile"
)

// staysUp marks a command that goes on while the next ones run.
const staysUp = "# stays up"

// TestPages does what docs/agents.md, docs/attachments.md, docs/builtin_tools.md,
// docs/mcp.md and docs/tools.md say, from top to bottom, in a folder of its own: it writes the
// files, runs the commands, and looks for each line of what they are said to
// print. A reader has no more than they: no model, unless the page asks for a key.
func TestPages(t *testing.T) {
	t.Parallel()
	binaries := t.TempDir()
	run(t, root, "go", "build", "-o", binaries, "./starter", "./worker")
	shared := agenttest.StartServer(t)
	for _, name := range followedPages() {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			text, server := documents(t)[name], shared
			if strings.Contains(text, staysUp) { // a worker of it would take another page's turns
				server = agenttest.StartServer(t)
			}
			p := &page{t: t, dir: filepath.Join(t.TempDir(), "turnkeel"), binaries: binaries, env: append(cleanEnv(),
				"TEMPORAL_ADDRESS="+server.Address, "TEMPORAL_NAMESPACE="+server.Namespace, "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false",
				"XDG_DATA_HOME="+t.TempDir())}
			if name == "docs/attachments.md" { // which says that a key has to be set
				model, err := agenttest.NewModelServer(attachmentsScript())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(model.Close)
				p.env = append(p.env, "OPENAI_BASE_URL="+model.URL(), "OPENAI_API_KEY=x")
			}
			p.follow(text)
		})
	}
}

func followedPages() []string {
	return []string{"docs/agents.md", "docs/attachments.md", "docs/builtin_tools.md", "docs/mcp.md", "docs/tools.md"}
}

// TestPages_Apart: a reader follows one page after the other in one clone, so
// that no page may find what another has written.
func TestPages_Apart(t *testing.T) {
	t.Parallel()
	writer := map[string]string{}
	for _, name := range followedPages() {
		text := documents(t)[name]
		for _, at := range fence.FindAllStringIndex(text, -1) {
			file := fileBefore.FindStringSubmatch(text[:at[0]])
			if file == nil {
				continue
			}
			place := file[1]
			if top, _, _ := strings.Cut(place, "/"); top != "agents" { // else an agent beside that of the repository
				place = top
			}
			if other, taken := writer[place]; taken && other != name {
				t.Errorf("%s and %s both write into %s", other, name, place)
			}
			writer[place] = name
		}
	}
	if len(writer) < 5 {
		t.Errorf("only %d places were found", len(writer))
	}
}

// attachmentsScript plays the model of docs/attachments.md, which reads the file
// that it is told of.
func attachmentsScript() agenttest.Script {
	return agenttest.Script{Hook: func(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
		if r.Step > 1 {
			return &agenttest.Step{Text: "42.00 EUR, by 30 November."}
		}
		id := fileID.FindString(r.User)
		return &agenttest.Step{Calls: []agenttest.ScriptCall{{Name: "read_attachment", Args: map[string]any{"file_id": id}}}}
	}}
}

var fileID = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// cleanEnv is the environment without models and servers.
func cleanEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "OPENAI_") || strings.HasPrefix(v, "TEMPORAL_")
	})
}

// page is a document that is followed.
type page struct {
	t             testing.TB
	dir, binaries string // dir stands for the reader's clone
	env           []string
	printed       string // by the latest commands
}

var (
	fileBefore = regexp.MustCompile("`([^`\\s]+)`:\\s*$")
	ourBinary  = regexp.MustCompile(`go run \./(starter|worker)\b`)
)

// follow writes, runs and compares, block by block.
func (p *page) follow(text string) {
	p.t.Helper()
	p.printed = ""
	for _, folder := range []string{"agents", "examples/nocode"} {
		if err := os.CopyFS(filepath.Join(p.dir, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			p.t.Fatal(err)
		}
	}
	writeModule(p.t, p.dir)
	for _, problem := range unseen(text) {
		p.t.Error(problem)
	}
	blocks := 0
	for _, at := range fence.FindAllStringSubmatchIndex(text, -1) {
		blocks++
		language, body := text[at[2]:at[3]], text[at[4]:at[5]]
		file := fileBefore.FindStringSubmatch(text[:at[0]])
		switch {
		case language == "sh": // whatever stands before it
			p.sh(body)
		case language == "text":
			p.compare(body)
		case file != nil:
			p.write(file[1], body)
		case language == "yaml":
			p.agent(body)
		default:
			p.t.Errorf("a block of %q that nothing is done with:\n%s", language, body)
		}
	}
	if blocks < 3 {
		p.t.Errorf("only %d blocks were found", blocks)
	}
}

func (p *page) write(file, body string) {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	write(p.t, path, body)
	if filepath.Ext(file) == ".go" {
		run(p.t, p.dir, "go", "vet", "-mod=mod", "./"+filepath.Dir(file))
		if out := run(p.t, p.dir, "gofmt", "-l", file); out != "" {
			p.t.Errorf("%s is not formatted", file)
		}
	}
}

// agent reads a part of the page that is an agent by itself.
func (p *page) agent(body string) {
	p.t.Helper()
	if _, err := agentfile.LoadFS(fstest.MapFS{"x/agent.yaml": {Data: []byte(body)}}, "agents"); err != nil {
		p.t.Errorf("%v\n%s", err, body)
	}
}

// sh runs the lines one after the other.
func (p *page) sh(body string) {
	p.t.Helper()
	p.printed = ""
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		var out lockedBuffer
		cmd := exec.CommandContext(p.t.Context(), "sh", "-e", "-c", p.command(line)) //nolint:gosec // the page's
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, p.env, &out, &out
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			p.t.Fatal(err)
		}
		if strings.HasSuffix(line, staysUp) {
			p.background(line, cmd, &out)
			continue
		}
		err := cmd.Wait()
		p.printed += out.String()
		if err != nil {
			p.t.Fatalf("%s: %v\n%s", line, err, out.String())
		}
	}
}

// command is a line as it is run here: our own programs are built already, and
// the clone that the page speaks of is this repository.
func (p *page) command(line string) string {
	p.t.Helper()
	clone, err := filepath.Abs(root)
	if err != nil {
		p.t.Fatal(err)
	}
	line = strings.ReplaceAll(line, "=../turnkeel", "="+clone)
	return ourBinary.ReplaceAllString(line, p.binaries+"/$1")
}

// background ends the command with the test, as Ctrl-C does.
func (p *page) background(line string, cmd *exec.Cmd, out *lockedBuffer) {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	p.t.Cleanup(func() {
		select {
		case err := <-ended:
			p.t.Errorf("%s ended by itself: %v\n%s", line, err, out.String())
			return
		default:
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			p.t.Errorf("%s does not end\n%s", line, out.String())
		}
	})
}

// compare looks for each line of what the latest commands are said to print.
func (p *page) compare(body string) {
	p.t.Helper()
	if strings.TrimSpace(p.printed) == "" || strings.TrimSpace(body) == "" {
		p.t.Errorf("a block of what is printed, without one or the other:\n%s", body)
	}
	for _, line := range missing(p.printed, body) {
		p.t.Errorf("not printed: %s\nbut:\n%s", line, p.printed)
	}
}

// missing are the lines that were not printed, spaces aside.
func missing(printed, lines string) []string {
	printed = strings.Join(strings.Fields(printed), " ")
	var found []string
	for line := range strings.Lines(lines) {
		if want := strings.Join(strings.Fields(line), " "); !strings.Contains(printed, want) {
			found = append(found, want)
		}
	}
	return found
}

// lockedBuffer is written by a process and read by the test.
type lockedBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const ours = "github.com/turnkeel/turnkeel"

// TestReadmeProgram compiles the README's program in a module of its own and
// checks the README's agent with it.
func TestReadmeProgram(t *testing.T) {
	t.Parallel()
	readme := documents(t)["README.md"]
	dir := t.TempDir()
	agent := filepath.Join(dir, "agents", "desk")
	if err := os.MkdirAll(agent, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "main.go"), block(t, readme, "go"))
	write(t, filepath.Join(agent, "agent.yaml"), block(t, readme, "yaml"))
	write(t, filepath.Join(agent, "instructions.md"), "You open tickets.\n")
	writeModule(t, dir)
	run(t, dir, "go", "vet", "-mod=mod", ".")
	run(t, dir, "go", "build", "-mod=mod", "-o", "deskworker", ".")
	if out := run(t, dir, "./deskworker", "check"); !strings.Contains(out, "agent desk: model openai/gpt-4o-mini, tools [open_ticket]") {
		t.Errorf("check printed:\n%s", out)
	}
	if out := run(t, dir, "./deskworker", "tools", "-o", "json"); !strings.Contains(out, `"open_ticket"`) || !strings.Contains(out, `"keyed"`) {
		t.Errorf("tools printed:\n%s", out)
	}
	if formatted := run(t, dir, "gofmt", "-l", "main.go"); formatted != "" {
		t.Error("the README's program is not formatted")
	}
}

// writeModule makes dir a module that uses this one as it stands. Our own
// requirements are its too: no network is needed.
func writeModule(t testing.TB, dir string) {
	t.Helper()
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(root, "go.sum")))
	write(t, filepath.Join(dir, "go.mod"), strings.Replace(read(t, filepath.Join(root, "go.mod")),
		"module "+ours, "module example.com/desk", 1)+
		"\nrequire "+ours+" v0.0.0\n\nreplace "+ours+" => "+abs+"\n")
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path) //nolint:gosec // a file of the repository
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...) //nolint:gosec // a test's own commands
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

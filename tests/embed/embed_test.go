// Package embed proves that another program can build on this module: it
// compiles a separate module that uses the public ways in, and runs its tests
// and its binary.
package embed

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const ours = "github.com/turnkeel/turnkeel"

func TestAnotherModule(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copyFile(t, "testdata/module/main.go.txt", filepath.Join(dir, "main.go"), nil)
	copyFile(t, "testdata/module/main_test.go.txt", filepath.Join(dir, "main_test.go"), nil)
	copyFile(t, filepath.Join(root, "go.sum"), filepath.Join(dir, "go.sum"), nil)
	// Our own requirements are the other module's too: no network is needed.
	copyFile(t, filepath.Join(root, "go.mod"), filepath.Join(dir, "go.mod"), func(mod string) string {
		return strings.Replace(mod, "module "+ours, "module example.com/theirs", 1) +
			"\nrequire " + ours + " v0.0.0\n\nreplace " + ours + " => " + root + "\n"
	})
	run(t, dir, "go", "vet", "-mod=mod", "./...")
	run(t, dir, "go", "test", "-mod=mod", "./...")
	run(t, dir, "go", "build", "-mod=mod", "-o", "theirs", ".")
	if out := run(t, dir, "./theirs", "tools", "-o", "json"); !strings.Contains(out, `"greet"`) {
		t.Errorf("the binary's tools command printed:\n%s", out)
	}
}

func copyFile(t *testing.T, from, to string, change func(string) string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		data = []byte(change(string(data)))
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir, name string, args ...string) string {
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

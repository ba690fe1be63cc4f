package arch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ciGo stands in for the go command, whose real run takes a quarter of an hour
// and is what runs this test.
const ciGo = `#!/bin/sh
case "$1" in
test) echo "kills 60" >>"$TURNKEEL_CRASH_REPORT"; exit 3 ;;
esac
`

// TestCI_ReportsAlsoWhenTestsFail: the kill matrix's report is printed where
// the tests failed too, and the exit code stays theirs.
func TestCI_ReportsAlsoWhenTestsFail(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(ciGo), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	script, err := filepath.Abs("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), script) //nolint:gosec // this repository's own
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
		t.Errorf("it ended with %v", err)
	}
	if !strings.Contains(string(out), "kills 60\n") || strings.Contains(string(out), "==> check") {
		t.Errorf("it printed:\n%s", out)
	}
}

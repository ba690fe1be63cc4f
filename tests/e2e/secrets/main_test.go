package secrets

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// worker and starter are the programs as a user has them.
var worker, starter string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == leakyServer {
		serveLeaky()
		return
	}
	dir, err := os.MkdirTemp("", "turnkeel-secrets")
	if err == nil {
		worker, starter = filepath.Join(dir, "worker"), filepath.Join(dir, "starter")
		build := exec.Command("go", "build", "-o", dir, "./worker", "./starter") //nolint:gosec // our own
		build.Dir = "../../.."
		var said []byte
		if said, err = build.CombinedOutput(); err != nil {
			err = fmt.Errorf("build the worker and the starter: %w\n%s", err, said)
		}
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	// maxModules bounds the modules in the root module's graph: fewer than this.
	// The MCP SDK and the document parsers need the room above 100.
	maxModules     = 140
	maxWorkerBytes = 45_000_000 // the stripped stock worker: smaller than this
)

// TestModuleGraphStaysSmall counts what a user of the module gets into their
// own module graph.
func TestModuleGraphStaysSmall(t *testing.T) {
	t.Parallel()
	modules := strings.Fields(goCommand(t, "list", "-m", "-f", "{{.Path}}", "all"))
	t.Logf("%d modules", len(modules))
	if len(modules) >= maxModules {
		t.Errorf("%d modules in the graph, want fewer than %d: `go mod graph` shows who brings them; developer tools belong in tests/tools",
			len(modules), maxModules)
	}
}

// TestWorkerBinaryStaysSmall links the stock worker as a release would.
func TestWorkerBinaryStaysSmall(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "worker")
	goCommand(t, "build", "-ldflags", "-s -w", "-o", binary, "./worker")
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("worker: %.1f MB stripped", float64(info.Size())/1e6)
	if info.Size() >= maxWorkerBytes {
		t.Errorf("the stripped worker has %d bytes, want fewer than %d: `go tool nm -size -sort size` shows what grew", info.Size(), maxWorkerBytes)
	}
}

func goCommand(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

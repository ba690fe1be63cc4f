package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// R32: the agent and the cases of docs/policy.md are run as the page says, by
// both binaries.
func TestPolicyPage(t *testing.T) {
	t.Parallel()
	page := documents(t)["docs/policy.md"]
	var blocks []string
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		if m[1] == "yaml" {
			blocks = append(blocks, m[2])
		}
	}
	if len(blocks) != 2 {
		t.Fatalf("the page has %d blocks of YAML, want the agent and its cases", len(blocks))
	}
	dir := t.TempDir()
	agent := filepath.Join(dir, "agents", "support")
	if err := os.MkdirAll(agent, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(agent, "agent.yaml"), blocks[0])
	write(t, filepath.Join(agent, "policy_test.yaml"), blocks[1])
	run(t, root, "go", "build", "-o", dir, "./starter", "./worker")
	for _, binary := range []string{"starter", "worker"} {
		out := run(t, dir, filepath.Join(dir, binary), "policy", "test", "support")
		if n := strings.Count(out, "\nok "); n != strings.Count(blocks[1], "- name:") || strings.Contains(out, "FAILED") {
			t.Errorf("%s printed:\n%s", binary, out)
		}
	}
}

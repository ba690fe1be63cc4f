// Package npm installs the servers that the tests run and nobody here wrote. It
// is for tests; start at [Module].
package npm

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

//go:embed package.json
var manifest []byte

//go:embed package-lock.json
var lock []byte

// Module is the path of a file in an installed package, as
// "@scope/name/dist/main.js". What is not installed yet is, by npm and from the
// lock file, into a folder of the user's cache that has the lock's hash for its
// name: a finished installation only has it.
func Module(t testing.TB, file string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatalf("this test runs a server on Node.js 20 or later (on Debian: apt-get install nodejs npm): %v", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	cache = filepath.Join(cache, "turnkeel", "npm")
	sum := sha256.Sum256(append(append([]byte{}, manifest...), lock...))
	dir := filepath.Join(cache, "tests-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(dir); err != nil {
		install(t, cache, dir)
	}
	path := filepath.Join(dir, "node_modules", filepath.FromSlash(file))
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; delete %s to have it installed again", err, dir)
	}
	return path
}

func install(t testing.TB, cache, dir string) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatalf("this test needs npm, to install what tests/npm/package.json names (on Debian: apt-get install nodejs npm): %v", err)
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		t.Fatal(err)
	}
	unfinished, err := os.MkdirTemp(cache, "unfinished-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(unfinished) //nolint:errcheck // a temporary folder
	for name, data := range map[string][]byte{"package.json": manifest, "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(unfinished, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ci := exec.CommandContext(t.Context(), npm, "ci", "--prefix", unfinished, "--no-audit", "--no-fund", "--ignore-scripts") //nolint:gosec // found above
	ci.Dir = unfinished
	if out, err := ci.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v; it needs the npm registry, or one that npm's own configuration names\n%s", err, out)
	}
	// Another process may have been first: then its folder is as good.
	if err := os.Rename(unfinished, dir); err != nil && !errors.Is(err, os.ErrExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		t.Fatal(err)
	}
}

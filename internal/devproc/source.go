package devproc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	modulePath = "github.com/turnkeel/turnkeel"
	configFile = "temporal-dev.yaml"
	serverDir  = "devserver"
)

// ErrNoSource is what [Ensure] and [Start] return (wrapped) when the sources
// of the development server are not on this machine.
var ErrNoSource = errors.New("the sources of the development Temporal server are not here")

// noSource returns ErrNoSource with the reason and the way out of it.
func noSource(reason string) error {
	return fmt.Errorf("%w: %s; run a Temporal server yourself, for example "+
		"`temporal server start-dev`, and set TEMPORAL_ADDRESS=127.0.0.1:7233", ErrNoSource, reason)
}

// moduleDir returns the directory of this module, with devserver/ in it.
//
// It is looked for where a developer expects the answer to come from: the
// checkout around the working directory, then the module that the working
// directory's go.mod selects (a `replace`), then the place this file was
// compiled from. A module downloaded from a proxy has no devserver/, since
// module zips leave nested modules out.
func moduleDir(ctx context.Context) (string, error) {
	return searchModule(ctx, dirAbove, dirFromGoList, dirOfSource)
}

// searchModule returns the first directory with devserver/ that a finder
// gives; a finder that knows none gives "".
func searchModule(ctx context.Context, finders ...func(context.Context) string) (string, error) {
	var bare string // a directory of the module that lacks devserver/
	for _, find := range finders {
		dir := find(ctx)
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if dir == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, serverDir, "go.mod")); err == nil {
			return dir, nil
		}
		if bare == "" {
			bare = dir
		}
	}
	if bare != "" {
		return "", noSource(bare + " has no " + serverDir + "/ (a downloaded module leaves it out; " +
			"a git checkout, or a `replace` that points to one, has it)")
	}
	return "", noSource("no checkout of " + modulePath + " found from the working directory")
}

// dirAbove walks up from the working directory to this module's go.mod.
func dirAbove(context.Context) string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if isModule(dir) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// dirFromGoList asks the go command where the working directory's module
// takes this module from.
func dirFromGoList(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", modulePath)
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// dirOfSource returns the module directory this file was compiled from; ""
// when it was built with -trimpath or the directory is gone.
func dirOfSource(context.Context) string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return ""
	}
	dir := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if !isModule(dir) {
		return ""
	}
	return dir
}

// isModule reports whether dir's go.mod declares this module.
func isModule(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) >= 2 && f[0] == "module" {
			return strings.Trim(f[1], `"`) == modulePath
		}
	}
	return false
}

package toolbin

import (
	"context"
	"path/filepath"
)

// TemporalCLI returns the path of the Temporal CLI in the version that
// tests/temporalcli/go.mod pins, the one `task temporal` runs.
//
// The first call on a machine compiles it, which takes minutes; later ones
// take milliseconds. Processes that call it at the same time build once: the
// others wait for it, or until ctx ends. It works from any directory of a
// checkout.
func TemporalCLI(ctx context.Context) (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	return tool{
		name:   "temporal",
		pkg:    "github.com/temporalio/cli/cmd/temporal",
		module: filepath.Join(root, "tests", "temporalcli"),
		cache:  cacheDir(),
	}.ensure(ctx)
}

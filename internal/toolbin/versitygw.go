package toolbin

import (
	"context"
	"path/filepath"
)

// VersityGateway returns the path of an S3 server that keeps its objects in a
// folder, in the version that tests/versitygw/go.mod pins. See [TemporalCLI] for
// when it is built.
func VersityGateway(ctx context.Context) (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	return tool{
		name:   "versitygw",
		pkg:    "github.com/versity/versitygw/cmd/versitygw",
		module: filepath.Join(root, "tests", "versitygw"),
		cache:  cacheDir(),
	}.ensure(ctx)
}

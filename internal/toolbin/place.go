package toolbin

import (
	"errors"
	"os"
	"path/filepath"
)

// errNoCheckout says that the pins are not around the working directory.
var errNoCheckout = errors.New("tests/temporalcli/go.mod is in no directory above the working directory: run inside a checkout of Turnkeel")

// checkout is the directory of the checkout around the working directory.
func checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "tests", "temporalcli", "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errNoCheckout
		}
		dir = parent
	}
}

// cacheDir is where builds are kept: the user's cache, or the system's
// temporary directory where there is no home.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "turnkeel", "tools")
}

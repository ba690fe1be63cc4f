package webui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// The programs that the browser is made of, and Debian's packages of them.
const (
	chromium, chromedriver = "chromium", "chromedriver"
	chromiumPackages       = "chromium chromium-driver"
)

// installWait bounds the installation: about 140 MB are fetched.
const installWait = 10 * time.Minute

// installChromium makes sure that the browser and its driver are there, and
// installs Debian's packages if they are not: once, while parallel tests wait.
// What cannot be installed fails the test.
func installChromium(t *testing.T) {
	t.Helper()
	if err := installed(); err != nil {
		t.Fatal(err)
	}
}

var installed = sync.OnceValue(func() (err error) {
	missing := missingPrograms()
	if len(missing) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), installWait)
	defer cancel()
	// The lists of packages are fetched only if the ones at hand do not do.
	if err = aptGet(ctx, "install"); err != nil {
		if err = aptGet(ctx, "update"); err == nil {
			err = aptGet(ctx, "install")
		}
	}
	if missing = missingPrograms(); len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("this test needs %s, and could not install it: %w\nInstall it yourself; on Debian, as root: apt-get update && apt-get install %s",
		strings.Join(missing, " and "), cmp.Or(err, errors.New("the packages were installed and are not in PATH")), chromiumPackages)
})

func missingPrograms() (missing []string) {
	for _, program := range []string{chromium, chromedriver} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	return missing
}

// aptGet updates the lists of packages or installs ours, as root or with a
// sudo that asks nothing. It waits for other processes that install.
func aptGet(ctx context.Context, verb string) error {
	args := []string{"apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300", verb}
	if verb == "install" {
		args = append(append(args, "--no-install-recommends"), strings.Fields(chromiumPackages)...)
	}
	if os.Geteuid() != 0 {
		args = append([]string{"sudo", "-n"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // spelled out above
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

package webui

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
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
// installs Debian's packages if they are not. What cannot be installed fails
// the test.
func installChromium(t *testing.T) {
	t.Helper()
	missing := missingPrograms()
	if len(missing) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), installWait)
	defer cancel()
	var err error
	// The lists of packages are fetched only if the ones at hand do not do.
	for _, args := range [][]string{{"install"}, {"update"}, {"install"}} {
		if err = aptGet(ctx, args[0]); args[0] == "install" && err == nil {
			break
		}
	}
	if missing = missingPrograms(); len(missing) > 0 {
		t.Fatalf("this test needs %s, and could not install it: %v\nInstall it yourself (on Debian: apt-get install %s).",
			strings.Join(missing, " and "), err, chromiumPackages)
	}
}

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

// Package debian installs Debian's packages for tests that need a program of
// theirs. It is for tests; start at [Install].
package debian

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// installWait bounds an installation: up to 140 MB are fetched.
const installWait = 10 * time.Minute

// Install makes sure of programs: missing names those that are not there, and if
// it names some, the packages are installed. The error says what to do. Call it
// once, and let parallel tests wait: see [sync.OnceValue].
func Install(missing func() []string, packages ...string) (err error) {
	if len(missing()) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), installWait)
	defer cancel()
	// The lists of packages are fetched only if the ones at hand do not do.
	if err = aptGet(ctx, "install", packages...); err != nil {
		if err = aptGet(ctx, "update"); err == nil {
			err = aptGet(ctx, "install", packages...)
		}
	}
	still := missing()
	if len(still) == 0 {
		return nil
	}
	return fmt.Errorf("this test needs %s, and could not install it: %w\nInstall it yourself; on Debian, as root: apt-get update && apt-get install %s",
		strings.Join(still, " and "), cmp.Or(err, errors.New("the packages were installed and do not have it")), strings.Join(packages, " "))
}

// NotInPath are those of the programs that are not.
func NotInPath(programs ...string) (missing []string) {
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	return missing
}

// aptGet updates the lists of packages or installs some, as root or with a
// sudo that asks nothing. It waits for other processes that install.
func aptGet(ctx context.Context, verb string, packages ...string) error {
	args := []string{"apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300", verb}
	if verb == "install" {
		args = append(append(args, "--no-install-recommends"), packages...)
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

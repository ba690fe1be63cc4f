package child

import (
	"os/exec"
	"runtime"
)

// Start starts cmd and returns a channel that delivers the result of its Wait.
// Both happen on one OS thread that lives as long as the child: Pdeathsig fires
// at the death of the forking thread, not of the process, and Go ends a thread
// whose locked goroutine returns (a caller's, for example).
func Start(cmd *exec.Cmd) (<-chan error, error) {
	started, exited := make(chan error, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			exited <- cmd.Wait()
		}
	}()
	return exited, <-started
}

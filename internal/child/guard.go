package child

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
)

// Guard ends a process group when this process dies, however it dies: the kernel
// kills a child that was started with [Attr], and not the child's own children,
// which is what a package runner or a shell leaves behind. It is a shell that
// waits for the end of a pipe that only this process holds. Release ends it
// once the group is gone, and before its number may be another's; it may be
// called more than once. An error says that there is no such shell.
func Guard(group int) (release func(), err error) {
	wait, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", `read -r _ || kill -s KILL -- "-$1"`, "sh", strconv.Itoa(group)) //nolint:gosec // a number
	cmd.Stdin, cmd.Env, cmd.Dir = wait, []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what is sent to our group is not for it
	err = cmd.Start()
	_ = wait.Close()
	if err != nil {
		_ = hold.Close()
		return nil, fmt.Errorf("start a shell that waits for the end of this process: %w", err)
	}
	return sync.OnceFunc(func() {
		_, _ = hold.WriteString("\n")
		_ = hold.Close()
		_ = cmd.Wait()
	}), nil
}

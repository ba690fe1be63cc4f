package main

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openTerminal gives both sides of a new pseudo-terminal: the user's, and the
// one that a program runs on. Lines are 120 columns wide.
func openTerminal() (user, program *os.File, err error) {
	user, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	defer func() {
		if err != nil {
			_ = user.Close()
		}
	}()
	raw, err := user.SyscallConn() // Fd would make reads block for good
	if err != nil {
		return nil, nil, err
	}
	var number int
	controlErr := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil { //nolint:gosec // a file descriptor
			return
		}
		if err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil { //nolint:gosec // a file descriptor
			return
		}
		number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN) //nolint:gosec // a file descriptor
	})
	if controlErr != nil {
		err = controlErr
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	return user, program, err
}

package child

import "syscall"

// Attr puts a child in a process group of its own, so that a terminal's Ctrl-C
// reaches only the parent, and has the kernel send it sig when the thread that
// forked it dies; see [Start].
func Attr(sig syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: sig}
}

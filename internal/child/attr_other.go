//go:build !linux

package child

import "syscall"

// Attr puts a child in a process group of its own, so that a terminal's Ctrl-C
// reaches only the parent. Only Linux can tie it to its parent's death.
func Attr(syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

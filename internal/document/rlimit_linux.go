package document

import "syscall"

// limitData has the system refuse more memory than is allowed, which ends the
// process. What Go reserves and does not use does not count.
func limitData() {
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: maxMemory, Max: maxMemory})
}

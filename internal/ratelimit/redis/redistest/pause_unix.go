//go:build unix

package redistest

import "syscall"

// pause and resume are the signals that stop a process where it is and have it go on.
const (
	pause  = syscall.SIGSTOP
	resume = syscall.SIGCONT
)

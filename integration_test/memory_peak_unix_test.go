//go:build unix

package integration

import (
	"os"
	"runtime"
	"syscall"
)

// peakOf returns the most memory that a process which has ended had at once, in bytes; 0 where
// that is not known.
func peakOf(ended *os.ProcessState) int64 {
	usage, ok := ended.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return usage.Maxrss
	default:
		return int64(usage.Maxrss) << 10 //nolint:unconvert // it is an int32 on some architectures
	}
}

package integration

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the most memory that a process had at once, in octets.
func peakMemory(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return usage.Maxrss
	}
	return usage.Maxrss << 10
}

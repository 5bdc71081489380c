package integration

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// peakMemory waits until a process has ended, of which wait tells, and returns the most memory
// that it had at once, in bytes. On Linux that is what the kernel says while it runs: what
// it says at the end is never less than this process had when it started the other.
func peakMemory(pid int, wait func() *os.ProcessState) (peak int64) {
	if runtime.GOOS != "linux" {
		return peakOf(wait())
	}
	ended := make(chan struct{})
	go func() {
		wait()
		close(ended)
	}()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ended:
			return peak
		case <-look.C:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // nothing once it has ended
			_, rest, _ := strings.Cut(string(status), "VmHWM:")
			if words := strings.Fields(rest); len(words) > 0 {
				if kibibytes, err := strconv.ParseInt(words[0], 10, 64); err == nil {
					peak = max(peak, kibibytes<<10)
				}
			}
		}
	}
}

//go:build soak

package integration

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// What Caddy may have more at the end than at the start. Connections that are kept for later
// are a few goroutines and files.
const (
	moreGoroutines = 12
	moreFiles      = 12

	// moreHeap is in MiB. What is remembered is bounded (floodHeap), but not full when the soak
	// starts; halfHeap is by how much the second half may grow.
	moreHeap = floodHeap
	halfHeap = floodHeap / 2
)

// gauge is what Caddy takes while nobody asks it for anything.
type gauge struct {
	when string
	memory
	goroutines, files int64
}

// look takes a sample.
func (c *caddy) look(t *testing.T, when string) gauge {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.process.Pid))
	if err != nil {
		skip(t, "the open files of a process cannot be read here: %v", err)
	}
	profile := c.adminGet(t, "/debug/pprof/goroutine?debug=1")
	return gauge{when, c.memory(t), numberAfter(t, profile, "goroutine profile: total "), int64(len(files))}
}

// settled takes a sample when Caddy has come to rest: when for some seconds nothing ended, and
// there are no more goroutines and files than before, for which it waits no longer than patience.
func (c *caddy) settled(t *testing.T, when string, before *gauge) gauge {
	t.Helper()
	begun, still := time.Now(), 0
	last := c.look(t, when)
	for time.Since(begun) < patience && (still < 5 || before != nil && last.leaks(before)) {
		time.Sleep(time.Second)
		now := c.look(t, when)
		if still++; now.goroutines < last.goroutines || now.files < last.files {
			still = 0
		}
		last = now
	}
	t.Logf("%s: at rest after %s", when, time.Since(begun).Round(time.Second))
	return last
}

// leaks tells whether there are more goroutines or files than before.
func (m *gauge) leaks(before *gauge) bool {
	return m.goroutines > before.goroutines+moreGoroutines || m.files > before.files+moreFiles
}

// expectNoLeak compares the samples of the start, the middle and the end.
func (c *caddy) expectNoLeak(t *testing.T, start, middle, end gauge) {
	t.Helper()
	if end.leaks(&start) {
		t.Errorf("at the end: got %d goroutines and %d files, want at most %d and %d more than %d and %d",
			end.goroutines, end.files, moreGoroutines, moreFiles, start.goroutines, start.files)
		t.Logf("goroutines:\n%.20000s", c.adminGet(t, "/debug/pprof/goroutine?debug=1"))
	}
	if got := (end.heap - start.heap) >> 20; got > moreHeap {
		t.Errorf("heap: got %d MiB more at the end than at the start, want at most %d", got, moreHeap)
	}
	if got := (end.heap - middle.heap) >> 20; got > halfHeap {
		t.Errorf("heap: got %d MiB more at the end than in the middle, want at most %d", got, halfHeap)
	}
	most := mostResident(floodMemory)
	if got := (end.resident - start.resident) >> 20; got > most {
		t.Errorf("resident: got %d MiB more at the end than at the start, want at most %d", got, most)
	}
}

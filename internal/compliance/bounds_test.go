package compliance

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// heap returns what is in use after a collection, in MiB.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// TestLedgerIsWithin32MiB fills all that a ledger has room for with the longest texts, and then
// floods it with a million names and paths.
func TestLedgerIsWithin32MiB(t *testing.T) {
	before := heap()
	l := NewLedger(Options{})
	long := strings.Repeat("x", 1000)
	// Nine lines and paths are frequent, so that the last ten, which are evidence, keep no place
	// among the frequent ones and take room twice.
	var sites [512]string
	for i := range sites {
		sites[i] = fmt.Sprintf("%03d%s", i, long)
	}
	var texts [19]string
	for i := range texts {
		texts[i] = fmt.Sprint("/", i, long)
	}
	fill := func(site int, robot string) {
		for n := range 9*15 + 10 {
			e := disallowed(robot)
			e.Site, e.Time = sites[site], start.Add(time.Duration(n)*12*hour)
			e.Version, e.Record, e.Method, e.Address = long, long, long, "2001:db8::1"
			e.Line = n % 9
			if n >= 9*15 {
				e.Line = 9 + n - 9*15
			}
			e.Rule, e.Path = texts[e.Line], texts[e.Line]
			l.Note(&e)
		}
	}
	for i := range 2000 {
		fill(i%256, fmt.Sprintf("%04d%s", i, long))
	}
	for i := range sites {
		fill(i, "another-"+long)
	}
	flood(l, start)
	e := disallowed("figtree")
	for i := range million() {
		e.Path = fmt.Sprint("/", i, long)
		l.Note(&e)
	}
	if got := heap() - before; got > 32 {
		t.Errorf("a ledger that is full: got %.1f MiB, want at most 32", got)
	} else {
		t.Logf("a ledger that is full takes %.1f MiB", got)
	}
	if got, _ := rows(l.Snapshot(start)); got != 2000 {
		t.Errorf("rows: got %d, want 2000", got)
	}
	runtime.KeepAlive(l)
}

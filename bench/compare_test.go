package bench

import (
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"
)

// garbage is a way to collect it, and how long a slice of the measurement is: with the
// collector on it holds several collections, so that each slice bears its share.
type garbage struct {
	name    string
	percent int
	slice   time.Duration
}

var (
	gcOff = garbage{"off", -1, time.Millisecond}
	gcOn  = garbage{"on", 100, 30 * time.Millisecond}
)

// compare serves the same requests at two sites in turn, in slices so short that whatever
// else the machine does slows both, and reports the CPU time of a request at the second
// (ns/op), and what that is more than at the first: medians over the slices, in CPU time of
// this process, the garbage collector's share included.
func compare(b *testing.B, bare, site http.Handler, all []*http.Request, gc garbage) {
	b.Helper()
	before := debug.SetGCPercent(gc.percent)
	defer debug.SetGCPercent(before)
	next := &stream{all: all}
	n := max(int(gc.slice/max(cost(bare, next, few), cost(site, next, few), time.Microsecond)), few)
	var costs, added []float64
	for b.Loop() {
		if gc == gcOff {
			runtime.GC()
			cost(bare, next, few) // the collector leaves cold caches
		}
		// The order cancels what grows or shrinks meanwhile, such as the heap, and what comes
		// from being the first or the last.
		first, second := around(bare, site, next, n)
		last, between := around(site, bare, next, n)
		first, second = (first+between)/2, (second+last)/2
		costs, added = append(costs, float64(second)), append(added, float64(second-first))
	}
	b.ReportMetric(median(costs), "ns/op")
	b.ReportMetric(median(added), "added-ns/op")
	b.ReportMetric(allocations(site, all)-allocations(bare, all), "added-allocs/op")
}

// around returns the costs of requests at outer, before and after, and at inner, in between.
func around(outer, inner http.Handler, next *stream, n int) (_, _ time.Duration) {
	first := cost(outer, next, n)
	between := cost(inner, next, n) + cost(inner, next, n)
	return (first + cost(outer, next, n)) / 2, between / 2
}

// few requests are enough to see about how long one takes.
const few = 8

// stream is requests that come over and over.
type stream struct {
	all  []*http.Request
	next int
}

// cost returns the CPU time of each of the next n requests.
func cost(h http.Handler, s *stream, n int) time.Duration {
	w := &discard{header: make(http.Header)}
	begun := spent()
	for range n {
		serve(h, w, s.all[s.next%len(s.all)])
		s.next++
	}
	return (spent() - begun) / time.Duration(n)
}

// serve hands over one request.
func serve(h http.Handler, w *discard, r *http.Request) {
	clear(w.header)
	w.status = http.StatusOK
	h.ServeHTTP(w, r)
}

// spent returns the CPU time that this process has used.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// allocations returns how often a request allocates, over a few of all.
func allocations(h http.Handler, all []*http.Request) float64 {
	w, i := &discard{header: make(http.Header)}, 0
	return testing.AllocsPerRun(4*few, func() {
		serve(h, w, all[i%len(all)])
		i++
	})
}

func median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// expect ends the benchmark if any of the requests is not answered with status.
func expect(b *testing.B, h http.Handler, all []*http.Request, status int) {
	b.Helper()
	w := &discard{header: make(http.Header)}
	for range 2 { // the second time all is known
		for _, r := range all {
			serve(h, w, r)
		}
	}
	for _, r := range all {
		if serve(h, w, r); w.status != status {
			b.Fatalf("%s: got %d, want %d", r.UserAgent(), w.status, status)
		}
	}
}

// discard is an http.ResponseWriter that costs nothing and keeps the status.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

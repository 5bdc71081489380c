package bench

import (
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"syscall"
	"testing"
	"time"
)

// garbage is whether it is collected.
type garbage struct {
	name    string
	percent int
}

var (
	gcOff = garbage{"off", -1}
	gcOn  = garbage{"on", 100}
)

// slice is about how long a part of a measurement is without garbage collection: so short that
// whatever else the machine does slows all that is compared.
const slice = time.Millisecond

// compare serves the same requests at two sites in turn, and reports the CPU time of a request at the
// second (ns/op), and what that is more than at the first: medians over the slices, in CPU time of
// this process, the garbage collector's share included.
func compare(b *testing.B, bare, site http.Handler, all []*http.Request, gc garbage) {
	b.Helper()
	before := debug.SetGCPercent(gc.percent)
	defer debug.SetGCPercent(before)
	next := &stream{all: all}
	var costs, added []float64
	for b.Loop() {
		var first, second time.Duration
		if gc == gcOn {
			first, second = around(bare, site, next, costOfCycle)
		} else {
			first, second = inTurn(bare, site, next)
		}
		costs, added = append(costs, float64(second)), append(added, float64(second-first))
	}
	b.ReportMetric(median(costs), "ns/op")
	b.ReportMetric(median(added), "added-ns/op")
	b.ReportMetric(allocations(site, all)-allocations(bare, all), "added-allocs/op")
}

// inTurn returns the costs of requests at two sites, in slices, without garbage collection.
func inTurn(bare, site http.Handler, next *stream) (_, _ time.Duration) {
	runtime.GC()
	cost(bare, next, few) // the collector leaves cold caches
	n := max(int(slice/max(cost(bare, next, few), cost(site, next, few), time.Microsecond)), few)
	each := func(h http.Handler, next *stream) time.Duration { return cost(h, next, n) }
	// The order cancels what grows or shrinks meanwhile, such as the heap, and what comes
	// from being the first or the last.
	first, second := around(bare, site, next, each)
	last, between := around(site, bare, next, each)
	return (first + between) / 2, (second + last) / 2
}

// around returns the costs of requests at outer, before and after, and at inner, in between.
func around(outer, inner http.Handler, next *stream, cost func(http.Handler, *stream) time.Duration) (_, _ time.Duration) {
	first := cost(outer, next)
	between := cost(inner, next) + cost(inner, next)
	return (first + cost(outer, next)) / 2, between / 2
}

// few requests are enough to see about how long one takes.
const few = 8

// stream is requests that come over and over, at each of the hosts in turn if there are any.
type stream struct {
	all   []*http.Request
	hosts []string
	next  int
}

// request returns the next request.
func (s *stream) request() *http.Request {
	r := s.all[s.next%len(s.all)]
	if len(s.hosts) > 0 {
		r.Host = s.hosts[s.next%len(s.hosts)]
	}
	s.next++
	return r
}

// cost returns the CPU time of each of the next n requests.
func cost(h http.Handler, s *stream, n int) time.Duration {
	w := &discard{header: make(http.Header)}
	begun := spent()
	for range n {
		serve(h, w, s.request())
	}
	return (spent() - begun) / time.Duration(n)
}

// costOfCycle returns the CPU time of each request from the end of one garbage collection to the end of
// the next, so that all bear their share of it.
func costOfCycle(h http.Handler, s *stream) time.Duration {
	w, n := &discard{header: make(http.Header)}, 0
	cycles := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	ended := func() uint64 {
		metrics.Read(cycles)
		return cycles[0].Value.Uint64()
	}
	for was := ended(); ended() == was; {
		cost(h, s, few)
	}
	begun := spent()
	for was := ended(); ended() == was; n += few {
		for range few {
			serve(h, w, s.request())
		}
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

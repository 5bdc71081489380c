package bench

import (
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

// scale has one goroutine do something and then two, in turn, and reports the time that passes for each
// when two do it (ns/op), and how many times as much two do in the same time: at best 2. It is without
// garbage collection, which would take a core of its own. What work returns is done with numbers, which differ
// between the goroutines.
func scale(b *testing.B, work func() func(n uint)) {
	b.Helper()
	before := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(before)
	workers := [2]func(uint){work(), work()}
	var next [len(workers)]uint
	do := func(goroutines, n int) time.Duration {
		var all sync.WaitGroup
		begun := time.Now()
		for g := range goroutines {
			all.Go(func() {
				at := next[g]
				for i := range uint(n) {
					workers[g]((at+i)*7919 + uint(g)*104729)
				}
				next[g] += uint(n)
			})
		}
		all.Wait()
		return time.Since(begun)
	}
	const first, slice = 1000, 5 * time.Millisecond
	do(len(workers), first)
	n := max(int(slice*first/max(do(1, first), 1)), 1)
	var costs, times []float64
	for b.Loop() {
		runtime.GC()
		do(len(workers), n/8+1) // the collector leaves cold caches
		one := do(1, n)
		two := (do(2, n) + do(2, n)) / 2
		one = (one + do(1, n)) / 2
		costs, times = append(costs, float64(two)/float64(2*n)), append(times, 2*float64(one)/float64(two))
	}
	b.ReportMetric(median(costs), "ns/op")
	b.ReportMetric(median(times), "times-one-core")
}

func BenchmarkCoresDecision(b *testing.B) {
	binding := ours(rules("wildcards", 1000)).Default()
	scale(b, func() func(uint) { return func(uint) { binding.Decide(target) } })
}

func BenchmarkCoresPace(b *testing.B) {
	for _, keys := range []uint{1, million} {
		for _, s := range stores {
			store := sync.OnceValue(func() store { return filled(s.make, keys) })
			b.Run(fmt.Sprintf("keys=%d/by=%s", keys, s.by), func(b *testing.B) {
				scale(b, func() func(uint) {
					store := store()
					return func(n uint) { store.take(nth(n%keys), start) }
				})
			})
		}
	}
}

// BenchmarkCoresHandler is a whole Caddy, whose own ability to use more cores is that of "bare". All
// requests of a kind are of one robot, at one host or at a thousand.
func BenchmarkCoresHandler(b *testing.B) {
	for _, by := range []string{"bare", "robots"} {
		b.Run("by="+by, func(b *testing.B) {
			front := inFront[by](robots(b, 500))
			servers := run(b, front, map[string]string{"robots": "\trobots\n"}[by])
			for _, answer := range answers {
				status := answer.status
				if by == "bare" {
					status = http.StatusOK
				}
				b.Run("traffic="+answer.traffic, func(b *testing.B) {
					atOnce(b, servers[0], requests(traffic[answer.traffic], "site.example"), status)
				})
			}
			b.Run("traffic=1000-hosts", func(b *testing.B) {
				atOnce(b, servers[1], requests(traffic["allowed"], hosts(1000)...), http.StatusOK)
			})
		})
	}
}

// atOnce has two goroutines serve requests.
func atOnce(b *testing.B, site http.Handler, all []*http.Request, status int) {
	b.Helper()
	expect(b, site, all, status)
	scale(b, func() func(uint) {
		mine, w := make([]*http.Request, len(all)), &discard{header: make(http.Header)}
		for i, r := range all {
			mine[i] = r.Clone(r.Context()) // no goroutine reads what another one writes
		}
		return func(n uint) { serve(site, w, mine[n%uint(len(mine))]) }
	})
}

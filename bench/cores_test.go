package bench

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// parallel runs what work returns on all cores, with numbers that differ between them.
// It is to be compared with itself under -cpu 1,2: twice as much in the same time is 2.
func parallel(b *testing.B, work func() func(n uint)) {
	b.Helper()
	var goroutines atomic.Uint64
	work() // what is made only once is made before
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		n, do := uint(goroutines.Add(1))*104729, work()
		for pb.Next() {
			do(n)
			n += 7919
		}
	})
}

func BenchmarkCoresDecision(b *testing.B) {
	binding := ours(rules("wildcards", 1000)).Default()
	parallel(b, func() func(uint) { return func(uint) { binding.Decide(target) } })
}

func BenchmarkCoresPace(b *testing.B) {
	for _, keys := range []uint{1, million} {
		for _, s := range stores {
			store := sync.OnceValue(func() store { return filled(s.make, keys) })
			b.Run(fmt.Sprintf("keys=%d/by=%s", keys, s.by), func(b *testing.B) {
				parallel(b, func() func(uint) {
					store := store()
					return func(n uint) { store.take(nth(n%keys), start) }
				})
			})
		}
	}
}

// BenchmarkCoresHandler is a whole Caddy, whose own ability to use more cores is that of "bare".
func BenchmarkCoresHandler(b *testing.B) {
	for _, by := range []string{"bare", "robots"} {
		b.Run("by="+by, func(b *testing.B) {
			site := run(b, inFront[by](robots(b, 500)))[0]
			for _, kind := range []string{"browser", "allowed"} {
				b.Run("traffic="+kind, func(b *testing.B) {
					expect(b, site, requests(traffic[kind], "site.example"), http.StatusOK)
					parallel(b, func() func(uint) {
						all, w := requests(traffic[kind], "site.example"), &discard{header: make(http.Header)}
						return func(n uint) { serve(site, w, all[n%uint(len(all))]) }
					})
				})
			}
		})
	}
}

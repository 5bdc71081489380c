package bench

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// BenchmarkMemoryPolicy is what a robots.txt takes that is ready for decisions, in bytes for
// each of its text.
func BenchmarkMemoryPolicy(b *testing.B) {
	for _, text := range []struct{ name, text string }{
		{"literal", rules("literal", 10_000)},
		{"wildcards", rules("wildcards", 10_000)},
		{"records", records(10_000)},
		{"large", large(500 << 10)},
	} {
		b.Run(fmt.Sprintf("kind=%s/KiB=%d", text.name, len(text.text)>>10), func(b *testing.B) {
			var ratio float64
			for b.Loop() {
				before := inUse()
				policy := ours(strings.Clone(text.text))
				ratio = (inUse() - before) / float64(len(text.text))
				runtime.KeepAlive(policy)
			}
			b.ReportMetric(0, "ns/op") // most of it is collections
			b.ReportMetric(ratio, "B/byte")
		})
	}
}

// BenchmarkMemoryPace fills a store with a million keys. It reports what a key takes and how long a
// garbage collection takes from then on.
func BenchmarkMemoryPace(b *testing.B) {
	for _, s := range stores {
		b.Run(fmt.Sprintf("keys=%d/by=%s", million, s.by), func(b *testing.B) {
			var perKey, collection float64
			for b.Loop() {
				before := inUse()
				store := filled(s.make, million)
				perKey = (inUse() - before) / million
				begun := time.Now()
				runtime.GC()
				collection = float64(time.Since(begun))
				runtime.KeepAlive(store)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(perKey, "B/key")
			b.ReportMetric(collection, "ns/collection")
		})
	}
}

// inUse returns the bytes in use once all garbage is gone.
func inUse() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

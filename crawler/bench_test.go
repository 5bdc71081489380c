package crawler

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkIdentify(b *testing.B) {
	samples := readSamples(b, "*.txt")
	for _, class := range []string{"browser", "robot", "app", "service"} {
		all := userAgents(samples, class)
		b.Run(class, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				Identify(all[i%len(all)])
			}
		})
	}
	for _, size := range []int{1 << 10, 64 << 10} {
		for _, unit := range []string{"Bot/1 (x; ", "a ", ")", "http://a@b.cc "} {
			b.Run(fmt.Sprintf("%dKiB/%q", size>>10, unit), func(b *testing.B) {
				b.ReportAllocs()
				userAgent := strings.Repeat(unit, size/len(unit))
				for b.Loop() {
					Identify(userAgent)
				}
			})
		}
	}
}

func BenchmarkCache(b *testing.B) {
	for name, userAgent := range map[string]string{"browser": chrome, "robot": googlebot} {
		b.Run("hit/"+name, func(b *testing.B) {
			b.ReportAllocs()
			cache := NewCache(4096)
			for range 2 {
				cache.Identify(userAgent)
			}
			for b.Loop() {
				cache.Identify(userAgent)
			}
		})
	}
	b.Run("hit/every sample", func(b *testing.B) {
		b.ReportAllocs()
		cache, all := NewCache(4096), userAgents(readSamples(b, "*.txt"), "")
		for i := 0; b.Loop(); i++ {
			cache.Identify(all[i%len(all)])
		}
	})
	b.Run("miss/browser", func(b *testing.B) {
		b.ReportAllocs()
		var cache Cache
		all := userAgents(readSamples(b, "browsers*.txt"), "")
		for i := 0; b.Loop(); i++ {
			cache.Identify(all[i%len(all)])
		}
	})
	b.Run("flood", func(b *testing.B) {
		b.ReportAllocs()
		cache := NewCache(4096)
		for i := 0; b.Loop(); i++ {
			cache.Identify(fmt.Sprintf("Mozilla/5.0 (X11; Linux) Firefox/%d", i))
		}
	})
}

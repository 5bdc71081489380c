package ratelimit

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

func BenchmarkLimitTake(b *testing.B) {
	for name, l := range map[string]Limit{"one a period": PerPeriod(1, 10*s), "PerPeriod": PerPeriod(10, 60*s)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var state State
			for b.Loop() {
				state, _ = l.Take(state, start)
			}
		})
	}
}

// names are the parts from which the benchmarks make keys: a million pairs.
var names = func() (names [1024]string) {
	for i := range names {
		names[i] = "name-" + strconv.Itoa(i) + ".example"
	}
	return names
}()

// nth returns one of a million keys, such that neighbours in n are far apart
// in every table.
func nth(n uint) Key {
	return Key{Site: names[n%1024], Robot: names[n/1024%1024]}
}

// traffic is how many keys ask in turn, and by how much the clock moves on from one
// request to the next: by nothing, so that all are refused, or by so much that
// all are admitted.
var traffic = []struct {
	name string
	keys uint
	tick time.Duration
}{
	{"admitted/keys=1", 1, hour},
	{"admitted/keys=1000", 1000, hour},
	{"admitted/keys=1000000", DefaultMaxKeys, hour},
	{"refused/keys=1", 1, 0},
	{"refused/keys=1000", 1000, 0},
	{"refused/keys=1000000", DefaultMaxKeys, 0},
}

// filled returns a Memory in which so many keys have asked twice, so that they
// are known and have been refused.
func filled(keys uint) *Memory {
	m := NewMemory(2 * DefaultMaxKeys)
	for n := range 2 * keys {
		_, _ = m.Take(context.Background(), Request{Key: nth(n % keys), Limit: PerPeriod(1, 10*s)}, start)
	}
	return m
}

// BenchmarkLatency reads from all over a table of the size that filled makes, each
// time from where the last reading says: what a Take for one of many keys
// cannot go below.
func BenchmarkLatency(b *testing.B) {
	table := make([]bucket, 2*DefaultMaxKeys/bucketSlots)
	way := rand.New(rand.NewPCG(1, 1)).Perm(len(table))
	for i, at := range way {
		table[at][0].state.Store(int64(way[(i+1)%len(way)]))
	}
	at := int64(0)
	for b.Loop() {
		at = table[at][0].state.Load()
	}
}

func BenchmarkMemoryTake(b *testing.B) {
	for _, load := range traffic {
		b.Run(load.name, func(b *testing.B) {
			m, ctx, n, now := filled(load.keys), context.Background(), uint(0), start
			b.ReportAllocs()
			for b.Loop() {
				_, _ = m.Take(ctx, Request{Key: nth(n % load.keys), Limit: PerPeriod(1, 10*s)}, now)
				n += 7919
				now = now.Add(load.tick)
			}
		})
	}
}

// BenchmarkMemoryTakeParallel is to be compared with itself under -cpu 1,2.
func BenchmarkMemoryTakeParallel(b *testing.B) {
	for _, load := range traffic {
		b.Run(load.name, func(b *testing.B) {
			m, ctx := filled(load.keys), context.Background()
			var goroutines atomic.Uint64
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				n, now := uint(goroutines.Add(1))*104729, start
				for pb.Next() {
					_, _ = m.Take(ctx, Request{Key: nth(n % load.keys), Limit: PerPeriod(1, 10*s)}, now)
					n += 7919
					now = now.Add(load.tick)
				}
			})
		})
	}
}

// BenchmarkMemoryFlood has two million made-up keys, of which each asks once, come to an
// empty table for one million. It reports the memory per key that is kept, the
// time of each request and that of the slowest, which includes whatever else the
// machine did.
func BenchmarkMemoryFlood(b *testing.B) {
	const keys = 2 * DefaultMaxKeys
	ctx := context.Background()
	var slowest time.Duration
	var perKey float64
	for b.Loop() {
		before := heapInUse()
		m := NewMemory(DefaultMaxKeys)
		last := time.Now()
		for n := range uint(keys) {
			k := nth(n)
			if n >= DefaultMaxKeys {
				k.Site, k.Robot = k.Robot, k.Site[1:]
			}
			_, _ = m.Take(ctx, Request{Key: k, Limit: PerPeriod(1, 10*s)}, start.Add(time.Duration(n)*time.Microsecond))
			now := time.Now()
			slowest = max(slowest, now.Sub(last))
			last = now
		}
		perKey = float64(heapInUse()-before) / float64(m.Len())
		runtime.KeepAlive(m)
	}
	b.ReportMetric(perKey, "B/key")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/key")
	b.ReportMetric(float64(slowest.Nanoseconds()), "slowest-ns")
}

// heapInUse returns the bytes in use once all garbage is gone.
func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

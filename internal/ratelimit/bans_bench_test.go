package ratelimit

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// jail returns a Memory that holds so many bans, all in force for an hour.
func jail(bans int) *Memory {
	m := NewMemory(DefaultMaxKeys)
	for i := range bans {
		m.Bans().Put(ban("robot-"+strconv.Itoa(i), 0, hour))
	}
	return m
}

// suspects are how many bans there are, and who is looked for.
var suspects = []struct {
	name  string
	bans  int
	robot string
}{
	{"bans=0", 0, "figtree"},
	{"bans=1000", 1000, "figtree"},
	{"bans=65536", maxBans, "figtree"},
	{"bans=1000/banned", 1000, "robot-500"},
}

func BenchmarkBansFind(b *testing.B) {
	for _, who := range suspects {
		b.Run(who.name, func(b *testing.B) {
			bans := jail(who.bans).Bans()
			k := Key{Site: "a.example", Robot: who.robot}
			b.ReportAllocs()
			for b.Loop() {
				bans.Find(k, "192.0.2.1", start)
			}
		})
	}
}

// BenchmarkTakeUnderPolicy has an obedient robot, or a banned one, ask.
func BenchmarkTakeUnderPolicy(b *testing.B) {
	for _, who := range suspects {
		b.Run(who.name, func(b *testing.B) {
			m, ctx, now := jail(who.bans), context.Background(), start
			r := Request{
				Key: Key{Site: "a.example", Robot: who.robot}, Limit: Limit{Interval: 1, Burst: 1},
				Ban: &third, Address: "192.0.2.1", Line: 7, Rule: "Disallow: /",
			}
			b.ReportAllocs()
			for b.Loop() {
				_, _ = m.Take(ctx, r, now)
				now = now.Add(1)
			}
		})
	}
}

// BenchmarkTakeUnderPolicyParallel is to be compared with itself under -cpu 1,2.
func BenchmarkTakeUnderPolicyParallel(b *testing.B) {
	for _, who := range suspects {
		b.Run(who.name, func(b *testing.B) {
			m, ctx := jail(who.bans), context.Background()
			var goroutines atomic.Uint64
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				r := Request{
					Key: Key{Site: "a.example", Robot: who.robot}, Limit: Limit{Interval: 1, Burst: 1},
					Ban: &third, Address: "192.0.2.1",
				}
				if who.robot == "figtree" {
					r.Key.Robot += strconv.FormatUint(goroutines.Add(1), 10)
				}
				now := start
				for pb.Next() {
					_, _ = m.Take(ctx, r, now)
					now = now.Add(1)
				}
			})
		})
	}
}

// BenchmarkOffend has made-up clients offend, once each or so often that each is
// banned. It reports the slowest request, which includes whatever else the machine did.
func BenchmarkOffend(b *testing.B) {
	for name, p := range map[string]*BanPolicy{"noted": &third, "banned": &first} {
		b.Run(name, func(b *testing.B) {
			m, ctx, n, now := NewMemory(DefaultMaxKeys), context.Background(), uint(0), start
			var slowest time.Duration
			b.ReportAllocs()
			last := time.Now()
			for b.Loop() {
				_, _ = m.Take(ctx, Request{Key: nth(n), Ban: p, Offence: true, Rule: "Disallow: /"}, now)
				n++
				now = now.Add(time.Microsecond)
				at := time.Now()
				slowest = max(slowest, at.Sub(last))
				last = at
			}
			b.ReportMetric(float64(slowest.Nanoseconds()), "slowest-ns")
		})
	}
}

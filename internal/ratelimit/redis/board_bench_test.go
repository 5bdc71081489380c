package redis_test

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

// BenchmarkTakeMeanwhile asks for decisions while the same server is given, or gives, the
// largest of ledgers over and over, and reports how long they take. For comparison,
// the same in one piece.
func BenchmarkTakeMeanwhile(b *testing.B) {
	data := make([]byte, 26<<20)
	rand.Read(data)
	server := redistest.Start(b)
	store, c := open(b, server.URL(), redis.Options{Timeout: time.Second}), client(b, server)
	if err := c.Set(b.Context(), "x", data, time.Hour).Err(); err != nil {
		b.Fatal(err) // what GET reads, also where SET is cut short
	}
	publish := func(ctx context.Context) error { return store.Publish(ctx, "a", data, time.Hour) }
	for _, meanwhile := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"nothing", func(ctx context.Context) error { <-ctx.Done(); return nil }},
		{"Publish", publish},
		{"Published", func(ctx context.Context) error {
			return store.Published(ctx, "", func(string, []byte, error) {})
		}},
		{"SET", func(ctx context.Context) error { return c.Set(ctx, "x", data, time.Hour).Err() }},
		{"GET", func(ctx context.Context) error { return c.Get(ctx, "x").Err() }},
	} {
		b.Run(meanwhile.name, func(b *testing.B) {
			if err := publish(b.Context()); err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(b.Context())
			var other sync.WaitGroup
			times := 0
			other.Go(func() {
				for ctx.Err() == nil {
					if err := meanwhile.do(ctx); err != nil && ctx.Err() == nil {
						b.Error(err)
						return
					}
					times++
				}
			})
			var takes []time.Duration
			for n := 0; b.Loop(); n++ {
				r := ratelimit.Request{Limit: ratelimit.PerPeriod(1, time.Microsecond), Key: ratelimit.Key{Robot: names[n%len(names)]}}
				begun := time.Now()
				if _, err := store.Take(context.Background(), r, time.Time{}); err != nil {
					b.Error(err)
				}
				takes = append(takes, time.Since(begun))
			}
			spent := b.Elapsed()
			cancel()
			other.Wait()
			slices.Sort(takes)
			b.ReportMetric(float64(takes[len(takes)/2]), "ns/p50")
			b.ReportMetric(float64(takes[len(takes)*99/100]), "ns/p99")
			b.ReportMetric(float64(takes[len(takes)-1]), "ns/max")
			b.ReportMetric(float64(times)/spent.Seconds(), "meanwhile/s")
		})
	}
}

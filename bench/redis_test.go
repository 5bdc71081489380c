package bench

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-redis/redis_rate/v10"
	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

// asks are the ways to ask a Redis for the pace of a key, and a script that does
// nothing: what no way can be cheaper than.
var asks = []struct {
	by   string
	open func(b *testing.B, server *redistest.Server) func(robot string) error
}{
	{"script", func(b *testing.B, server *redistest.Server) func(string) error {
		client := dial(b, server)
		hash, err := client.ScriptLoad(b.Context(), "return 0").Result()
		if err != nil {
			b.Fatal(err)
		}
		return func(robot string) error {
			return client.EvalSha(context.Background(), hash, []string{"bare:site.example:" + robot}, 1, 1, 1).Err()
		}
	}},
	{"redis_rate", func(b *testing.B, server *redistest.Server) func(string) error {
		limiter := redis_rate.NewLimiter(dial(b, server))
		limit := redis_rate.Limit{Rate: 1_000_000, Period: time.Second, Burst: 1_000_000}
		return func(robot string) error {
			_, err := limiter.Allow(context.Background(), "site.example:"+robot, limit)
			return err
		}
	}},
	{"ours", func(b *testing.B, server *redistest.Server) func(string) error {
		store, err := redis.Open(server.URL(), redis.Options{Timeout: time.Second})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = store.Close() })
		limit := ratelimit.PerPeriod(1_000_000, time.Second)
		return func(robot string) error {
			_, err := store.Take(context.Background(), ratelimit.Request{Key: ratelimit.Key{Site: "site.example", Robot: robot}, Limit: limit}, time.Time{})
			return err
		}
	}},
}

// dial returns a client of the server, with the defaults of go-redis.
func dial(b *testing.B, server *redistest.Server) *goredis.Client {
	b.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr()})
	b.Cleanup(func() { _ = client.Close() })
	return client
}

// BenchmarkRedis asks for the pace of a thousand keys in turn, from so many clients.
func BenchmarkRedis(b *testing.B) {
	for _, clients := range []int{1, 64} {
		for _, ask := range asks {
			b.Run(fmt.Sprintf("clients=%d/by=%s", clients, ask.by), func(b *testing.B) {
				server := redistest.Start(b)
				take := ask.open(b, server)
				if err := take("first"); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				if clients == 1 {
					for n := 0; b.Loop(); n++ {
						if err := take(parts[n%1000]); err != nil {
							b.Fatal(err)
						}
					}
					return
				}
				var n atomic.Int64
				b.SetParallelism(clients / runtime.GOMAXPROCS(0))
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := take(parts[n.Add(1)%1000]); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		}
	}
}

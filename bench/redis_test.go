package bench

import (
	"context"
	"fmt"
	"sync"
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

// BenchmarkRedis asks for the pace of a thousand keys, from so many clients, in all ways in turn. It reports
// the time that passes for each, and how many times that of the script it is.
func BenchmarkRedis(b *testing.B) {
	for _, turn := range []struct{ clients, slices, each int }{{1, 3000, 1}, {64, 40, 20}} {
		clients, slices, each := turn.clients, turn.slices, turn.each
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			server := redistest.Start(b)
			takes := make([]func(string) error, len(asks))
			for i, ask := range asks {
				takes[i] = ask.open(b, server)
			}
			costs, times := make([][]float64, len(asks)), make([][]float64, len(asks))
			for n := range 1 + slices {
				var script float64
				for i, take := range takes {
					cost := float64(askAtOnce(b, clients, each, take)) / float64(each*clients)
					if i == 0 {
						script = cost
					}
					if n > 0 { // the first time connections are opened
						costs[i], times[i] = append(costs[i], cost), append(times[i], cost/script)
					}
				}
			}
			for i, ask := range asks {
				b.Run("by="+ask.by, func(b *testing.B) { // all is measured already
					b.ReportMetric(median(costs[i]), "ns/op")
					b.ReportMetric(median(times[i]), "times-script")
					b.ReportMetric(testing.AllocsPerRun(100, func() { _ = takes[i]("first") }), "allocations/op")
				})
			}
		})
	}
}

// askAtOnce has so many clients ask so often each, and returns the time that passed.
func askAtOnce(b *testing.B, clients, each int, take func(robot string) error) time.Duration {
	b.Helper()
	var all sync.WaitGroup
	begun := time.Now()
	for c := range clients {
		all.Go(func() {
			for n := range each {
				if err := take(parts[(c*each+n)%len(parts)]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(begun)
}

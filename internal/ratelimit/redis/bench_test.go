package redis_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

// policy bans nobody whom a benchmark knows.
var policy = &ratelimit.BanPolicy{Offences: 10, Within: time.Hour, For: 24 * time.Hour}

// names are whose decisions the benchmarks ask for in turn.
var names = func() (names [1024]string) {
	for i := range names {
		names[i] = "name-" + strconv.Itoa(i) + ".example"
	}
	return names
}()

// BenchmarkTake asks for the pace alone. All are admitted, which writes.
func BenchmarkTake(b *testing.B) {
	benchmarkTake(b, ratelimit.Request{Limit: ratelimit.PerPeriod(1, time.Microsecond)})
}

// BenchmarkTakeRefused asks for the pace of robots that have been refused already.
func BenchmarkTakeRefused(b *testing.B) {
	benchmarkTake(b, ratelimit.Request{Limit: ratelimit.PerPeriod(1, time.Hour)})
}

// BenchmarkTakeWithBan asks for the pace and whether there is a ban.
func BenchmarkTakeWithBan(b *testing.B) {
	benchmarkTake(b, ratelimit.Request{
		Limit: ratelimit.PerPeriod(1, time.Microsecond), Ban: policy, Address: "192.0.2.1", Line: 7, Rule: "Disallow: /private/",
	})
}

func benchmarkTake(b *testing.B, r ratelimit.Request) {
	store := open(b, redistest.Start(b).URL(), redis.Options{Timeout: time.Second})
	together(b, func(n int) error {
		r := r
		r.Key = ratelimit.Key{Site: "one.example", Robot: names[n%len(names)]}
		_, err := store.Take(context.Background(), r, time.Time{})
		return err
	})
}

// bare are scripts with a key and as many arguments as the pace takes: one that does
// nothing, and one with the commands that no store of states can do without.
var bare = map[string]string{
	"nothing": "return 0",
	"TIME+GET+SET": "redis.call('TIME') redis.call('GET', KEYS[1]) " +
		"redis.call('SET', KEYS[1], '1772366400000000', 'PX', 1000) return 0",
}

// BenchmarkBareScript runs scripts in the shortest way that go-redis has.
func BenchmarkBareScript(b *testing.B) {
	for name, source := range bare {
		b.Run(name, func(b *testing.B) { together(b, runner(b, redistest.Start(b), source)) })
	}
}

// runner returns what runs a script for the n-th of the names.
func runner(b *testing.B, server *redistest.Server, source string) func(n int) error {
	b.Helper()
	c := client(b, server)
	hash, err := c.ScriptLoad(b.Context(), source).Result()
	if err != nil {
		b.Fatal(err)
	}
	return func(n int) error {
		key := "caddy-robots:{one.example/" + names[n%len(names)] + "/}:bare"
		return c.EvalSha(context.Background(), hash, []string{key}, "", 1, 0, 0).Err()
	}
}

// BenchmarkTakeAndBareScript does both in turn, so that whatever else the machine
// does slows both, and reports the median of each and how they compare.
func BenchmarkTakeAndBareScript(b *testing.B) {
	for name, source := range bare {
		b.Run(name, func(b *testing.B) {
			server := redistest.Start(b)
			store, run := open(b, server.URL(), redis.Options{Timeout: time.Second}), runner(b, server, source)
			r := ratelimit.Request{Limit: ratelimit.PerPeriod(1, time.Microsecond)}
			var takes, runs []time.Duration
			for n := 0; b.Loop(); n++ {
				r.Key = ratelimit.Key{Site: "one.example", Robot: names[n%len(names)]}
				begun := time.Now()
				_, err := store.Take(context.Background(), r, time.Time{})
				between := time.Now()
				if err := errors.Join(err, run(n)); err != nil {
					b.Fatal(err)
				}
				takes, runs = append(takes, between.Sub(begun)), append(runs, time.Since(between))
			}
			slices.Sort(takes)
			slices.Sort(runs)
			take, bare := float64(takes[len(takes)/2]), float64(runs[len(runs)/2])
			b.ReportMetric(take, "ns/take")
			b.ReportMetric(bare, "ns/bare")
			b.ReportMetric(take/bare, "take/bare")
		})
	}
}

// together runs f with numbers in turn, from as many goroutines as there are cores.
func together(b *testing.B, f func(n int) error) {
	b.ReportAllocs()
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := f(int(n.Add(1))); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

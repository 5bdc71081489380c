package redis_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/limitertest"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

const s = time.Second

// patient are options under which no busy machine lets a Take fail, where it is
// not the time that is tested.
var patient = redis.Options{Timeout: 20 * s}

// simulated are patient options with the caller's clock.
var simulated = redis.Options{Timeout: 20 * s, CallersClock: true}

// start is when simulations begin. Any time would do.
var start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// figtree is a robot that most tests are about, and slow its pace.
var (
	figtree = ratelimit.Key{Site: "one.example", Robot: "figtree"}
	slow    = ratelimit.PerPeriod(1, 10*s)
)

// open returns a Store that is closed when the test is over.
func open(tb testing.TB, url string, o redis.Options) *redis.Store {
	tb.Helper()
	store, err := redis.Open(url, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { store.Close() })
	return store
}

// client returns a client of the server, to look behind a Store's back.
func client(tb testing.TB, server *redistest.Server) *goredis.Client {
	tb.Helper()
	options, err := goredis.ParseURL(server.URL())
	if err != nil {
		tb.Fatal(err)
	}
	c := goredis.NewClient(options)
	tb.Cleanup(func() { c.Close() })
	return c
}

// must returns a verdict that has to come.
func must(tb testing.TB, store ratelimit.Limiter, r ratelimit.Request, now time.Time) ratelimit.Result {
	tb.Helper()
	result, err := store.Take(context.Background(), r, now)
	if err != nil {
		tb.Fatalf("Take %+v: %v", r, err)
	}
	return result
}

func TestStore(t *testing.T) {
	server := redistest.Start(t)
	c := client(t, server)
	limitertest.Run(t, func(t *testing.T) ratelimit.Limiter {
		if err := c.FlushDB(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		return open(t, server.URL(), simulated)
	})
}

func TestServersClock(t *testing.T) {
	store := open(t, redistest.Start(t).URL(), patient)
	hourly := ratelimit.Request{Key: figtree, Limit: ratelimit.PerPeriod(1, time.Hour)}
	must(t, store, hourly, start)
	got := must(t, store, hourly, start.Add(24*time.Hour))
	if got.RetryAfter <= 59*time.Minute || got.RetryAfter > time.Hour {
		t.Errorf("a second request that the caller says comes a day later: got %+v, want it refused for nearly an hour", got)
	}
}

func TestServersClockOfABan(t *testing.T) {
	store := open(t, redistest.Start(t).URL(), patient)
	before := time.Now()
	got := must(t, store, ratelimit.Request{
		Key: figtree, Offence: true, Ban: &ratelimit.BanPolicy{Offences: 1, Within: s, For: time.Hour},
	}, time.Time{})
	if !got.New || got.Ban == nil {
		t.Fatalf("the offence that brings a ban: got %+v, want a new ban", got)
	}
	if ban := got.Ban; ban.Since.Before(before.Truncate(time.Microsecond)) || ban.Since.After(time.Now()) || ban.Until.Sub(ban.Since) != time.Hour {
		t.Errorf("a new ban: got from %v to %v, want an hour from %v", ban.Since, ban.Until, before)
	}
}

func TestStoresShare(t *testing.T) {
	server := redistest.Start(t)
	one, other := open(t, server.URL(), patient), open(t, server.URL(), patient)
	must(t, one, ratelimit.Request{Key: figtree, Limit: slow}, start)
	if got := must(t, other, ratelimit.Request{Key: figtree, Limit: slow}, start); got.Allowed() {
		t.Errorf("a robot that another Store has just served: got %+v, want it refused", got)
	}
}

// TestDoneContext looks for a client that leaves and is taken for a store that fails.
func TestDoneContext(t *testing.T) {
	store := open(t, redistest.Start(t).URL(), patient)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := store.Take(ctx, ratelimit.Request{Key: figtree, Limit: slow}, start); err != context.Canceled || got != (ratelimit.Result{}) {
		t.Errorf("Take with a context that is done: got %+v, %v, want nothing and its error", got, err)
	}
}

// TestNothingToAsk needs no server where there is nothing to keep.
func TestNothingToAsk(t *testing.T) {
	server := redistest.Start(t)
	store := open(t, server.URL(), patient)
	server.Kill()
	for name, r := range map[string]ratelimit.Request{
		"no limit":                         {Key: figtree},
		"an offence without a ban":         {Key: figtree, Limit: slow, Offence: true},
		"a policy that never bans anybody": {Key: figtree, Offence: true, Ban: &ratelimit.BanPolicy{Offences: 1, Within: s}},
	} {
		if got := must(t, store, r, start); got != (ratelimit.Result{}) {
			t.Errorf("%s: got %+v, want it admitted", name, got)
		}
	}
}

// TestClockNeverSet agrees with ratelimit.Limit.Take, which admits.
func TestClockNeverSet(t *testing.T) {
	store := open(t, redistest.Start(t).URL(), simulated)
	for range 3 {
		if got := must(t, store, ratelimit.Request{Key: figtree, Limit: slow}, time.Time{}); !got.Allowed() {
			t.Errorf("a request at the zero time: got %+v, want it admitted", got)
		}
	}
}

// TestIntervalBelowUnit has a pace that the script cannot count exactly.
func TestIntervalBelowUnit(t *testing.T) {
	store := open(t, redistest.Start(t).URL(), simulated)
	const interval = 1500 * time.Nanosecond
	r := ratelimit.Request{Key: figtree, Limit: ratelimit.Limit{Interval: interval}}
	must(t, store, r, start)
	if got := must(t, store, r, start); got.RetryAfter <= 0 || got.RetryAfter > interval {
		t.Errorf("refused for: got %v, want at most the interval of %v", got.RetryAfter, interval)
	}
}

func TestForgottenScript(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	must(t, store, ratelimit.Request{Key: figtree, Limit: slow}, start)
	if err := c.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if got := must(t, store, ratelimit.Request{Key: figtree, Limit: slow}, start); got.Allowed() {
		t.Errorf("a request after the server has forgotten the script: got %+v, want it refused", got)
	}
}

func TestTLS(t *testing.T) {
	server := redistest.StartTLS(t)
	store := open(t, server.URL(), patient)
	must(t, store, ratelimit.Request{Key: figtree, Limit: slow}, start)
	if got := must(t, store, ratelimit.Request{Key: figtree, Limit: slow}, start); got.Allowed() {
		t.Errorf("a second request at once: got %+v, want it refused", got)
	}
}

func TestSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "redis.sock")
	redistest.Start(t, "--unixsocket", socket)
	store := open(t, "unix://"+socket+"?db=3", patient)
	must(t, store, ratelimit.Request{Key: figtree, Limit: slow}, start)
}

// TestCluster has one node hold all slots. It refuses keys of one decision that a
// cluster of more would not keep together.
func TestCluster(t *testing.T) {
	server := redistest.Start(t, "--cluster-enabled", "yes")
	c := client(t, server)
	if err := c.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	store := open(t, server.URL()+"?addr="+server.Addr(), simulated)
	eventually(t, "the cluster is ready", func() bool { return store.Ping(t.Context()) == nil })
	random, now := rand.New(rand.NewPCG(2, 0)), start
	memory := ratelimit.NewMemory(0)
	for range 300 {
		now = now.Add(stepOf(random))
		r := requestOf(random)
		if got, want := must(t, store, r, now), must(t, memory, r, now); !alike(got, want) {
			t.Fatalf("%+v in a cluster: got %+v, want %+v", r, got, want)
		}
	}
	if err := store.Lift(t.Context(), ratelimit.Ban{Key: figtree}); err != nil {
		t.Error(err)
	}
	impatient := open(t, server.URL()+"?addr="+server.Addr(), redis.Options{})
	server.Pause()
	if slowest, failed := takeAtOnce(t, impatient, 200); failed != 200 || slowest > 20*redis.DefaultTimeout {
		t.Errorf("200 requests while the cluster hangs: got %d failures, the slowest after %v, want all within %v", failed, slowest, 20*redis.DefaultTimeout)
	}
}

// TestCloseEndsAll looks for goroutines that are left when a Store was used, its
// server was lost, and it is closed.
func TestCloseEndsAll(t *testing.T) {
	server := redistest.Start(t)
	before := runtime.NumGoroutine()
	store, err := redis.Open(server.URL(), patient)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	watch := make(chan error)
	go func() { watch <- store.Watch(t.Context(), func(ratelimit.BanEvent) {}) }()
	must(t, store, ratelimit.Request{Key: figtree, Limit: slow}, start)
	server.Kill()
	for range 50 {
		if _, err := store.Take(t.Context(), ratelimit.Request{Key: figtree, Limit: slow}, start); err == nil {
			t.Fatal("Take without a server: want an error")
		}
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if err := <-watch; err == nil {
		t.Error("Watch of a Store that is closed: want an error")
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() < before }) // the server's is gone too
	if _, err := store.Take(t.Context(), ratelimit.Request{Key: figtree, Limit: slow}, start); err == nil {
		t.Error("Take of a Store that is closed: want an error")
	}
}

// eventually waits until condition holds.
func eventually(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	deadline := time.After(20 * s)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatalf("waited in vain: %s", what)
		}
	}
}

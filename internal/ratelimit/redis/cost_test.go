package redis_test

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

// TestKeysExpire makes requests of all kinds, and then looks at every key there is.
func TestKeysExpire(t *testing.T) {
	for name, options := range map[string]redis.Options{"server's clock": patient, "caller's clock": simulated} {
		t.Run(name, func(t *testing.T) {
			server := redistest.Start(t)
			store, random := open(t, server.URL(), options), rand.New(rand.NewPCG(1, 0))
			if err := store.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			now := start
			for range 1000 {
				now = now.Add(stepOf(random))
				must(t, store, requestOf(random), now)
			}
			if err := store.Lift(t.Context(), ratelimit.Ban{Key: figtree}); err != nil {
				t.Fatal(err)
			}
			c := client(t, server)
			keys, err := c.Keys(t.Context(), "*").Result()
			if err != nil {
				t.Fatal(err)
			}
			if len(keys) < 10 {
				t.Errorf("keys: got %q, want some of each kind", keys)
			}
			for _, key := range keys {
				if left := c.PTTL(t.Context(), key).Val(); left == -1 {
					t.Errorf("%s never expires", key)
				}
				if !strings.HasPrefix(key, "caddy-robots:") {
					t.Errorf("key %q: want it to begin with caddy-robots:", key)
				}
			}
		})
	}
}

// TestStateExpiresWithItsDebt bounds what one robot's visit leaves behind.
func TestStateExpiresWithItsDebt(t *testing.T) {
	server := redistest.Start(t)
	must(t, open(t, server.URL(), patient), ratelimit.Request{Key: figtree, Limit: ratelimit.PerPeriod(60, time.Hour)}, start)
	got := client(t, server).PTTL(t.Context(), "caddy-robots:{one.example/figtree/}:pace").Val()
	if got <= 0 || got > time.Minute {
		t.Errorf("the state after one document of sixty an hour expires in: got %v, want at most a minute", got)
	}
}

// TestRefusalWritesOnce has a robot hammer.
func TestRefusalWritesOnce(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	for range 10 {
		must(t, store, ratelimit.Request{Key: figtree, Limit: slow}, start)
	}
	if got := commands(t, c)["set"]; got != 2 {
		t.Errorf("writes for one document and nine refusals: got %d, want 2", got)
	}
}

// TestOneRoundTrip counts what the server is asked for once it knows the script.
func TestOneRoundTrip(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	requests := []ratelimit.Request{
		{Key: figtree, Limit: slow},
		{Key: figtree, Limit: slow, Ban: &ratelimit.BanPolicy{Offences: 1000, Within: time.Hour, For: time.Hour}, Offence: true},
		{Key: figtree, Limit: slow, Ban: &ratelimit.BanPolicy{Offences: 1000, Within: time.Hour, For: time.Hour}},
	}
	must(t, store, requests[0], start)
	if err := c.ConfigResetStat(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	const rounds = 100
	for range rounds {
		for _, r := range requests {
			must(t, store, r, start)
		}
	}
	got := commands(t, c)
	if want := rounds * len(requests); got["evalsha"] != want {
		t.Errorf("scripts run for %d decisions: got %d, want as many", want, got["evalsha"])
	}
	for name, calls := range got {
		switch name {
		case "evalsha", "config|resetstat", "info":
		case "time", "get", "set", "lindex", "lpush", "pexpire": // by the script
		default:
			t.Errorf("%s is asked %d times, want only scripts", name, calls)
		}
	}
}

// commands returns how often each command was called since the server's count began.
func commands(t *testing.T, c *goredis.Client) map[string]int {
	t.Helper()
	info, err := c.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	calls := make(map[string]int)
	for _, match := range regexp.MustCompile(`cmdstat_([^:]+):calls=(\d+)`).FindAllStringSubmatch(info, -1) {
		calls[match[1]], err = strconv.Atoi(match[2])
		if err != nil {
			t.Fatal(err)
		}
	}
	return calls
}

// TestAllocations bounds what one decision allocates, of which go-redis has most.
func TestAllocations(t *testing.T) {
	store := open(t, redistest.Start(t).URL(), patient)
	banning := paced
	banning.Ban, banning.Address = &ratelimit.BanPolicy{Offences: 1000, Within: time.Hour, For: time.Hour}, "192.0.2.1"
	banning.Line, banning.Rule = 7, "Disallow: /private/"
	for name, r := range map[string]ratelimit.Request{"pace": paced, "pace and ban": banning} {
		if got := testing.AllocsPerRun(200, func() { must(t, store, r, start) }); got > 12 {
			t.Errorf("allocations to judge %s: got %v, want at most 12", name, got)
		}
	}
}

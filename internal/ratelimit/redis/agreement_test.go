package redis_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

// TestAgreesWithMemory puts the same random requests, at random times that now and then
// go back, to a Store and to a Memory.
func TestAgreesWithMemory(t *testing.T) {
	server := redistest.Start(t)
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			store, memory := open(t, server.URL(), simulated), ratelimit.NewMemory(0)
			now := start
			for step := range 1500 {
				now = now.Add(stepOf(random))
				r := requestOf(random)
				r.Key.Site = fmt.Sprint(seed)
				got, want := must(t, store, r, now), must(t, memory, r, now)
				if !alike(got, want) {
					t.Fatalf("step %d, %+v at %v: got %+v, want what Memory says: %+v", step, r, now, got, want)
				}
			}
		})
	}
}

// stepOf returns by how much time moves on, such that spans often end just then.
func stepOf(random *rand.Rand) time.Duration {
	switch d := time.Duration(random.IntN(40)) * 100 * time.Millisecond; random.IntN(20) {
	case 0:
		return -d
	case 1:
		return -10 * d
	case 2:
		return 100 * d
	default:
		return d
	}
}

// requestOf returns a request by one of few clients, under one of few limits.
func requestOf(random *rand.Rand) ratelimit.Request {
	limits := []ratelimit.Limit{
		{}, slow, ratelimit.PerPeriod(3, 6*s), ratelimit.PerPeriod(1, 500*time.Millisecond),
		{Interval: 2 * s, Burst: 5}, {Interval: time.Hour, Burst: -1, Leeway: 2 * time.Hour}, {Interval: 1 << 62, Burst: 1 << 40},
	}
	policies := []*ratelimit.BanPolicy{
		nil, {Offences: 1, Within: s, For: 3 * s}, {Offences: 2, Within: 10 * s, For: 20 * s},
		{Offences: 5, Within: time.Minute, For: time.Minute}, {Offences: 2, Within: s},
	}
	return ratelimit.Request{
		Key:     ratelimit.Key{Robot: fmt.Sprint(random.IntN(3))},
		Limit:   limits[min(random.IntN(2*len(limits)), len(limits)-1)],
		Ban:     policies[random.IntN(len(policies))],
		Address: fmt.Sprint(random.IntN(2)),
		Offence: random.IntN(4) == 0,
		Line:    random.IntN(100),
		Rule:    fmt.Sprintf("Disallow: /%d", random.IntN(100)),
	}
}

// alike reports whether two results say the same, to the microsecond.
func alike(a, b ratelimit.Result) bool {
	if (a.RetryAfter-b.RetryAfter).Abs() >= time.Microsecond || a.Allowed() != b.Allowed() ||
		a.New != b.New || (a.Ban == nil) != (b.Ban == nil) {
		return false
	}
	return a.Ban == nil || sameBan(*a.Ban, *b.Ban)
}

// sameBan compares bans, whose times may be in different zones.
func sameBan(a, b ratelimit.Ban) bool {
	if !a.Since.Equal(b.Since) || !a.Until.Equal(b.Until) {
		return false
	}
	a.Since, a.Until = b.Since, b.Until
	return a == b
}

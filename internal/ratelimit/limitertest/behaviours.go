package limitertest

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

const (
	s     = time.Second
	month = 30 * 24 * time.Hour
)

// The limits of the tests: one document every ten seconds, and three a minute
// of which all may come at once. Each has a leeway of a fifth of its interval.
var (
	slow   = ratelimit.PerPeriod(1, 10*s)
	bursty = ratelimit.PerPeriod(3, 60*s)
)

func testStranger(t *testing.T, l ratelimit.Limiter) {
	follow(t, l, same(slow, [2]time.Duration{0, 0}))
}

func testBurst(t *testing.T, l ratelimit.Limiter) {
	follow(t, l, same(bursty,
		[2]time.Duration{0, 0},
		[2]time.Duration{0, 0},
		[2]time.Duration{0, 0},
		[2]time.Duration{0, 20 * s},
	))
}

func testRegained(t *testing.T, l ratelimit.Limiter) {
	follow(t, l, same(bursty,
		[2]time.Duration{0, 0},
		[2]time.Duration{0, 0},
		[2]time.Duration{0, 0},
		[2]time.Duration{40 * s, 0},
		[2]time.Duration{40 * s, 0},
		[2]time.Duration{40 * s, 20 * s},
	))
}

func testRetryAfter(t *testing.T, l ratelimit.Limiter) {
	follow(t, l, same(slow,
		[2]time.Duration{0, 0},
		[2]time.Duration{3 * s, 7 * s},
		[2]time.Duration{10*s - early, early},
		[2]time.Duration{10 * s, 0},
	))
}

func testRefusalCostsNothing(t *testing.T, l ratelimit.Limiter) {
	steps := same(slow, [2]time.Duration{0, 0})
	for range 100 {
		steps = append(steps, step{1 * s, slow, key, 9 * s})
	}
	follow(t, l, append(steps, step{10 * s, slow, key, 0}))
}

func testRefusalTakesLeeway(t *testing.T, l ratelimit.Limiter) {
	follow(t, l, same(slow,
		[2]time.Duration{0, 0},
		[2]time.Duration{8 * s, 0}, // early within the leeway
		[2]time.Duration{15 * s, 3 * s},
		[2]time.Duration{17 * s, 1 * s}, // as early, but told when to come
		[2]time.Duration{18 * s, 0},
		[2]time.Duration{26 * s, 0}, // admitted since, so it has its leeway back
	))
}

func testLeeway(t *testing.T, l ratelimit.Limiter) {
	var steps []step
	for i := range 50 {
		steps = append(steps, step{time.Duration(i) * 8 * s, slow, key, 0})
	}
	follow(t, l, append(steps, step{49*8*s + 8*s - early, slow, key, 2*s + early}))
}

// testHammering asks every second, one of them within the leeway of every
// document that falls due. A robot that was refused before has none.
func testHammering(t *testing.T, l ratelimit.Limiter) {
	var steps []step
	for second := range 600 {
		wait := (10 - second%10) % 10
		steps = append(steps, step{time.Duration(second) * s, slow, key, time.Duration(wait) * s})
	}
	follow(t, l, steps)
}

func testSites(t *testing.T, l ratelimit.Limiter) {
	testApart(t, l, ratelimit.Key{Site: "two.example", Robot: key.Robot})
}

func testRobots(t *testing.T, l ratelimit.Limiter) {
	testApart(t, l, ratelimit.Key{Site: key.Site, Robot: "unhipbot"})
}

func testStandings(t *testing.T, l ratelimit.Limiter) {
	testApart(t, l, ratelimit.Key{Site: key.Site, Robot: key.Robot, Standing: "verified"})
}

// testApart checks that other and key share nothing.
func testApart(t *testing.T, l ratelimit.Limiter, other ratelimit.Key) {
	t.Helper()
	follow(t, l, []step{
		{0, slow, key, 0}, {1 * s, slow, other, 0},
		{2 * s, slow, key, 8 * s}, {2 * s, slow, other, 9 * s},
	})
}

// testParts looks for stores that join or swap the parts of a key.
func testParts(t *testing.T, l ratelimit.Limiter) {
	keys := []ratelimit.Key{
		{Site: "parts.example", Robot: "a"},
		{Site: "parts.examplea"},
		{Robot: "parts.examplea"},
		{Site: "a", Robot: "parts.example"},
		{Site: "parts.example:a", Robot: "b"},
		{Site: "parts.example", Robot: "a:b"},
		{Site: "parts.example|a", Robot: "b"},
		{Site: "parts.example", Robot: "a|b"},
		{Site: "parts.example/a", Robot: "b"},
		{Site: "parts.example", Robot: "a/b"},
		{Site: "parts.example a", Robot: "b"},
		{Site: "parts.example", Robot: "a b"},
		{Site: "parts.example\x00a", Robot: "b"},
		{Site: "parts.example", Robot: "a\x00b"},
		{Site: "same.example", Robot: "same.example"},
		{Site: "twin.example", Robot: "twin.example"},
		{Site: "parts.example", Standing: "a"},
		{Site: "parts.example", Robot: "a", Standing: "a"},
	}
	var steps []step
	for _, k := range keys {
		steps = append(steps, step{0, slow, k, 0})
	}
	for _, k := range keys {
		steps = append(steps, step{1 * s, slow, k, 9 * s})
	}
	follow(t, l, steps)
}

func testEmptyKey(t *testing.T, l ratelimit.Limiter) {
	follow(t, l, []step{{0, slow, ratelimit.Key{}, 0}, {1 * s, slow, ratelimit.Key{}, 9 * s}})
}

func testSilence(t *testing.T, l ratelimit.Limiter) {
	follow(t, l, same(bursty,
		[2]time.Duration{0, 0},
		[2]time.Duration{0, 0},
		[2]time.Duration{0, 0},
		[2]time.Duration{0, 20 * s},
		[2]time.Duration{month, 0},
		[2]time.Duration{month, 0},
		[2]time.Duration{month, 0},
		[2]time.Duration{month, 20 * s},
	))
}

func testStepBack(t *testing.T, l ratelimit.Limiter) {
	follow(t, l, same(slow,
		[2]time.Duration{month, 0},
		[2]time.Duration{0, 10 * s},
		[2]time.Duration{9 * s, 1 * s},
		[2]time.Duration{10 * s, 0},
	))
}

func testRelaxed(t *testing.T, l ratelimit.Limiter) {
	hourly := ratelimit.PerPeriod(1, 3600*s)
	follow(t, l, []step{
		{0, hourly, key, 0},
		{1 * s, hourly, key, 3599 * s},
		{2 * s, slow, key, 10 * s},
		{12 * s, slow, key, 0},
	})
}

func testTightened(t *testing.T, l ratelimit.Limiter) {
	follow(t, l, []step{
		{0, bursty, key, 0},
		{0, bursty, key, 0},
		{0, slow, key, 10 * s}, // two of three were left, but a burst of one is spent
		{10 * s, slow, key, 0},
	})
}

func testNoLimit(t *testing.T, l ratelimit.Limiter) {
	var steps []step
	for range 10 {
		steps = append(steps,
			step{0, ratelimit.Limit{}, key, 0},
			step{0, ratelimit.Limit{Interval: -s, Burst: 1}, key, 0})
	}
	follow(t, l, append(steps, same(slow, [2]time.Duration{0, 0}, [2]time.Duration{0, 10 * s})...))
}

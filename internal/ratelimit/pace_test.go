package ratelimit

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// paces are limits as robots.txt states them, and two whose intervals a fifth
// does not divide.
var paces = []Limit{
	PerPeriod(1, 10*s),
	PerPeriod(1, 500*time.Millisecond),
	PerPeriod(1, 24*hour),
	PerPeriod(1, 7919),
	PerPeriod(10, 60*s),
	PerPeriod(20, hour),
	PerPeriod(7, 100*s),
}

// TestJitterIsNeverRefused walks robots that space their requests as told, a
// fifth more or less, for 100,000 requests. Some send one at a time, others a few
// at once and then keep silent for as many intervals.
func TestJitterIsNeverRefused(t *testing.T) {
	for i, l := range paces {
		for name, fifths := range map[string]func(*rand.Rand) float64{
			"early or late":       func(r *rand.Rand) float64 { return 2*r.Float64() - 1 },
			"a fifth early or so": func(r *rand.Rand) float64 { return float64(r.IntN(2)*2 - 1) },
			"always a fifth late": func(*rand.Rand) float64 { return 1 },
			"always too early":    func(*rand.Rand) float64 { return -1 },
		} {
			for _, atOnce := range []int{1, l.Burst} {
				t.Run(fmt.Sprintf("%v every %v, %d at once, %s", l.Burst, l.Interval, atOnce, name), func(t *testing.T) {
					random := rand.New(rand.NewPCG(uint64(i), 1))
					walk(t, l, atOnce, func() time.Duration {
						jitter := time.Duration(fifths(random) * float64(l.Interval/5))
						return time.Duration(atOnce)*l.Interval + jitter
					})
				})
			}
		}
	}
}

// walk sends 100,000 requests, so many at once with a gap between, and fails
// at the first that is refused.
func walk(t *testing.T, l Limit, atOnce int, gap func() time.Duration) {
	t.Helper()
	const requests = 100_000
	var state State
	var r Result
	now := start
	for i := range requests {
		if i%atOnce == 0 {
			now = now.Add(gap())
		}
		if state, r = l.Take(state, now); !r.Allowed() {
			t.Fatalf("%+v, request %d at %v: got %+v, want an admission", l, i, now, r)
		}
	}
}

// TestHeldToPace counts what robots that come too fast get in an hour, beyond
// their burst: their pace, within two in a hundred.
func TestHeldToPace(t *testing.T) {
	const period = hour
	for i, l := range []Limit{PerPeriod(1, 10*s), PerPeriod(1, s), PerPeriod(10, 60*s), PerPeriod(100, 10*60*s)} {
		for _, times := range []time.Duration{2, 10, 100} {
			for _, random := range []bool{false, true} {
				if random && times < 100 {
					continue // a slow robot that comes at random misses part of its own share
				}
				t.Run(fmt.Sprintf("%d every %v, %d times as fast, random %v", l.Burst, l.Interval, times, random), func(t *testing.T) {
					source := rand.New(rand.NewPCG(uint64(i), 2))
					gap := l.Interval / times
					got := admitted(l, period, func() time.Duration {
						if random {
							return time.Duration(source.Int64N(2 * int64(gap)))
						}
						return gap
					})
					want := float64(period / l.Interval)
					if beyond := float64(got - l.Burst); beyond < want*0.98 || beyond > want*1.02 {
						t.Errorf("%+v, a gap of %v for %v: got %d and a burst, want %v within 2 %%", l, gap, period, got-l.Burst, want)
					}
				})
			}
		}
	}
}

// admitted returns how many requests with such gaps are admitted in a period.
func admitted(l Limit, period time.Duration, gap func() time.Duration) int {
	var state State
	var r Result
	n := 0
	for at := time.Duration(0); at <= period; at += gap() {
		if state, r = l.Take(state, start.Add(at)); r.Allowed() {
			n++
		}
	}
	return n
}

// TestRetryAfterIsObeyable sends robots that come back exactly when told,
// after hammering at random: the one time they obey they are served.
func TestRetryAfterIsObeyable(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	refusals := 0
	for _, l := range paces {
		var state State
		now := start
		for range 20_000 {
			now = now.Add(time.Duration(random.Int64N(int64(l.Interval)/2 + 1)))
			var r Result
			if state, r = l.Take(state, now); r.Allowed() {
				continue
			}
			refusals++
			now = now.Add(r.RetryAfter)
			if state, r = l.Take(state, now); !r.Allowed() {
				t.Fatalf("%+v at %v, as told: got %+v, want an admission", l, now, r)
			}
		}
	}
	if refusals < 10_000 {
		t.Errorf("refusals: got %d, want at least 10000", refusals)
	}
}

// TestNoRefusalOutlastsTheInterval changes the limit and the clock at random,
// back and forth: nobody waits for longer than the limit in force explains.
func TestNoRefusalOutlastsTheInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	refusals := 0
	var state State
	now := start
	for i := range 200_000 {
		l := paces[random.IntN(len(paces))]
		now = now.Add(time.Duration(random.Int64N(int64(2*hour))) - hour)
		var r Result
		state, r = l.Take(state, now)
		if r.RetryAfter < 0 || r.RetryAfter > l.Interval {
			t.Fatalf("%+v, request %d at %v: got %+v, want an admission or a wait within the interval", l, i, now, r)
		}
		if !r.Allowed() {
			refusals++
		}
	}
	if refusals < 10_000 {
		t.Errorf("refusals: got %d, want at least 10000", refusals)
	}
}

package ratelimit

import (
	"math"
	"testing"
	"time"
)

// FuzzTake holds the arithmetic to its promises for any state, limit and time:
// a stranger is served, a wait is positive and within the interval, a request
// after it is admitted and one before it is not, and nothing overflows.
func FuzzTake(f *testing.F) {
	now := start.UnixNano()
	f.Add(int64(0), now, int64(10*s), 1, int64(2*s))
	f.Add(now+int64(10*s), now, int64(10*s), 1, int64(2*s))
	f.Add(now+int64(10*s)+1, now, int64(10*s), 3, int64(0))
	f.Add(int64(math.MaxInt64), now, int64(24*hour), int(1e9), int64(math.MaxInt64))
	f.Add(int64(math.MinInt64), now, int64(math.MaxInt64), math.MaxInt, int64(math.MinInt64))
	f.Add(int64(math.MaxInt64), int64(1<<62-1), int64(math.MaxInt64), math.MaxInt, int64(0))
	f.Add(int64(-2), int64(-1), int64(1), 0, int64(0))
	f.Fuzz(func(t *testing.T, s, nanos, interval int64, burst int, leeway int64) {
		l := Limit{time.Duration(interval), burst, time.Duration(leeway)}
		now := time.Unix(0, nanos)
		if _, r := l.Take(0, now); !r.Allowed() {
			t.Fatalf("%+v.Take(0, %d): got %+v, want an admission", l, nanos, r)
		}
		next, r := l.Take(State(s), now)
		if r.RetryAfter < 0 || r.RetryAfter > max(l.Interval, 0) {
			t.Fatalf("%+v.Take(%d, %d): got %+v, want an admission or a wait within the interval", l, s, nanos, r)
		}
		if ok := next == State(s) || int64(next) >= nanos-1; !ok {
			t.Fatalf("%+v.Take(%d, %d): got an arrival time of %d, want none before now", l, s, nanos, next)
		}
		if !r.Allowed() {
			checkWait(t, l, next, now, r.RetryAfter)
		}
	})
}

// checkWait asks again just before a wait is over, and when it is.
func checkWait(t *testing.T, l Limit, s State, now time.Time, wait time.Duration) {
	t.Helper()
	if wait > 1 {
		early, r := l.Take(s, now.Add(wait-1))
		if _, ok := nanoseconds(now.Add(wait - 1)); ok && (r.Allowed() || r.RetryAfter != 1) {
			t.Fatalf("%+v, a nanosecond before %v from %d: got %+v, want a refusal for 1ns", l, wait, now.UnixNano(), r)
		}
		s = early
	}
	if _, r := l.Take(s, now.Add(wait)); !r.Allowed() {
		t.Fatalf("%+v, %v from %d: got %+v, want an admission", l, wait, now.UnixNano(), r)
	}
}

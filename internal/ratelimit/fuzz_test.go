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

// FuzzBan holds bans to their promises for any policy and time: too few offences
// at once bring none, as many as are asked for bring one, and it goes on for no longer
// than its length from any time on, and not at all when it has ended.
func FuzzBan(f *testing.F) {
	now := start.UnixNano()
	f.Add(3, int64(60*s), int64(600*s), now, now+int64(10*s))
	f.Add(1, int64(1), int64(1), now, now-1)
	f.Add(0, int64(60*s), int64(600*s), now, now)
	f.Add(math.MaxInt, int64(math.MaxInt64), int64(math.MaxInt64), int64(1<<62-1), int64(-1<<62))
	f.Add(1, int64(math.MaxInt64), int64(math.MaxInt64), now, int64(-1<<60))
	f.Add(1000, int64(-1), int64(5), int64(-5), int64(0))
	f.Add(2, int64(math.MaxInt64), int64(math.MaxInt64), int64(-1<<62+1e9), int64(1<<62-1e9))
	f.Fuzz(func(t *testing.T, offences int, within, length, nanos, later int64) {
		m, now := NewMemory(1), time.Unix(0, nanos)
		p := BanPolicy{Offences: offences, Within: time.Duration(within), For: time.Duration(length)}
		_, ok := nanoseconds(now)
		bans := ok && offences > 0 && within > 0 && length > 0
		for n := range min(max(offences, 1), MaxOffences) {
			last := n == min(offences, MaxOffences)-1
			if r := offendOnce(m, "figtree", &p, now); r.New != (bans && last) || r.RetryAfter != 0 {
				t.Fatalf("%+v, offence %d at %d: got %+v, want a ban: %v", p, n+1, nanos, r, bans && last)
			}
		}
		b, banned := m.Bans().Find(figtree, "", now)
		if wait := b.Until.Sub(now); banned != bans || banned && (wait <= 0 || wait > p.For) {
			t.Fatalf("%+v at %d: got a ban for %v, %v, want one: %v", p, nanos, wait, banned, bans)
		}
		if _, over := m.Bans().Find(figtree, "", b.Until); banned && over {
			t.Fatalf("%+v at %d: got a ban that does not end at %v", p, nanos, b.Until)
		}
		if r := offendOnce(m, "figtree", &p, time.Unix(0, later)); r.RetryAfter < 0 || r.RetryAfter > max(p.For, 0) || r.Banned() != (r.RetryAfter > 0) {
			t.Fatalf("%+v at %d, an offence at %d: got %+v", p, nanos, later, r)
		}
	})
}

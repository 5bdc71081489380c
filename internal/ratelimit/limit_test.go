package ratelimit

import (
	"math"
	"testing"
	"time"
)

const (
	s    = time.Second
	hour = time.Hour
)

// start is the time at which the tests begin. Any would do.
var start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// step is one request: when it comes, since start, and for how long it is
// refused. Zero is an admission.
type step struct {
	at    time.Duration
	retry time.Duration
}

// follow takes the steps one after the other and returns the last state.
func follow(t *testing.T, l Limit, from State, steps []step) State {
	t.Helper()
	for i, want := range steps {
		next, got := l.Take(from, start.Add(want.at))
		if got.RetryAfter != want.retry {
			t.Fatalf("%+v, step %d at %v: got %+v, want a refusal for %v", l, i, want.at, got, want.retry)
		}
		from = next
	}
	return from
}

// TestTakeSteps is the definition by example.
func TestTakeSteps(t *testing.T) {
	two := Limit{Interval: 10 * s, Burst: 2}
	tests := []struct {
		name  string
		limit Limit
		steps []step
	}{
		{"one at a time", Limit{Interval: 10 * s}, []step{{0, 0}, {0, 10 * s}, {10*s - 1, 1}, {10 * s, 0}, {20 * s, 0}}},
		{"burst of two", two, []step{
			{0, 0},
			{0, 0}, // the burst of two is spent
			{0, 10 * s},
			{9 * s, 1 * s},
			{10 * s, 0},
			{10 * s, 10 * s},
			{30 * s, 0}, // twenty seconds of silence, so two at once
			{30 * s, 0},
			{30 * s, 10 * s},
		}},
		{"early within the leeway", PerPeriod(1, 10*s), []step{{0, 0}, {8 * s, 0}, {16 * s, 0}, {24*s - 2, 2*s + 2}}},
		{"early within the leeway at the end of a burst", PerPeriod(2, 20*s), []step{{0, 0}, {0, 0}, {8 * s, 0}, {16 * s, 0}, {16 * s, 10 * s}}},
		{"lateness is no credit beyond the burst", two, []step{{0, 0}, {hour, 0}, {hour, 0}, {hour, 10 * s}}},
		{"a refusal takes the leeway", PerPeriod(1, 10*s), []step{{0, 0}, {5 * s, 5 * s}, {9 * s, 1 * s}, {10 * s, 0}}},
		{"an admission gives it back", PerPeriod(1, 10*s), []step{{0, 0}, {5 * s, 5 * s}, {10 * s, 0}, {18 * s, 0}}},
		{"negative leeway is none", Limit{Interval: 10 * s, Leeway: -s}, []step{{0, 0}, {9 * s, 1 * s}, {10 * s, 0}}},
		{"a leeway of the interval admits", Limit{Interval: 10 * s, Leeway: 10 * s}, []step{{0, 0}, {0, 0}, {0, 0}}},
		{"negative burst is one", Limit{Interval: 10 * s, Burst: -5}, []step{{0, 0}, {0, 10 * s}}},
		{"a month of silence", two, []step{{0, 0}, {0, 0}, {0, 10 * s}, {720 * hour, 0}, {720 * hour, 0}, {720 * hour, 10 * s}}},
		{"a small step back loses no debt", two, []step{{0, 0}, {-3 * s, 3 * s}, {0, 0}, {0, 10 * s}}},
		{"a step back while at rest", two, []step{{0, 0}, {0, 0}, {-5 * s, 10 * s}, {5*s - 2, 2}, {5 * s, 0}}},
		{"a year back and forth again", PerPeriod(1, 10*s), []step{{0, 0}, {-8760 * hour, 10 * s}, {0, 0}, {0, 10 * s}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { follow(t, test.limit, 0, test.steps) })
	}
}

func TestTakeUnderAChangedLimit(t *testing.T) {
	tests := []struct {
		name          string
		before, after Limit
		steps         []step // after three requests at start under before
	}{
		{"shorter interval", PerPeriod(1, hour), PerPeriod(1, 10*s), []step{{0, 10 * s}, {10 * s, 0}}},
		{"longer interval", PerPeriod(1, 10*s), PerPeriod(1, hour), []step{{9 * s, 1 * s}, {10 * s, 0}, {10 * s, hour}}},
		{"smaller burst", PerPeriod(3, 30*s), PerPeriod(1, 10*s), []step{{0, 10 * s}, {10 * s, 0}}},
		{"larger burst", PerPeriod(1, 10*s), PerPeriod(3, 30*s), []step{{0, 0}, {0, 0}, {0, 10 * s}}},
		{"no limit any more", PerPeriod(1, 10*s), Limit{}, []step{{0, 0}, {0, 0}}},
		{"no limit before", Limit{}, PerPeriod(1, 10*s), []step{{0, 0}, {0, 10 * s}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var state State
			for range 3 {
				state, _ = test.before.Take(state, start)
			}
			follow(t, test.after, state, test.steps)
		})
	}
}

func TestTakeUnlimited(t *testing.T) {
	for _, l := range []Limit{{}, {Burst: 1}, {Interval: -s, Burst: 1}, {Interval: math.MinInt64}} {
		for _, before := range []State{0, 5, math.MaxInt64, math.MinInt64} {
			after, got := l.Take(before, start)
			if got.RetryAfter != 0 || after != before {
				t.Errorf("%+v.Take(%d): got %d, %+v, want the same state and an admission", l, before, after, got)
			}
		}
	}
}

// TestTakeWithAClockNeverSet covers the zero time, whose nanoseconds since
// 1970 do not fit in an int64.
func TestTakeWithAClockNeverSet(t *testing.T) {
	spent, _ := PerPeriod(1, hour).Take(0, start)
	for _, now := range []time.Time{{}, time.Unix(1<<40, 0), time.Unix(-1<<40, 0)} {
		after, got := PerPeriod(1, hour).Take(spent, now)
		if !got.Allowed() || after != spent {
			t.Errorf("Take at %v: got %d, %+v, want the same state and an admission", now, after, got)
		}
	}
}

// TestTakeIn1970 covers machines that start without a clock.
func TestTakeIn1970(t *testing.T) {
	for _, now := range []time.Time{time.Unix(0, 0), time.Unix(-100, 0), time.Unix(100, 0)} {
		state, got := PerPeriod(1, 10*s).Take(0, now)
		if !got.Allowed() {
			t.Errorf("first request at %v: got %+v, want an admission", now, got)
		}
		if _, got := PerPeriod(1, 10*s).Take(state, now); got.Allowed() || got.RetryAfter != 10*s {
			t.Errorf("second request at %v: got %+v, want a refusal for 10s", now, got)
		}
	}
}

func TestTakeSaturates(t *testing.T) {
	for _, l := range []Limit{
		{Interval: 24 * hour, Burst: 1e9},
		{Interval: math.MaxInt64, Burst: math.MaxInt},
		{Interval: math.MaxInt64, Burst: 1, Leeway: -1},
		{Interval: 1, Burst: math.MaxInt},
	} {
		var state State
		for i := range 1000 {
			next, got := l.Take(state, start)
			if i == 0 && !got.Allowed() {
				t.Errorf("%+v, a stranger: got %+v, want an admission", l, got)
			}
			if int64(next) < start.UnixNano()-1 {
				t.Errorf("%+v, request %d: got an arrival time of %d, before now", l, i, next)
			}
			if l.Burst > 1000 && l.Interval <= 24*hour && !got.Allowed() {
				t.Errorf("%+v, request %d: got %+v, want an admission", l, i, got)
			}
			state = next
		}
	}
}

func TestConstructors(t *testing.T) {
	tests := []struct {
		name      string
		got, want Limit
	}{
		{"PerPeriod(1, 10s)", PerPeriod(1, 10*s), Limit{10 * s, 1, 2 * s}},
		{"PerPeriod(1, 0)", PerPeriod(1, 0), Limit{}},
		{"PerPeriod(1, -1s)", PerPeriod(1, -s), Limit{}},
		{"PerPeriod(10, 60s)", PerPeriod(10, 60*s), Limit{6 * s, 10, 1200 * time.Millisecond}},
		{"PerPeriod(0, 60s)", PerPeriod(0, 60*s), Limit{}},
		{"PerPeriod(-1, 60s)", PerPeriod(-1, 60*s), Limit{}},
		{"PerPeriod(10, 0)", PerPeriod(10, 0), Limit{}},
		{"PerPeriod(11, 10ns)", PerPeriod(11, 10), Limit{}},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, test.got, test.want)
		}
	}
}

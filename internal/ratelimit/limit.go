package ratelimit

import (
	"math/bits"
	"time"
)

// Limit is a pace: one document per Interval in the long run, and up to Burst
// of them at once after silence.
//
// The zero Limit is no limit: it admits everything. A Limit is a plain value
// and safe for concurrent use.
type Limit struct {
	// Interval is the time between two documents in the long run, GCRA's
	// emission interval. Zero or less means no limit.
	Interval time.Duration

	// Burst is how many documents may come at once after silence. Less than
	// one counts as one. Burst times Interval saturates at 36 years.
	Burst int

	// Leeway is how much too early a request may come and still be admitted.
	// It is forgiven each time, never saved up. Negative counts as zero; as
	// nobody waits for longer than one Interval, a Leeway of that or more
	// admits everything from a robot that has not been refused yet.
	Leeway time.Duration
}

// leewayShare is the part of an interval by which a request may be early:
// robots that space their requests as told still vary by up to a fifth, since
// they time their own sending and the network adds its delays.
const leewayShare = 5

// PerPeriod returns the limit of so many documents per period, all of which
// may come at once after silence, with a leeway of a fifth of the time from
// one document to the next: what Request-rate asks for (the 1996 proposal 2.0.0) and, for one
// document, Crawl-delay (the 2011 survey). Zero or
// less of either gives the zero Limit, as does a rate of more than one
// document per nanosecond.
func PerPeriod(documents int, period time.Duration) Limit {
	if documents <= 0 || period <= 0 {
		return Limit{}
	}
	interval := period / time.Duration(documents)
	if interval <= 0 {
		return Limit{}
	}
	return Limit{Interval: interval, Burst: documents, Leeway: interval / leewayShare}
}

// Take judges one request at the time now by a robot whose state is s. It
// returns the state to keep in place of s, and the verdict. It is a pure
// function and does not allocate.
//
// A request is admitted if the theoretical arrival time is no more than
// Burst-1 intervals and the leeway ahead of now. An admitted request moves
// that time on by one Interval, to at most Burst intervals ahead: what it came
// too early by is forgiven. A refused one leaves it where it was, but the
// robot was told when to come back, so the next request has no leeway.
//
// An arrival time more than Burst intervals ahead is first brought back to
// that; the package documentation says why. A time before 1824 or after 2115
// is taken for a clock that was never set, and admits.
func (l Limit) Take(s State, now time.Time) (State, Result) {
	t, ok := nanoseconds(now)
	if !ok || l.Interval <= 0 {
		return s, Result{}
	}
	interval, slack := l.spans()
	spent := even(t + slack + interval) // the arrival time of a robot that has just spent its burst
	arrival := min(max(s.arrival(t), t), spent)
	wait := arrival - slack - t
	if wait > l.leeway(s) {
		return stateOf(arrival, true), Result{RetryAfter: time.Duration(wait)}
	}
	return stateOf(min(arrival+interval, spent), false), Result{}
}

// Return gives back what an admitted request drew on the budget of a robot whose state is s, and
// returns the state to keep in place of s. A robot never seen stays one.
func (l Limit) Return(s State) State {
	interval, _ := l.spans()
	if s == 0 || interval <= 0 {
		return s
	}
	return stateOf(even(int64(s))-interval, s.refused())
}

// maxSpan bounds each span of time that is added to a clock reading, in
// nanoseconds: about 36 years. With clock readings within maxClock no sum of
// them can overflow.
const maxSpan = 1 << 60

// spans returns the interval and the time that a burst may run ahead of it,
// Burst-1 intervals, both in nanoseconds and at most maxSpan.
func (l Limit) spans() (interval, slack int64) {
	interval = min(int64(l.Interval), maxSpan)
	high, low := bits.Mul64(uint64(max(l.Burst, 1)-1), uint64(interval))
	if high != 0 || low > maxSpan {
		return interval, maxSpan
	}
	return interval, int64(low)
}

// leeway returns how early the next request may come, in nanoseconds.
func (l Limit) leeway(s State) int64 {
	if s.refused() {
		return 0
	}
	return max(int64(l.Leeway), 0)
}

// State is all that is remembered of one robot: its theoretical arrival time,
// in nanoseconds since 1970, with the lowest bit set if its last request was
// refused. Arrival times are therefore even, which costs the pace at most a
// nanosecond a document, in the robot's favour.
//
// The zero State is a robot never seen. A State is a plain value; states of
// one robot compare in order of debt, the later the more.
type State int64

// stateOf returns the state with the given arrival time.
func stateOf(arrival int64, refused bool) State {
	s := State(even(arrival))
	if refused {
		s |= 1
	}
	return s
}

// arrival returns the theoretical arrival time, or now for a robot never seen.
func (s State) arrival(now int64) int64 {
	if s == 0 {
		return now
	}
	return even(int64(s))
}

// refused reports whether the robot's last request was refused.
func (s State) refused() bool { return s&1 != 0 }

// even rounds down to an even number.
func even(n int64) int64 { return n &^ 1 }

// maxClock bounds clock readings, in seconds either side of 1970: some 146
// years. It leaves room for spans to be added to them.
const maxClock = 1 << 62 / int64(time.Second)

// nanoseconds returns the wall clock reading of now in nanoseconds since 1970,
// and false if it is out of bounds, as that of the zero time is.
func nanoseconds(now time.Time) (int64, bool) {
	if s := now.Unix(); s <= -maxClock || s >= maxClock {
		return 0, false
	}
	return now.UnixNano(), true
}

// clamped returns the wall clock reading of t in nanoseconds since 1970, or the
// bound that it is out of.
func clamped(t time.Time) int64 {
	return time.Unix(min(max(t.Unix(), -maxClock), maxClock), int64(t.Nanosecond())).UnixNano()
}

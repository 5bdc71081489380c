package ratelimit

import "time"

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

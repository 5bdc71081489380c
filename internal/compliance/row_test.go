package compliance

import (
	"testing"
	"time"
)

// noteAt notes a disallowed request at each time since start.
func noteAt(l *Ledger, times ...time.Duration) {
	for _, after := range times {
		e := disallowed("figtree")
		e.Time = start.Add(after)
		l.Note(&e)
	}
}

// mustHave fails the test unless the periods began at these times since start, with so
// many requests each.
func mustHave(t *testing.T, what string, got []Period, want map[time.Duration]uint64) {
	t.Helper()
	sum := 0
	for i, p := range got {
		if p.Requests != want[p.Time.Sub(start)] || p.Disobedient != p.Requests {
			t.Errorf("%s, %v from start: got %+v, want %d", what, p.Time.Sub(start), p, want[p.Time.Sub(start)])
		}
		if i > 0 && !p.Time.After(got[i-1].Time) {
			t.Errorf("%s: got %v behind %v", what, p.Time, got[i-1].Time)
		}
		sum++
	}
	if sum != len(want) {
		t.Errorf("%s: got %d periods %v, want %d", what, sum, got, len(want))
	}
}

func TestHours(t *testing.T) {
	l := NewLedger(Options{})
	noteAt(l, 0, hour-1, hour, 5*hour, 167*hour)
	r := l.Snapshot(start.Add(167*hour + hour/2)).Sites[0].Robots[0]
	mustHave(t, "hours", r.Hours, map[time.Duration]uint64{0: 2, hour: 1, 5 * hour: 1, 167 * hour: 1})
	r = l.Snapshot(start.Add(168 * hour)).Sites[0].Robots[0]
	mustHave(t, "hours, one later", r.Hours, map[time.Duration]uint64{hour: 1, 5 * hour: 1, 167 * hour: 1})
}

func TestDays(t *testing.T) {
	const midnight, day = 12 * hour, 24 * hour
	l := NewLedger(Options{})
	noteAt(l, 0, midnight-1, midnight, 89*day)
	r := l.Snapshot(start.Add(89 * day)).Sites[0].Robots[0]
	mustHave(t, "days", r.Days, map[time.Duration]uint64{-midnight: 2, midnight: 1, 89*day - midnight: 1})
	r = l.Snapshot(start.Add(90 * day)).Sites[0].Robots[0]
	mustHave(t, "days, one later", r.Days, map[time.Duration]uint64{midnight: 1, 89*day - midnight: 1})
}

func TestAfterMonthsOfSilence(t *testing.T) {
	l := NewLedger(Options{})
	noteAt(l, 0, 200*24*hour)
	r := l.Snapshot(start.Add(200 * 24 * hour)).Sites[0].Robots[0]
	mustHave(t, "hours", r.Hours, map[time.Duration]uint64{200 * 24 * hour: 1})
	mustHave(t, "days", r.Days, map[time.Duration]uint64{(200*24 - 12) * hour: 1})
	if r.Requests != 2 {
		t.Errorf("requests: got %d, want 2", r.Requests)
	}
}

// TestClockThatWasAhead steps 50 years ahead and back again: what was before is kept, but for an
// hour whose place was taken, and what comes after is counted.
func TestClockThatWasAhead(t *testing.T) {
	const ahead = 50 * 365 * 24 * hour
	l := NewLedger(Options{})
	for h := range time.Duration(100) {
		noteAt(l, h*hour)
	}
	noteAt(l, ahead)
	for h := range time.Duration(168) {
		noteAt(l, (100+h)*hour)
	}
	r := l.Snapshot(start.Add(267 * hour)).Sites[0].Robots[0]
	if got := len(r.Hours); got != 168 {
		t.Errorf("hours since: got %d, want all 168", got)
	}
	if r.Requests != 100+1+168 || !r.Last.Equal(start.Add(267*hour)) {
		t.Errorf("got %d requests, the last at %v", r.Requests, r.Last)
	}
}

func TestClockThatStepsBack(t *testing.T) {
	l := NewLedger(Options{})
	noteAt(l, 10*hour, 2*hour, 3*hour)
	r := l.Snapshot(start.Add(10 * hour)).Sites[0].Robots[0]
	mustHave(t, "hours", r.Hours, map[time.Duration]uint64{2 * hour: 1, 3 * hour: 1, 10 * hour: 1})
}

func TestPeriodsToComeAreLeftOut(t *testing.T) {
	l := NewLedger(Options{})
	noteAt(l, 0, 2*hour)
	r := l.Snapshot(start.Add(hour)).Sites[0].Robots[0]
	mustHave(t, "hours", r.Hours, map[time.Duration]uint64{0: 1})
}

func TestHoursOfASiteAreThoseOfItsRobots(t *testing.T) {
	l := NewLedger(Options{})
	noteAt(l, 0, hour)
	note(l, allowed("unhipbot"), 5)
	got := l.Snapshot(start.Add(hour)).Sites[0].Hours
	if len(got) != 2 || got[0].Requests != 6 || got[0].Disobedient != 1 || got[1].Requests != 1 {
		t.Errorf("got %+v, want 6 with 1 disobedient, then 1", got)
	}
}

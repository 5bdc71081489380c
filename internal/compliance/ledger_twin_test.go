package compliance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// twin is a ledger that keeps every event, and counts when it is asked.
type twin []Event

// tally counts a robot's events by verdict.
func (w twin) tally(site, robot, class, standing string) Tally {
	t := newTally()
	for _, e := range w {
		if e.Site == site && e.Robot == robot && e.Class == class && e.Standing == standing && !e.RobotsTxt {
			c := Count{Requests: 1}
			if e.Refused && e.Verdict.refusable() {
				c.Refused = 1
			}
			t.add(e.Verdict, c)
			one := Cost{Statuses: map[string]uint64{"4xx": 1}} // as disallowed has it
			if e.Measured && !e.Refused {
				one.Measured, one.Bytes, one.Seconds = 1, uint64(e.Bytes), e.Took.Seconds()
			}
			t.Cost.add(&one)
		}
	}
	t.share()
	return t
}

// hours counts a site's disobedience by hour.
func (w twin) hours(site string, now time.Time) map[time.Time]uint64 {
	hours := make(map[time.Time]uint64)
	for _, e := range w {
		at := e.Time.Truncate(hour)
		if e.Site == site && !e.RobotsTxt && e.Verdict.Disobedient() && now.Sub(at) < keptHours*hour {
			hours[at]++
		}
	}
	return hours
}

// TestLedgerAgreesWithTwin notes the same random events in a ledger, in three that are merged, and in one that
// is stored and read now and then.
func TestLedgerAgreesWithTwin(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 8 {
		var all twin
		ledgers := map[string]*Ledger{"noted": NewLedger(Options{}), "merged": NewLedger(Options{}), "stored": NewLedger(Options{})}
		nodes := [3]*Ledger{NewLedger(Options{}), NewLedger(Options{}), NewLedger(Options{})}
		now := start
		for range 500 {
			now = now.Add(time.Duration(random.IntN(3600)) * time.Second)
			e := disallowed(fmt.Sprint("robot-", random.IntN(9)))
			e.Time, e.Site = now, fmt.Sprint(random.IntN(3), ".example")
			e.Class = classWords[random.IntN(len(classWords))]
			if e.Class == OtherRobots {
				e.Class = "robot"
			}
			e.Standing = standingWords[random.IntN(len(standingWords))]
			e.Verdict, e.Refused, e.RobotsTxt = Verdict(random.IntN(verdicts)), random.IntN(2) == 0, random.IntN(9) == 0
			e.Line = random.IntN(5)
			e.Measured, e.Bytes, e.Took = random.IntN(3) > 0, int64(random.IntN(1e6)), time.Duration(random.IntN(1000))*time.Millisecond
			all = append(all, e)
			ledgers["noted"].Note(&e)
			ledgers["stored"].Note(&e)
			nodes[random.IntN(len(nodes))].Note(&e)
			if random.IntN(100) == 0 {
				read := NewLedger(Options{})
				if err := read.Unmarshal(ledgers["stored"].Marshal()); err != nil {
					t.Fatal(err)
				}
				ledgers["stored"] = read
			}
		}
		for _, node := range nodes {
			ledgers["merged"].Merge(node)
		}
		for name, l := range ledgers {
			checkTwin(t, fmt.Sprint(name, ", round ", round), l.Snapshot(now), all, now)
		}
	}
}

func checkTwin(t *testing.T, name string, r *Report, all twin, now time.Time) {
	t.Helper()
	for _, s := range r.Sites {
		for _, robot := range s.Robots {
			want := all.tally(s.Site, robot.Robot, robot.Class, robot.Standing)
			got := robot.Tally
			got.SavedBytes, got.SavedSeconds = 0, 0 // which no event has
			if math.Abs(got.Seconds-want.Seconds) < 1e-6 {
				want.Seconds = got.Seconds
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, %s on %s: got %+v, want %+v", name, robot.Robot, s.Site, got, want)
			}
			broken := uint64(0)
			for _, l := range robot.Lines {
				broken += l.Requests
			}
			if broken != want.Disobedient {
				t.Fatalf("%s, %s on %s: lines broken: got %d, want %d", name, robot.Robot, s.Site, broken, want.Disobedient)
			}
		}
		hours := all.hours(s.Site, now)
		for _, h := range s.Hours {
			if h.Disobedient != hours[h.Time] {
				t.Fatalf("%s, %s at %v: got %d, want %d", name, s.Site, h.Time, h.Disobedient, hours[h.Time])
			}
			delete(hours, h.Time)
		}
		if len(hours) != 0 {
			t.Fatalf("%s, %s: missing hours %v", name, s.Site, hours)
		}
	}
	requests := uint64(0)
	for _, e := range all {
		if !e.RobotsTxt && !e.unbound() {
			requests++
		}
	}
	if _, got := rows(r); got != requests || r.Total.Requests != requests {
		t.Fatalf("%s: got %d and %d requests, want %d", name, got, r.Total.Requests, requests)
	}
}

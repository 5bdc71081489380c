package compliance

import (
	"fmt"
	"strconv"
	"testing"
	"time"
)

// million is how many made-up names a flood has.
func million() int {
	if underRace {
		return 100_000
	}
	return 1_000_000
}

// flood has a million robots come, each once, within an hour from a time on.
func flood(l *Ledger, from time.Time) {
	e := allowed("")
	for i := range million() {
		e.Robot = "made-up-" + strconv.Itoa(i)
		e.Time = from.Add(time.Duration(i) * time.Millisecond)
		l.Note(&e)
	}
}

// rows returns how many rows a report has, those of other robots left out, and the sum of all
// requests.
func rows(r *Report) (rows int, requests uint64) {
	for _, s := range r.Sites {
		for _, robot := range s.Robots {
			requests += robot.Requests
			if robot.Class != OtherRobots {
				rows++
			}
		}
	}
	return rows, requests
}

func TestEveryRobotHasARowWhereThereIsRoom(t *testing.T) {
	l := NewLedger(Options{MaxRobots: 100})
	for i := range 100 {
		note(l, allowed(strconv.Itoa(i)), 1)
	}
	if got, _ := rows(l.Snapshot(start)); got != 100 {
		t.Errorf("rows of 100 robots: got %d", got)
	}
	note(l, allowed("one more"), 1)
	if got, _ := rows(l.Snapshot(start)); got != 100 {
		t.Errorf("rows of 101 robots: got %d, want 100", got)
	}
}

func TestAFloodDrivesNobodyOut(t *testing.T) {
	l := NewLedger(Options{MaxRobots: 1000})
	for i := range 500 {
		note(l, disallowed("known-"+strconv.Itoa(i)), 2)
	}
	flood(l, start)
	known := byName(l)
	for i := range 500 {
		if r, ok := known["known-"+strconv.Itoa(i)]; !ok || r.Requests != 2 || len(r.Evidence) != 2 {
			t.Fatalf("known robot %d after a flood: got %+v, %v, want its 2 requests", i, r.Tally, ok)
		}
	}
	got, requests := rows(l.Snapshot(start))
	if want := uint64(1000 + million()); got != 1000 || requests != want {
		t.Errorf("got %d rows with %d requests, want 1000 with %d", got, requests, want)
	}
}

func TestARobotThatComesBackGetsItsRowAfterAFlood(t *testing.T) {
	l := NewLedger(Options{MaxRobots: 1000})
	flood(l, start)
	for i := range 100 {
		note(l, allowed("newcomer-"+strconv.Itoa(i)), 3)
	}
	known := byName(l)
	for i := range 100 {
		// The first of its visits went to the others.
		if r, ok := known["newcomer-"+strconv.Itoa(i)]; !ok || r.Requests != 2 {
			t.Fatalf("newcomer %d: got %+v, %v, want 2 requests", i, r.Tally, ok)
		}
	}
}

func TestARobotThatComesBackGetsItsRowDuringAFlood(t *testing.T) {
	l := NewLedger(Options{MaxRobots: 1000})
	e := allowed("")
	for i := range million() / 10 {
		e.Robot = "made-up-" + strconv.Itoa(i)
		l.Note(&e)
		if i%1000 == 0 {
			note(l, allowed("figtree"), 1)
		}
	}
	if r, ok := byName(l)["figtree"]; !ok || r.Requests < uint64(million()/10/1000)-2 {
		t.Errorf("a robot that came back every 1000 requests: got %+v, %v, want nearly all of its %d", r.Tally, ok, million()/10/1000)
	}
}

func TestWhoCameOnceAndAWeekAgoGivesWay(t *testing.T) {
	l := NewLedger(Options{MaxRobots: 2})
	note(l, allowed("once"), 1)
	note(l, allowed("thrice"), 3)
	e := allowed("newcomer")
	e.Time = week.Add(-hour)
	l.Note(&e)
	if _, ok := byName(l)["newcomer"]; ok {
		t.Error("a newcomer within a week: got a row, want none")
	}
	e.Robot, e.Time = "next", week
	l.Note(&e)
	for robot, want := range map[string]bool{"once": false, "thrice": true, "newcomer": false, "next": true} {
		if _, ok := byName(l)[robot]; ok != want {
			t.Errorf("%s, a week later: got a row: %v, want %v", robot, ok, want)
		}
	}
}

// TestAnEagerNewcomerIsNotDrivenOutAtOnce has the second of two newcomers come as often as
// the first one did to get its row.
func TestAnEagerNewcomerIsNotDrivenOutAtOnce(t *testing.T) {
	l := NewLedger(Options{MaxRobots: 2})
	note(l, allowed("regular"), 1000)
	note(l, allowed("known"), 10)
	note(l, allowed("first"), 11)
	note(l, allowed("second"), 11)
	for robot, want := range map[string]bool{"regular": true, "known": false, "first": true, "second": false} {
		if _, ok := byName(l)[robot]; ok != want {
			t.Errorf("%s: got a row: %v, want %v", robot, ok, want)
		}
	}
}

// TestNothingIsLostWhenARowGivesWay looks for it with the others of its site.
func TestNothingIsLostWhenARowGivesWay(t *testing.T) {
	l := NewLedger(Options{MaxRobots: 1})
	note(l, disallowed("figtree"), 2)
	note(l, allowed("unhipbot"), 3)
	s := l.Snapshot(start).Sites[0]
	var others Robot
	for _, r := range s.Robots {
		if r.Class == OtherRobots {
			others = r
		}
	}
	// Of the three visits of unhipbot two were before it had a row.
	if others.Requests != 4 || others.Disobedient != 2 || len(others.Evidence) != 2 || others.Lines[0].Requests != 2 {
		t.Errorf("others: got %+v with lines %+v, want 4 requests, 2 of them figtree's", others.Tally, others.Lines)
	}
	if s.Requests != 5 || s.Hours[0].Requests != 5 {
		t.Errorf("site: got %d requests, %d in the hour, want 5", s.Requests, s.Hours[0].Requests)
	}
}

func TestSitesAreBounded(t *testing.T) {
	l := NewLedger(Options{MaxSites: 10})
	for i := range 10 {
		e := allowed("figtree")
		e.Site = fmt.Sprint("known-", i, ".example")
		note(l, e, 2)
	}
	e := allowed("figtree")
	for i := range million() / 10 {
		e.Site = fmt.Sprint("made-up-", i, ".example")
		l.Note(&e)
	}
	r := l.Snapshot(start)
	if got := len(r.Sites); got != 11 || r.Sites[0].Site != OtherSites {
		t.Fatalf("sites: got %d, the first being %q, want 10 and all others", got, r.Sites[0].Site)
	}
	if got, want := r.Total.Requests, uint64(20+million()/10); got != want {
		t.Errorf("requests: got %d, want %d", got, want)
	}
	for _, s := range r.Sites[1:] {
		if s.Requests != 2 {
			t.Errorf("%s: got %d requests, want 2", s.Site, s.Requests)
		}
	}
}

func TestASiteThatIsAskedForAgainGetsItsPlace(t *testing.T) {
	l := NewLedger(Options{MaxSites: 10})
	e := allowed("figtree")
	for i := range 1000 {
		e.Site = fmt.Sprint("made-up-", i, ".example")
		l.Note(&e)
	}
	e.Site = "real.example"
	note(l, e, 5)
	r := l.Snapshot(start).Select(Selection{Site: "real.example"})
	if r.Total.Requests != 4 {
		t.Errorf("a site after a flood of them: got %d requests, want 4 of 5", r.Total.Requests)
	}
	if all := l.Snapshot(start); len(all.Sites) != 11 || all.Total.Requests != 1005 {
		t.Errorf("all: got %d sites with %d requests, want 11 with 1005", len(all.Sites), all.Total.Requests)
	}
}

func TestRobotsOfOtherSitesHaveRowsOfTheirOwn(t *testing.T) {
	l := NewLedger(Options{MaxSites: 1})
	note(l, allowed("figtree"), 9)
	for i := range 3 {
		e := allowed("figtree")
		e.Site = fmt.Sprint(i, ".example")
		l.Note(&e)
	}
	r := l.Snapshot(start).Select(Selection{Site: OtherSites})
	if got := r.Sites[0].Robots; len(got) != 1 || got[0].Robot != "figtree" || got[0].Requests != 3 {
		t.Errorf("got %+v, want 3 requests of figtree", got)
	}
}

func TestAdmissionCountsVisits(t *testing.T) {
	a := newAdmission(100)
	for i := range uint64(3) {
		for _, stranger := range []uint64{1, 1 << 63, 12345} {
			if got := a.visit(stranger); got != i+1 {
				t.Errorf("visit %d of %d: got %d", i+1, stranger, got)
			}
		}
	}
}

// TestAdmissionForgetsWhoCameLongestAgo has nine strangers with fingerprints so alike that only
// eight are remembered.
func TestAdmissionForgetsWhoCameLongestAgo(t *testing.T) {
	a := newAdmission(100)
	for stranger := range uint64(8) {
		a.visit(stranger + 1)
	}
	a.visit(1) // which makes the second one that of longest ago
	a.visit(9)
	for stranger, want := range map[uint64]uint64{1: 3, 9: 2, 8: 2} {
		if got := a.visit(stranger); got != want {
			t.Errorf("visits of %d: got %d, want %d", stranger, got, want)
		}
	}
	if got := a.visit(2); got != 1 {
		t.Errorf("visits of who was forgotten: got %d, want 1", got)
	}
}

// TestAdmissionLooksInsideOnceAnHour counts how often the lightest is asked for, which takes a look
// at every row.
func TestAdmissionLooksInsideOnceAnHour(t *testing.T) {
	a := newAdmission(100)
	looks := 0
	ask := func(weight uint64, at int64, want bool) {
		t.Helper()
		if got := a.admits(weight, at, func() uint64 { looks++; return 5 }); got != want {
			t.Errorf("weight %d at %d: got %v, want %v", weight, at, got, want)
		}
	}
	for range 1000 {
		ask(1, hourLong, false)
		ask(5, 2*hourLong-1, false)
		ask(1, 0, false) // the clock steps back
	}
	if looks != 1 {
		t.Errorf("looks within an hour: got %d, want 1", looks)
	}
	ask(1, 2*hourLong, false)
	ask(6, 2*hourLong, true)
	if looks != 3 {
		t.Errorf("looks after an hour, and for one who gets in: got %d, want 3", looks)
	}
}

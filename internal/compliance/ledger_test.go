package compliance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

func TestNoteCountsByVerdict(t *testing.T) {
	l := NewLedger(Options{})
	for v := range Verdict(verdicts) {
		e := disallowed("figtree")
		e.Verdict = v
		note(l, e, int(v)+1)
		e.Refused = false
		note(l, e, 10)
	}
	got := only(t, l)
	for v := range Verdict(verdicts) {
		want := Count{Requests: uint64(v) + 11}
		if v.refusable() {
			want.Refused = uint64(v) + 1
		}
		if got.Of(v) != want {
			t.Errorf("%v: got %+v, want %+v", v, got.Of(v), want)
		}
	}
	// 1 to 7 of each verdict were refused, and 10 of each were not; allowed and exempt ones are never
	// against the rules, and those during a ban are refused for what was before.
	if want := (Tally{Requests: 98, Disobedient: 55, Refused: 22}); got.Requests != want.Requests || got.Disobedient != want.Disobedient || got.Refused != want.Refused {
		t.Errorf("sums: got %d, %d, %d, want %d, %d, %d", got.Requests, got.Disobedient, got.Refused, want.Requests, want.Disobedient, want.Refused)
	}
	if want := 26.0 / 81; math.Abs(got.Obedience-want) > 1e-9 {
		t.Errorf("obedience: got %v, want %v", got.Obedience, want)
	}
}

func TestRowsAreByNameClassAndStanding(t *testing.T) {
	l := NewLedger(Options{})
	for _, e := range []Event{
		{Robot: "figtree", Class: "robot"},
		{Robot: "Figtree", Class: "robot"},
		{Robot: "figtree", Class: "app"},
		{Robot: "figtree", Class: "robot", Standing: "verified"},
		{Robot: "figtree", Class: "robot", Standing: "impostor"},
		{Class: "robot"}, {Class: "app"}, {Class: "unstated"},
		{Class: "browser", Record: "*"},
		{Robot: "figtree", Class: "robot", Site: "b.example"},
	} {
		e.Time = start
		note(l, e, 2)
	}
	rows := 0
	for _, s := range l.Snapshot(start).Sites {
		for _, r := range s.Robots {
			rows++
			if r.Requests != 2 {
				t.Errorf("%q %s %s on %q: got %d requests, want 2", r.Robot, r.Class, r.Standing, s.Site, r.Requests)
			}
		}
	}
	if rows != 10 {
		t.Errorf("rows: got %d, want 10", rows)
	}
}

func TestWordsThatAreNotKnown(t *testing.T) {
	l := NewLedger(Options{})
	note(l, Event{Time: start, Class: OtherRobots, Standing: "trusted"}, 1)
	if got := only(t, l); got.Class != "unstated" || got.Standing != "" {
		t.Errorf("got class %q and standing %q, want unstated and none", got.Class, got.Standing)
	}
}

func TestBrowsersThatNothingBindsAreNotNoted(t *testing.T) {
	l := NewLedger(Options{})
	note(l, Event{Time: start, Site: "a.example", Class: "browser"}, 1)
	if got := l.Snapshot(start); len(got.Sites) != 0 {
		t.Errorf("a person's browser: got %s, want nothing", asJSON(t, got))
	}
	note(l, Event{Time: start, Site: "a.example", Class: "browser", Verdict: Disallowed}, 1)
	if got := only(t, l); got.Class != "browser" || got.Requests != 1 {
		t.Errorf("a browser that is bound: got %+v", got)
	}
}

func TestFirstAndLast(t *testing.T) {
	l := NewLedger(Options{})
	for _, after := range []time.Duration{hour, 0, 2 * hour} {
		e := allowed("figtree")
		e.Time = start.Add(after)
		l.Note(&e)
	}
	if got := only(t, l); !got.First.Equal(start) || !got.Last.Equal(start.Add(2*hour)) {
		t.Errorf("got first %v, last %v, want %v and two hours later", got.First, got.Last, start)
	}
}

func TestReadingRobotsTxtIsNoRequest(t *testing.T) {
	l := NewLedger(Options{})
	for i, version := range []string{"one", "two"} {
		l.Note(&Event{Time: start.Add(time.Duration(i) * hour), Robot: "figtree", Class: "robot", RobotsTxt: true, Version: version, Verdict: Disallowed})
	}
	e := allowed("figtree")
	e.Site, e.Version, e.Time = "", "three", start.Add(2*hour)
	l.Note(&e)
	got := only(t, l)
	if got.Fetches != 2 || !got.Fetched.Equal(start.Add(hour)) || got.FetchedVersion != "two" {
		t.Errorf("got %d readings, the last at %v of %q, want 2, at %v, of two", got.Fetches, got.Fetched, got.FetchedVersion, start.Add(hour))
	}
	if got.Requests != 1 || len(got.Evidence) != 0 {
		t.Errorf("got %d requests with %d evidence, want 1 without", got.Requests, len(got.Evidence))
	}
	if site := l.Snapshot(start).Sites[0]; site.Version != "three" {
		t.Errorf("version of the site: got %q, want that of the last request, three", site.Version)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	l, long := NewLedger(Options{}), strings.Repeat("ü", 1000)
	note(l, Event{
		Time: start, Site: long, Robot: long, Class: "robot", Verdict: Disallowed, Version: long, Record: long,
		Line: 1, Rule: long, Method: long, Path: long, RobotsTxt: false,
	}, 3)
	site := l.Snapshot(start).Sites[0]
	r := site.Robots[0]
	for what, c := range map[string]struct {
		got  string
		most int
	}{
		"site": {site.Site, 254}, "robot": {r.Robot, 64}, "version": {site.Version, 64}, "record": {r.Record, 64},
		"method": {r.Evidence[0].Method, 16}, "path": {r.Evidence[0].Path, 200}, "rule": {r.Lines[0].Rule, 128},
	} {
		if want := long[:c.most]; c.got != want {
			t.Errorf("%s: got %d bytes, %q, want %d whole characters", what, len(c.got), c.got, c.most/2)
		}
	}
	if r.Requests != 3 {
		t.Errorf("requests in one row: got %d, want 3", r.Requests)
	}
}

func TestTimesOutOfReach(t *testing.T) {
	for _, c := range []struct{ noted, want time.Time }{
		{time.Time{}, time.Unix(0, 0)},
		{time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC), time.Unix(0, 0)},
		{time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC)},
		{time.Date(292277026596, 1, 1, 0, 0, 0, 0, time.UTC), time.UnixMilli(lastMoment)},
	} {
		l := NewLedger(Options{})
		note(l, Event{Time: c.noted}, 1)
		got := l.Snapshot(c.noted)
		if last := got.Sites[0].Robots[0].Last; !last.Equal(c.want) {
			t.Errorf("%v: got %v, want %v", c.noted, last, c.want)
		}
		asJSON(t, got) // which refuses years above 9999
	}
}

// TestNoteKeepsNothingOfTheEvent overwrites all texts of an event after it was noted.
func TestNoteKeepsNothingOfTheEvent(t *testing.T) {
	l := NewLedger(Options{})
	var buffers [][]byte
	text := func(s string) string {
		b := []byte(s)
		buffers = append(buffers, b)
		return unsafe.String(unsafe.SliceData(b), len(b))
	}
	e := disallowed(text("figtree"))
	e.Site, e.Standing, e.Class, e.Version, e.Record = text("a.example"), text("verified"), text("robot"), text("v1"), text("fig")
	e.Rule, e.Method, e.Path, e.Address = text("Disallow: /fig"), text("FIG"), text("/figs"), text("2001:db8::1")
	l.Note(&e)
	banned := e
	banned.Verdict, banned.Path, banned.Rule = Banned, text("/more"), text("Disallow: /more")
	l.Note(&banned)
	want := asJSON(t, l.Snapshot(start))
	for _, b := range buffers {
		for i := range b {
			b[i] = 'X'
		}
	}
	if got := asJSON(t, l.Snapshot(start)); got != want {
		t.Errorf("after the event's texts were overwritten: got %s, want %s", got, want)
	}
}

func TestZeroLedger(t *testing.T) {
	var l Ledger
	note(&l, disallowed("figtree"), 1)
	l.Merge(NewLedger(Options{}))
	if got := l.Snapshot(start); len(got.Sites) != 0 {
		t.Errorf("got %s, want nothing", asJSON(t, got))
	}
	if err := NewLedger(Options{}).Unmarshal(l.Marshal()); err != nil {
		t.Error(err)
	}
}

func TestNoteDoesNotAllocate(t *testing.T) {
	l := NewLedger(Options{})
	for what, e := range map[string]Event{"allowed": allowed("figtree"), "disallowed": disallowed("unhipbot")} {
		note(l, e, 1)
		path, n := "/"+strings.Repeat("c", 300), 0
		got := testing.AllocsPerRun(1000, func() {
			n++
			e.Path, e.Line, e.Method = path[:n%len(path)], n, "VERB"
			l.Note(&e)
		})
		if got != 0 {
			t.Errorf("allocations for a request of a known robot that is %s: got %v, want 0", what, got)
		}
	}
}

func TestFetched(t *testing.T) {
	l := NewLedger(Options{})
	e := allowed("figtree")
	e.Standing, e.Version = "verified", "one"
	note(l, e, 1)
	fetched := func() (time.Time, string) { return l.Fetched(e.Site, e.Robot, e.Class, e.Standing) }
	if at, version := fetched(); !at.IsZero() || version != "" {
		t.Errorf("a robot that never did: got %v, %q", at, version)
	}
	e.RobotsTxt, e.Time = true, start.Add(hour)
	note(l, e, 1)
	e.RobotsTxt, e.Time, e.Version = false, start.Add(2*hour), "two"
	note(l, e, 1)
	if at, version := fetched(); !at.Equal(start.Add(hour)) || version != "one" {
		t.Errorf("got %v, %q, want an hour after the start, one", at, version)
	}
	for _, other := range []Event{{Site: "b.example", Robot: "figtree"}, {Site: "a.example", Robot: "unhipbot"}} {
		if at, version := l.Fetched(other.Site, other.Robot, "robot", "verified"); !at.IsZero() || version != "" {
			t.Errorf("%s on %s: got %v, %q", other.Robot, other.Site, at, version)
		}
	}
	if at, _ := l.Fetched("a.example", "figtree", "robot", "impostor"); !at.IsZero() {
		t.Errorf("an impostor: got %v", at)
	}
	if got := testing.AllocsPerRun(100, func() { fetched() }); got != 0 {
		t.Errorf("allocations: got %v, want 0", got)
	}
	if at, _ := new(Ledger).Fetched("a.example", "figtree", "robot", ""); !at.IsZero() {
		t.Errorf("the zero Ledger: got %v", at)
	}
}

func TestRowsAndSitesAreCounted(t *testing.T) {
	l := NewLedger(Options{MaxRobots: 3, MaxSites: 2})
	for i := range 5 {
		e := allowed(strings.Repeat("x", i))
		e.Site = strings.Repeat("y", i/2)
		note(l, e, 1)
		robots, sites := l.Rows()
		if wantRobots, wantSites := min(i+1, 3), min(i/2+1, 2); robots != wantRobots || sites != wantSites {
			t.Errorf("after %d: got %d robots, %d sites, want %d, %d", i+1, robots, sites, wantRobots, wantSites)
		}
	}
}

// TestConcurrentUse notes, merges, stores and reports all at once in a ledger that has too little
// room, so that rows and sites give way all the time. Nothing may be lost or counted twice.
func TestConcurrentUse(t *testing.T) {
	const workers, each = 8, 3000
	l := NewLedger(Options{MaxRobots: 20, MaxSites: 4, MaxBytes: 150_000})
	other := NewLedger(Options{})
	note(other, disallowed("figtree"), 5)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 1))
			for range each {
				e := disallowed(fmt.Sprint("robot-", int(random.ExpFloat64()*20)))
				e.Site = fmt.Sprint(int(random.ExpFloat64()*3), ".example")
				e.Time = start.Add(time.Duration(random.IntN(72)) * hour)
				l.Note(&e)
			}
		})
	}
	merges := 0
	wg.Go(func() {
		for range 20 {
			l.Merge(other)
			merges++
			r := l.Snapshot(start.Add(72 * hour))
			if got, requests := rows(r); got > 20 || len(r.Sites) > 5 || requests != r.Total.Requests {
				t.Errorf("meanwhile: got %d rows on %d sites, %d and %d requests", got, len(r.Sites), requests, r.Total.Requests)
			}
			if err := NewLedger(Options{}).Unmarshal(l.Marshal()); err != nil {
				t.Errorf("meanwhile: %v", err)
			}
		}
	})
	wg.Wait()
	got := l.Snapshot(start.Add(72 * hour)).Total
	if want := uint64(workers*each + merges*5); got.Requests != want || got.Disobedient != want || got.Refused != want {
		t.Errorf("got %+v, want %d of each", got, want)
	}
}

// TestNothingIsSeenTwiceWhileRowsGiveWay reports while one row after the other gives way to a robot that comes when
// they have not for weeks: each report has all that was noted before it, and nothing that was not before its end.
func TestNothingIsSeenTwiceWhileRowsGiveWay(t *testing.T) {
	const reports = 20
	l := NewLedger(Options{MaxRobots: 300})
	var begun, noted atomic.Uint64
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; !stop.Load(); i++ {
			e := allowed(fmt.Sprint("robot-", i/3))
			e.Time = start.Add(time.Duration(i/3) * time.Hour)
			begun.Add(1)
			l.Note(&e)
			noted.Add(1)
		}
	})
	for noted.Load() < 2000 { // until there is no more room
		runtime.Gosched()
	}
	for range reports {
		before := noted.Load()
		got := l.Snapshot(start).Total.Requests
		if after := begun.Load(); got < before || got > after {
			t.Errorf("got %d requests, want %d to %d", got, before, after)
		}
	}
	stop.Store(true)
	wg.Wait()
}

// heap returns what is in use after a collection, in MiB.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// TestAHosterHasARowForEachRobot has eight robots come to each of a thousand sites, now and then for a month.
func TestAHosterHasARowForEachRobot(t *testing.T) {
	before := heap()
	l := NewLedger(Options{})
	for visit := range 20 {
		for i := range 8000 {
			e := allowed(fmt.Sprint("Example", i%8, "Bot"))
			e.Site, e.Path = fmt.Sprint("s", i/8, ".example"), fmt.Sprint("/news/", visit%9)
			e.Time = start.Add(time.Duration(visit) * 36 * hour)
			if visit%7 == 6 {
				e = disallowed(e.Robot)
				e.Site, e.Time = fmt.Sprint("s", i/8, ".example"), start.Add(time.Duration(visit)*36*hour)
			}
			l.Note(&e)
		}
	}
	if robots, sites := l.Rows(); robots != 8000 || sites != 1000 {
		t.Errorf("got %d robots on %d sites, want 8000 on 1000", robots, sites)
	}
	t.Logf("%.1f MiB, counted as %.1f", heap()-before, float64(l.bytes.Load())/(1<<20))
	runtime.KeepAlive(l)
}

// TestTheLightestGiveWayWhenOthersGrow has ten robots that come seldom on each of two sites, and then two that do
// all that takes room.
func TestTheLightestGiveWayWhenOthersGrow(t *testing.T) {
	l := NewLedger(Options{MaxBytes: 45_000})
	for i := range 20 {
		e := allowed(fmt.Sprint("seldom-", i))
		e.Site = fmt.Sprint(i%2, ".example")
		note(l, e, 2+i)
	}
	noted := uint64(20*2 + 19*10)
	for n := range 2000 {
		e := disallowed(fmt.Sprint("often-", n%2))
		e.Site, e.Time = fmt.Sprint(n%2, ".example"), start.Add(time.Duration(n)*5*time.Minute)
		e.Path = fmt.Sprint("/", n, strings.Repeat("x", 100))
		l.Note(&e)
		noted++
		if got := l.bytes.Load(); got > l.options.MaxBytes {
			t.Fatalf("after %d: got %d bytes, want at most %d", n, got, l.options.MaxBytes)
		}
	}
	r := l.Snapshot(start.Add(2000 * hour))
	if r.Total.Requests != noted {
		t.Errorf("got %d requests, want %d", r.Total.Requests, noted)
	}
	known := make(map[string]Robot)
	for _, s := range r.Sites {
		for _, robot := range s.Robots {
			known[robot.Robot] = robot
		}
	}
	if known["often-0"].Requests != 1000 || known["often-1"].Requests != 1000 || known["seldom-0"].Requests > 0 {
		t.Errorf("got %d and %d requests of those that came often, %d of one that came seldom, want 1000, 1000 and no row", known["often-0"].Requests, known["often-1"].Requests, known["seldom-0"].Requests)
	}
	for i := 1; i < 20; i++ {
		if known[fmt.Sprint("seldom-", i-1)].Requests > 0 && known[fmt.Sprint("seldom-", i)].Requests == 0 {
			t.Errorf("seldom-%d gave way before one that came less often", i)
		}
	}
}

// TestLedgerIsWithinItsBound fills all that a ledger has room for with the longest texts, and then
// floods it with a million names and paths.
func TestLedgerIsWithinItsBound(t *testing.T) {
	before := heap()
	l := NewLedger(Options{})
	long := strings.Repeat("x", 1000)
	// Nine lines and paths are frequent, so that the last ten, which are evidence, keep no place
	// among the frequent ones and take room twice.
	var sites [1024]string
	for i := range sites {
		sites[i] = fmt.Sprintf("%03d%s", i, long)
	}
	var texts [19]string
	for i := range texts {
		texts[i] = fmt.Sprint("/", i, long)
	}
	fill := func(site int, robot string) {
		for n := range 9*15 + 10 {
			e := disallowed(robot)
			e.Site, e.Time = sites[site], start.Add(time.Duration(n)*12*hour)
			e.Version, e.Record, e.Method, e.Address = long, long, long, "2001:db8::1"
			e.Line = n % 9
			if n >= 9*15 {
				e.Line = 9 + n - 9*15
			}
			e.Rule, e.Path = texts[e.Line], texts[e.Line]
			l.Note(&e)
		}
		// Nor do the lines and paths that are allowed.
		for n := range 7 * 24 {
			e := allowed(robot)
			e.Time = start.Add(72*24*hour + time.Duration(n)*hour)
			l.Note(&e)
		}
		for n := range mostPaths {
			e := allowed(robot)
			e.Site, e.Time, e.Version, e.Record = sites[site], start.Add(72*24*hour), long, long
			e.Line, e.Rule, e.Path = n%mostLines, fmt.Sprint("a", n%mostLines, long), fmt.Sprint("/a", n, long)
			l.Note(&e)
		}
	}
	for i := range 2000 {
		fill(i%256, fmt.Sprintf("%04d%s", i, long))
	}
	full := heap() - before
	for i := range sites {
		fill(i, "another-"+long)
	}
	flood(l, start)
	e := disallowed("figtree")
	for i := range million() {
		e.Path = fmt.Sprint("/", i, long)
		l.Note(&e)
	}
	if got := heap() - before; got > 60 || full > 60 {
		t.Errorf("a ledger that is full: got %.1f MiB, and %.1f with many more sites, want at most 60", full, got)
	} else {
		t.Logf("a ledger that is full takes %.1f MiB, and %.1f with many more sites, counted as %.1f", full, got, float64(l.bytes.Load())/(1<<20))
	}
	if robots, sites := l.Rows(); robots+sites < 1500 || sites < 1000 {
		t.Errorf("got %d robots on %d sites, want 500 on 1000", robots, sites)
	}
	if stored := len(l.Marshal()); stored > 60<<20 {
		t.Errorf("got %d bytes to store and to publish, want at most 60 MiB", stored)
	}
}

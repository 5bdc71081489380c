package ratelimit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// first bans with the first offence, and third with the third.
var (
	first = BanPolicy{Offences: 1, Within: 60 * s, For: 600 * s}
	third = BanPolicy{Offences: 3, Within: 60 * s, For: 600 * s}
)

// figtree is the robot of the tests that need but one.
var figtree = Key{Site: "a.example", Robot: "figtree"}

// ban returns a ban of a robot, from so long after start for a time.
func ban(robot string, since, length time.Duration) Ban {
	return Ban{
		Key: Key{Site: "a.example", Robot: robot}, Address: "192.0.2.1",
		Since: start.Add(since), Until: start.Add(since + length), Line: 7, Rule: "Disallow: /",
	}
}

// mustFind fails the test unless b is banned from since to until.
func mustFind(t *testing.T, bans *Bans, b Ban, at, since, until time.Duration) {
	t.Helper()
	got, ok := bans.Find(b.Key, b.Address, start.Add(at))
	b.Since, b.Until = start.Add(since), start.Add(until)
	if !ok || !sameBan(got, b) {
		t.Fatalf("at %v: got %+v, %v, want %+v", at, got, ok, b)
	}
}

// mustNotFind fails the test if the client of b is banned.
func mustNotFind(t *testing.T, bans *Bans, b Ban, at time.Duration) {
	t.Helper()
	if got, ok := bans.Find(b.Key, b.Address, start.Add(at)); ok {
		t.Fatalf("at %v: got %+v, want no ban", at, got)
	}
}

func sameBan(a, b Ban) bool {
	same := a.Since.Equal(b.Since) && a.Until.Equal(b.Until)
	a.Since, a.Until = b.Since, b.Until
	return same && a == b
}

func TestBansNone(t *testing.T) {
	bans := NewMemory(1).Bans()
	if !bans.None(start) {
		t.Error("without a ban: got false, want true")
	}
	bans.Put(ban("figtree", 0, 10*s))
	if bans.None(start.Add(9 * s)) {
		t.Error("while a ban is in force: got true, want false")
	}
	if !bans.None(start.Add(10 * s)) {
		t.Error("when it has ended: got false, want true")
	}
	if !new(Bans).None(start) {
		t.Error("the zero Bans: got false, want true")
	}
}

func TestBansFind(t *testing.T) {
	bans := NewMemory(1).Bans()
	b := ban("figtree", 0, 10*s)
	bans.Put(b)
	mustFind(t, bans, b, 0, 0, 10*s)
	mustFind(t, bans, b, 10*s-1, 0, 10*s)
	mustNotFind(t, bans, b, 10*s)
	mustNotFind(t, bans, ban("unhipbot", 0, 10*s), 0)
}

func TestBansFindAfterAnotherHasEnded(t *testing.T) {
	bans := NewMemory(1).Bans()
	long, short := ban("long", 0, 30*s), ban("short", 0, 10*s)
	bans.Put(long)
	bans.Put(short)
	mustFind(t, bans, long, 20*s, 0, 30*s)
	mustNotFind(t, bans, short, 20*s)
}

func TestBansPutKeepsTheLaterEnd(t *testing.T) {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		bans := NewMemory(1).Bans()
		both := []Ban{ban("figtree", 0, 10*s), ban("figtree", -5*s, 30*s)}
		for _, i := range order {
			bans.Put(both[i])
		}
		mustFind(t, bans, both[1], 0, -5*s, 25*s)
	}
}

func TestBansPutOfNoTime(t *testing.T) {
	bans := NewMemory(1).Bans()
	for _, length := range []time.Duration{0, -s} {
		bans.Put(ban("figtree", 0, length))
	}
	if got := bans.List(start.Add(-hour)); len(got) != 0 || bans.Revision() != 0 {
		t.Errorf("bans that end when they begin, or before: got %+v in force at revision %d, want none at 0", got, bans.Revision())
	}
}

// TestBansPutForEver covers times that do not fit in nanoseconds since 1970.
func TestBansPutForEver(t *testing.T) {
	bans := NewMemory(1).Bans()
	b := ban("figtree", 0, 0)
	b.Since, b.Until = time.Time{}, time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC)
	bans.Put(b)
	got, ok := bans.Find(b.Key, b.Address, start)
	if !ok || got != b {
		t.Errorf("a ban from year 1 to 9999: got %+v, %v, want it in force", got, ok)
	}
}

// TestBansCanBeWritten has a ban whose end is in the year 10000, but for the time zone it is told in.
func TestBansCanBeWritten(t *testing.T) {
	b := NewMemory(1).Bans()
	late := time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -60*60))
	b.Put(Ban{Key: figtree, Since: start, Until: late})
	for _, ban := range b.List(start) {
		if _, err := ban.Until.UTC().MarshalJSON(); err == nil && start.Before(ban.Until) {
			return
		}
	}
	t.Errorf("a ban until %v: got %+v, want one whose end can be written", late, b.List(start))
}

func TestBansLift(t *testing.T) {
	m := NewMemory(1)
	b := ban("figtree", 0, 10*s)
	if m.Bans().Lift(b.Key, b.Address) {
		t.Error("Lift of a client that is not banned: got true, want false")
	}
	m.Bans().Put(b)
	if !m.Bans().Lift(b.Key, b.Address) {
		t.Error("Lift of a client that is banned: got false, want true")
	}
	mustNotFind(t, m.Bans(), b, s)
	if !m.bans.none(start.UnixNano()) {
		t.Error("Bans of which the only one was lifted: want none at a glance")
	}
}

func TestBansPutForgetsOffences(t *testing.T) {
	m := NewMemory(1)
	for _, second := range []time.Duration{0, 10 * s, 20 * s, 30 * s} {
		b := Ban{Key: figtree, Since: start.Add(second), Until: start.Add(second + s)}
		m.Bans().Put(b)
		if r := offendOnce(m, "figtree", &third, b.Until); r.New {
			t.Errorf("an offence %v after start, the first since a ban: got %+v, want no ban", second+s, r)
		}
	}
}

// TestOffendTwice is the moment when two offences come at once and neither finds the
// other's ban.
func TestOffendTwice(t *testing.T) {
	bans := NewMemory(1).Bans()
	r := Request{Key: figtree, Ban: &first, Offence: true}
	one, isNew := bans.offend(1, &r, start.UnixNano())
	if one == nil || !isNew {
		t.Fatalf("first offence: got %+v, %v, want a new ban", one, isNew)
	}
	if two, isNew := bans.offend(1, &r, start.UnixNano()); two != one || isNew {
		t.Errorf("second offence: got %+v, %v, want the same ban", two, isNew)
	}
}

func TestBansLiftForgetsOffences(t *testing.T) {
	m := NewMemory(1)
	offend := Request{Key: figtree, Ban: &third, Offence: true}
	for range 5 {
		for range third.Offences - 1 {
			if r, _ := m.Take(context.Background(), offend, start); r.New {
				t.Fatalf("an offence after a Lift: got %+v, want no ban", r)
			}
		}
		m.Bans().Lift(figtree, "")
	}
}

func TestBansList(t *testing.T) {
	bans := NewMemory(1).Bans()
	for i, b := range []Ban{ban("old", 0, 30*s), ban("new", 5*s, 20*s), ban("over", 1*s, 2*s), ban("b", 3*s, 30*s), ban("a", 3*s, 30*s)} {
		bans.Put(b)
		if got := bans.Revision(); got != uint64(i+1) {
			t.Errorf("revision after %d bans: got %d", i+1, got)
		}
	}
	var got []string
	for _, b := range bans.List(start.Add(6 * s)) {
		got = append(got, b.Key.Robot)
	}
	if want := []string{"new", "a", "b", "old"}; !slices.Equal(got, want) {
		t.Errorf("bans in force, the newest first: got %q, want %q", got, want)
	}
}

func TestBansRevision(t *testing.T) {
	m := NewMemory(1)
	b := ban("figtree", 0, 10*s)
	last := m.Bans().Revision()
	for _, step := range []struct {
		name    string
		do      func()
		changes bool
	}{
		{"a ban is put", func() { m.Bans().Put(b) }, true},
		{"it is put again", func() { m.Bans().Put(b) }, false},
		{"it is found", func() { m.Bans().Find(b.Key, b.Address, start) }, false},
		{"all are listed", func() { m.Bans().List(start) }, false},
		{"it has ended", func() { m.Bans().Find(b.Key, b.Address, start.Add(hour)) }, false},
		{"it is lifted", func() { m.Bans().Lift(b.Key, b.Address) }, true},
		{"it is lifted again", func() { m.Bans().Lift(b.Key, b.Address) }, false},
		{"a client offends", func() { offendOnce(m, "unhipbot", &third, start) }, false},
		{"a client gets banned", func() { offendOnce(m, "figtree", &first, start) }, true},
		{"a banned client returns", func() { offendOnce(m, "figtree", &first, start) }, false},
		{"a ban is moved, as the clock stepped back", func() { offendOnce(m, "figtree", &first, start.Add(-s)) }, true},
	} {
		step.do()
		if got := m.Bans().Revision(); (got != last) != step.changes {
			t.Errorf("revision when %s: got %d after %d, want a change: %v", step.name, got, last, step.changes)
		}
		last = m.Bans().Revision()
	}
}

// offendOnce has a robot offend once.
func offendOnce(m *Memory, robot string, p *BanPolicy, now time.Time) Result {
	r, _ := m.Take(context.Background(), Request{Key: Key{Site: "a.example", Robot: robot}, Ban: p, Offence: true}, now)
	return r
}

// TestBanWhenTheClockStepsBack wants a ban for its own length, counted from now.
func TestBanWhenTheClockStepsBack(t *testing.T) {
	bans := NewMemory(1).Bans()
	b := ban("figtree", hour, 10*s)
	bans.Put(b)
	if got := bans.List(start); len(got) != 1 || !got[0].Until.Equal(start.Add(10*s)) {
		t.Errorf("bans in force an hour before: got %+v, want one until ten seconds from then", got)
	}
	mustFind(t, bans, b, 0, 0, 10*s)
	mustFind(t, bans, b, 9*s, 0, 10*s)
	mustNotFind(t, bans, b, 10*s)
	mustNotFind(t, bans, b, hour)
}

func TestBanKeepsNothingOfTheRequest(t *testing.T) {
	for _, whole := range []Request{
		{Key: Key{Site: "a.example", Robot: "figtree", Standing: "verified"}, Address: "192.0.2.1", Rule: "Disallow: /"},
		{Key: Key{Site: "a.example"}},
	} {
		text := strings.Clone(whole.Key.Site)
		r := whole
		r.Key.Site, r.Ban, r.Offence = text, &first, true
		m := NewMemory(1)
		got, _ := m.Take(context.Background(), r, start)
		if got.Ban == nil || got.Ban.Key != whole.Key || got.Ban.Address != whole.Address || got.Ban.Rule != whole.Rule {
			t.Fatalf("ban for %+v: got %+v", r, got.Ban)
		}
		if unsafe.StringData(got.Ban.Key.Site) == unsafe.StringData(text) {
			t.Errorf("text of the ban for %+v: got that of the request, want a copy", r)
		}
	}
}

func TestZeroBans(t *testing.T) {
	var m Memory
	b := ban("figtree", 0, 10*s)
	m.Bans().Put(b)
	for _, at := range []time.Time{start, time.Unix(-100, 0), {}} {
		if got, ok := m.Bans().Find(b.Key, b.Address, at); ok {
			t.Errorf("Find at %v: got %+v, want none", at, got)
		}
	}
	if m.Bans().Lift(b.Key, b.Address) || len(m.Bans().List(start)) != 0 {
		t.Error("the Bans of the zero Memory: got one, want none")
	}
	if r := offendOnce(&m, "figtree", &first, start); r != (Result{}) {
		t.Errorf("an offence in the zero Memory: got %+v, want nothing", r)
	}
}

// TestBansWithAClockNeverSet covers the zero time, at which nobody is banned.
func TestBansWithAClockNeverSet(t *testing.T) {
	m := NewMemory(1)
	offendOnce(m, "figtree", &first, start)
	for _, now := range []time.Time{{}, time.Unix(1<<40, 0)} {
		if r := offendOnce(m, "figtree", &first, now); r != (Result{}) {
			t.Errorf("an offence at %v: got %+v, want nothing", now, r)
		}
		if got := m.Bans().List(now); len(got) != 0 {
			t.Errorf("bans in force at %v: got %+v, want none", now, got)
		}
	}
}

func TestBansIn1970(t *testing.T) {
	for _, now := range []time.Time{time.Unix(-1000, 0), time.Unix(-600, 0), time.Unix(0, 0)} {
		m := NewMemory(1)
		if r := offendOnce(m, "figtree", &first, now); !r.New {
			t.Errorf("offence at %v: got %+v, want a new ban", now, r)
		}
		if _, ok := m.Bans().Find(figtree, "", now.Add(599*s)); !ok {
			t.Errorf("the ban of %v, 599 s later: got none, want it in force", now)
		}
	}
}

func TestBansFindDoesNotAllocate(t *testing.T) {
	bans := NewMemory(1).Bans()
	bans.Put(ban("figtree", 0, hour))
	for _, robot := range []string{"figtree", "unhipbot"} {
		k := Key{Site: "a.example", Robot: robot}
		if got := testing.AllocsPerRun(1000, func() { bans.Find(k, "192.0.2.1", start) }); got != 0 {
			t.Errorf("allocations of Find for %q: got %v, want 0", robot, got)
		}
	}
}

func TestTakeUnderAPolicyDoesNotAllocate(t *testing.T) {
	m := NewMemory(DefaultMaxKeys)
	offendOnce(m, "unhipbot", &first, start)
	ctx := context.Background()
	requests := map[string]Request{
		"admitted":      {Key: figtree, Limit: Limit{Interval: 1, Burst: 1}, Ban: &third, Address: "192.0.2.1"},
		"banned":        {Key: Key{Site: "a.example", Robot: "unhipbot"}, Ban: &third},
		"not paced":     {Key: figtree, Ban: &third, Address: "192.0.2.1"},
		"never banned":  {Key: figtree, Offence: true},
		"without rules": {},
	}
	for name, r := range requests {
		if got := testing.AllocsPerRun(1000, func() { _, _ = m.Take(ctx, r, start) }); got != 0 {
			t.Errorf("allocations of a Take that is %s: got %v, want 0", name, got)
		}
	}
}

// TestBansUnderContention has clients get banned, lifted, put, found and listed all
// at once: who offends often enough is banned, whatever the others do.
func TestBansUnderContention(t *testing.T) {
	m := NewMemory(64)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 500 {
				robot := fmt.Sprintf("robot-%d-%d", worker, i)
				now := start.Add(time.Duration(i-worker) * time.Millisecond)
				for n := range third.Offences {
					if r := offendOnce(m, robot, &third, now); r.New != (n == third.Offences-1) {
						t.Errorf("offence %d of %s: got %+v", n+1, robot, r)
					}
				}
				k := Key{Site: "a.example", Robot: robot}
				if _, ok := m.Bans().Find(k, "", now); !ok || !m.Bans().Lift(k, "") {
					t.Errorf("%s, banned just now: not found", robot)
				}
				m.Bans().Put(ban("shared-"+strconv.Itoa(i), time.Duration(worker)*s, hour))
				m.Bans().Find(Key{Site: "a.example", Robot: "shared-" + strconv.Itoa(i)}, "192.0.2.1", now)
			}
		})
	}
	for range 50 {
		m.Bans().List(start)
	}
	wg.Wait()
	if got := len(m.Bans().List(start)); got != 500 {
		t.Errorf("bans in force in the end: got %d, want 500", got)
	}
}

func TestBansLen(t *testing.T) {
	bans := NewMemory(1).Bans()
	bans.Put(ban("a", 0, 10*s))
	bans.Put(ban("b", 0, 20*s))
	for after, want := range map[time.Duration]int{0: 2, 10 * s: 1, 20 * s: 0} {
		if got := bans.Len(start.Add(after)); got != want {
			t.Errorf("after %v: got %d, want %d", after, got, want)
		}
	}
	if got := new(Bans).Len(start); got != 0 {
		t.Errorf("zero Bans: got %d, want 0", got)
	}
}

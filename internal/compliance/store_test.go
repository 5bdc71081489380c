package compliance

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestWhatIsStoredIsReadAsItWas(t *testing.T) {
	l, read := sampleLedger(), NewLedger(Options{})
	note(l, Event{Time: start, Site: "b.example", RobotsTxt: true, Version: "one"}, 1)
	if err := read.Unmarshal(l.Marshal()); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "report", asJSON(t, read.Snapshot(week)), asJSON(t, l.Snapshot(week)))
}

func TestTheRowOfOtherRobotsIsStoredToo(t *testing.T) {
	l, read := NewLedger(Options{MaxRobots: 1, MaxSites: 1}), NewLedger(Options{MaxRobots: 1, MaxSites: 1})
	for i := range 5 {
		note(l, disallowed(fmt.Sprint("robot-", i)), 5-i)
		e := disallowed("figtree")
		e.Site = fmt.Sprint(i, ".example")
		note(l, e, 1)
	}
	if err := read.Unmarshal(l.Marshal()); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "report", asJSON(t, read.Snapshot(start)), asJSON(t, l.Snapshot(start)))
}

func TestUnmarshalAddsToWhatIsThere(t *testing.T) {
	l := NewLedger(Options{})
	note(l, disallowed("figtree"), 2)
	data := l.Marshal()
	note(l, disallowed("figtree"), 3)
	if err := l.Unmarshal(data); err != nil {
		t.Fatal(err)
	}
	if got := only(t, l); got.Requests != 7 || got.Lines[0].Requests != 7 {
		t.Errorf("got %d requests, %+v, want 7", got.Requests, got.Lines)
	}
}

func TestUnmarshalWhereThereIsLessRoom(t *testing.T) {
	large, small := NewLedger(Options{}), NewLedger(Options{MaxRobots: 3})
	for i := range 10 {
		note(large, allowed(fmt.Sprint(i)), i+1)
	}
	if err := small.Unmarshal(large.Marshal()); err != nil {
		t.Fatal(err)
	}
	known := byName(small)
	for i := 7; i < 10; i++ {
		if got := known[fmt.Sprint(i)].Requests; got != uint64(i+1) {
			t.Errorf("requests of %d: got %d, want %d", i, got, i+1)
		}
	}
	if got := small.Snapshot(start).Total.Requests; got != 55 {
		t.Errorf("all requests: got %d, want 55", got)
	}
}

// TestDamagedDataLeavesTheLedgerAsItWas cuts what was stored at every place, and changes every octet.
func TestDamagedDataLeavesTheLedgerAsItWas(t *testing.T) {
	from := NewLedger(Options{})
	note(from, disallowed("unhipbot"), 3)
	note(from, allowed("figtree"), 3)
	data := string(from.Marshal())

	l := NewLedger(Options{})
	note(l, disallowed("figtree"), 1)
	want := asJSON(t, l.Snapshot(start))
	refuse := func(what, data string) {
		t.Helper()
		err := l.Unmarshal([]byte(data))
		if err == nil {
			t.Errorf("%s: got no error", what)
		} else if !strings.HasPrefix(err.Error(), "reading a stored ledger: it") {
			t.Errorf("%s: got %q", what, err)
		}
	}
	for i := range data {
		refuse(fmt.Sprint("cut after ", i, " octets"), data[:i])
		refuse(fmt.Sprint("octet ", i, " changed"), data[:i]+string(data[i]^0x10)+data[i+1:])
	}
	refuse("more behind it", data+"x")
	refuse("something else", strings.Repeat("Disallow: /\n", 100))
	refuse("another version", strings.Replace(data, "ledger 1\n", "ledger 2\n", 1))
	if got := asJSON(t, l.Snapshot(start)); got != want {
		t.Errorf("afterwards: got %s, want %s", got, want)
	}
}

func TestMergeOfAFleet(t *testing.T) {
	fleet := NewLedger(Options{})
	for i := range 3 {
		node := NewLedger(Options{})
		e := disallowed("figtree")
		e.Time = start.Add(time.Duration(i) * hour)
		e.Version, e.Path = fmt.Sprint("v", i), fmt.Sprint("/", i)
		note(node, e, i+1)
		node.Note(&Event{Time: e.Time, Site: e.Site, Robot: e.Robot, Class: e.Class, Version: e.Version, RobotsTxt: true})
		fleet.Merge(node)
	}
	r := fleet.Snapshot(start.Add(3 * hour))
	got := r.Sites[0].Robots[0]
	if got.Requests != 6 || got.Fetches != 3 || got.FetchedVersion != "v2" || r.Sites[0].Version != "v2" {
		t.Errorf("got %d requests, %d readings, the last of %q, want 6, 3, v2", got.Requests, got.Fetches, got.FetchedVersion)
	}
	if !got.First.Equal(start) || !got.Last.Equal(start.Add(2*hour)) || len(got.Hours) != 3 {
		t.Errorf("got %v to %v, hours %v", got.First, got.Last, got.Hours)
	}
	if len(got.Evidence) != 6 || got.Evidence[0].Path != "/2" || got.Evidence[5].Path != "/0" {
		t.Errorf("evidence: got %+v, want 6, the newest first", got.Evidence)
	}
}

// TestMergeKeepsTheNewestAndTheFirstEvidence merges more than there is room for, both ways.
func TestMergeKeepsTheNewestAndTheFirstEvidence(t *testing.T) {
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		nodes := [2]*Ledger{NewLedger(Options{}), NewLedger(Options{})}
		for i := range 40 {
			e := disallowed("figtree")
			e.Time, e.Path = start.Add(time.Duration(i)*time.Second), fmt.Sprint("/", i)
			nodes[i%2].Note(&e)
		}
		l := NewLedger(Options{})
		for _, i := range order {
			l.Merge(nodes[i])
		}
		got := only(t, l).Evidence
		if len(got) != 11 || got[0].Path != "/39" || got[9].Path != "/30" || got[10].Path != "/0" {
			t.Errorf("order %v: got %+v, want 39 to 30 and 0", order, got)
		}
	}
}

func TestMergeWithItselfDoubles(t *testing.T) {
	l := NewLedger(Options{})
	note(l, disallowed("figtree"), 2)
	l.Merge(l)
	if got := only(t, l).Requests; got != 4 {
		t.Errorf("got %d requests, want 4", got)
	}
}

// TestCountsSaturate merges the largest counts that can be stored.
func TestCountsSaturate(t *testing.T) {
	r := newRow(key{site: "a.example", robot: "figtree"})
	r.first, r.last, r.fetches = 0, 1, maxCount
	r.tallies[Disallowed] = tally{maxCount, maxCount}
	r.hours[0] = period{0, 1<<32 - 1, 1<<32 - 1}
	data := seal(r.append([]byte(storedHead + "\x01")))
	l := NewLedger(Options{})
	for range 3 {
		if err := l.Unmarshal(data); err != nil {
			t.Fatal(err)
		}
	}
	got := l.Snapshot(time.Unix(0, 0)).Sites[0].Robots[0]
	if got.Requests != maxCount || got.Refused != maxCount || got.Fetches != maxCount || got.Hours[0].Requests != 1<<32-1 {
		t.Errorf("got %+v, %d readings, hours %v, want the largest counts", got.Tally, got.Fetches, got.Hours)
	}
}

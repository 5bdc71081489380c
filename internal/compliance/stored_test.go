package compliance

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
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

// TestDamagedDataLeavesTheLedgerAsItWas cuts what was stored at every place, and changes every byte.
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
		refuse(fmt.Sprint("cut after ", i, " bytes"), data[:i])
		refuse(fmt.Sprint("byte ", i, " changed"), data[:i]+string(data[i]^0x10)+data[i+1:])
	}
	refuse("more behind it", data+"x")
	refuse("something else", strings.Repeat("Disallow: /\n", 100))
	refuse("another version", strings.Replace(data, "ledger 4\n", "ledger 5\n", 1))
	if got := asJSON(t, l.Snapshot(start)); got != want {
		t.Errorf("afterwards: got %s, want %s", got, want)
	}
}

// TestAnEarlierFormatIsRefused reads what a ledger stored before it was CBOR.
func TestAnEarlierFormatIsRefused(t *testing.T) {
	data, err := os.ReadFile("testdata/format1.ledger")
	if err != nil {
		t.Fatal(err)
	}
	l := NewLedger(Options{})
	note(l, disallowed("figtree"), 1)
	want := asJSON(t, l.Snapshot(start))
	const wantError = "reading a stored ledger: it was written by an earlier version, in format 1; this one reads formats 2 to 4"
	if err := l.Unmarshal(data); err == nil || err.Error() != wantError {
		t.Errorf("got %v, want %s", err, wantError)
	}
	mustEqual(t, "afterwards", asJSON(t, l.Snapshot(start)), want)
}

// TestRowsThatNoLedgerHoldsAreRefused has the right checksum, and one thing in a row that is not.
func TestRowsThatNoLedgerHoldsAreRefused(t *testing.T) {
	long := strings.Repeat("x", 256)
	for what, change := range map[string]func(*storedRow){
		"a long site":                    func(s *storedRow) { s.Site = long },
		"a long name":                    func(s *storedRow) { s.Robot = long },
		"a long version":                 func(s *storedRow) { s.Version = long },
		"a long record":                  func(s *storedRow) { s.Record = long },
		"a long version that was read":   func(s *storedRow) { s.Read = long },
		"a class that is none":           func(s *storedRow) { s.Class = class(len(classWords)) },
		"a standing that is none":        func(s *storedRow) { s.Standing = standing(len(standingWords)) },
		"others with a name":             func(s *storedRow) { s.Class = others },
		"a first time beyond the last":   func(s *storedRow) { s.First = lastMoment + 1 },
		"a last time beyond the last":    func(s *storedRow) { s.Last = 1<<64 - 1 },
		"a reading beyond the last time": func(s *storedRow) { s.Fetched = 1 << 63 },
		"too many readings":              func(s *storedRow) { s.Fetches = maxCount + 1 },
		"a verdict too many":             func(s *storedRow) { s.Tallies = make([]tally, verdicts+1) },
		"a verdict too few":              func(s *storedRow) { s.Tallies = s.Tallies[1:] },
		"too many requests":              func(s *storedRow) { s.Tallies[TooFast].Requests = maxCount + 1 },
		"more refused than requests":     func(s *storedRow) { s.Tallies[TooFast] = tally{Requests: 2, Refused: 3} },
		"refused and exempt":             func(s *storedRow) { s.Tallies[Exempt] = tally{Requests: 2, Refused: 1} },
		"a day too many":                 func(s *storedRow) { s.Days = make([]day, keptDays+1) },
		"an hour too many":               func(s *storedRow) { s.Hours = make([]period, keptHours+1) },
		"an hour before 1970":            func(s *storedRow) { s.Hours[0].Number = -1 },
		"a day after 9999":               func(s *storedRow) { s.Days[0].Number = 1<<31 - 1 },
		"more bytes than can be":         func(s *storedRow) { s.Days[0].Bytes = maxCount + 1 },
		"a cost that nothing has":        func(s *storedRow) { s.Cost.Micros = maxCount + 1 },
		"a day twice":                    func(s *storedRow) { s.Days = append(s.Days, s.Days[0]) },
		"a day without requests":         func(s *storedRow) { s.Days = append(s.Days, day{}) },
		"a line too many":                func(s *storedRow) { s.Lines = make([]storedCount, mostLines+1) },
		"a long rule":                    func(s *storedRow) { s.Lines[0].Text = long },
		"a line below zero":              func(s *storedRow) { s.Lines[0].Line = -1 },
		"a line out of reach":            func(s *storedRow) { s.Lines[0].Line = maxLine + 1 },
		"more in excess than there are":  func(s *storedRow) { s.Lines[0].Over = 4 },
		"a long path":                    func(s *storedRow) { s.Paths[0].Text = long },
		"too many of a path":             func(s *storedRow) { s.Paths[0].Count = maxCount + 1 },
		"lines without evidence":         func(s *storedRow) { s.Evidence = nil },
		"evidence too many":              func(s *storedRow) { s.Evidence = make([]storedEvidence, keptEvidence+2) },
		"evidence with no verdict":       func(s *storedRow) { s.Evidence[0].Verdict = Verdict(verdicts) },
		"evidence beyond the last time":  func(s *storedRow) { s.Evidence[0].Time = lastMoment + 1 },
		"evidence with no status":        func(s *storedRow) { s.Evidence[1].Status = 1000 },
		"evidence with no line":          func(s *storedRow) { s.Evidence[1].Line = -1 },
		"evidence with a long method":    func(s *storedRow) { s.Evidence[1].Method = long },
		"evidence with a long path":      func(s *storedRow) { s.Evidence[1].Path = long },
		"evidence with a long rule":      func(s *storedRow) { s.Evidence[1].Rule = long },
		"an address in a network":        func(s *storedRow) { s.Evidence[0].Address = netip.MustParsePrefix("203.0.113.9/24") },
		"an address in another":          func(s *storedRow) { s.Evidence[0].Address = netip.MustParsePrefix("::ffff:0:0/96") },
	} {
		l := NewLedger(Options{})
		note(l, disallowed("figtree"), 3)
		var bad *storedRow
		l.each(func(r *row) { bad = newStoredRow(r.copy()) })
		good := sealRows(t, bad)
		change(bad)
		read := NewLedger(Options{})
		err := read.Unmarshal(sealRows(t, bad))
		if err == nil || !strings.HasPrefix(err.Error(), "reading a stored ledger: its robot 1 ") {
			t.Errorf("%s: got %v, want an error", what, err)
		}
		if rows, _ := read.Rows(); rows != 0 {
			t.Errorf("%s: got %d rows", what, rows)
		}
		if err := read.Unmarshal(good); err != nil {
			t.Errorf("without %s: got %v", what, err)
		}
	}
	row := newStoredRow(newRow(key{}))
	for what, item := range map[string]any{
		"nothing": nil, "a row": row, "fewer fields": []int{}, "null": &storedAsked{},
		"paths too many": &storedAsked{Lines: []storedCount{}, Paths: make([]storedCount, mostPaths+1)},
		"a long path":    &storedAsked{Lines: []storedCount{}, Paths: []storedCount{{Text: long}}},
	} {
		if err := NewLedger(Options{}).Unmarshal(sealItems(t, row, item)); err == nil {
			t.Errorf("%s instead of what was allowed: got no error", what)
		}
	}
	if err := NewLedger(Options{}).Unmarshal(sealItems(t, row)); err == nil {
		t.Error("a row alone: got no error")
	}
	for what, item := range map[string]any{
		"a number": 1, "a text": "x", "nothing": nil, "fewer fields": []int{1, 2}, "a map": map[string]int{"Site": 1}, "nesting": [][][][]int{{{{1}}}},
	} {
		if err := NewLedger(Options{}).Unmarshal(sealRows(t, item)); err == nil {
			t.Errorf("%s instead of a row: got no error", what)
		}
	}
	if err := NewLedger(Options{}).Unmarshal(seal([]byte(storedHead + "\x9f\xff"))); err == nil {
		t.Error("an array without its length: got no error")
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
	r.tallies[Disallowed] = tally{Requests: maxCount, Refused: maxCount}
	r.hours = []period{{Requests: 1<<32 - 1, Disobedient: 1<<32 - 1}}
	data := sealRows(t, newStoredRow(r))
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

// sealRows returns rows as they are stored, whatever is in them. Of none is it known what was allowed.
func sealRows(t *testing.T, rows ...any) []byte {
	t.Helper()
	var items []any
	for _, r := range rows {
		items = append(items, r, &storedAsked{Lines: []storedCount{}, Paths: []storedCount{}})
	}
	return sealItems(t, items...)
}

// sealItems returns items as they are stored, whatever they are.
func sealItems(t *testing.T, items ...any) []byte {
	t.Helper()
	b := bytes.NewBufferString(storedHead)
	for _, item := range items {
		if err := storedEncoding.MarshalToBuffer(item, b); err != nil {
			t.Fatal(err)
		}
	}
	return seal(b.Bytes())
}

// FuzzUnmarshal reads any bytes, with a right checksum too. It holds four properties:
//
//   - refused whole: what is refused leaves the ledger as it was;
//   - bounded: what is read stays within the bounds of a ledger;
//   - shown: it can be, in every form;
//   - stored again: it is, and read again as the same.
func FuzzUnmarshal(f *testing.F) {
	small := NewLedger(Options{})
	note(small, disallowed("figtree"), 3)
	note(small, allowed("unhipbot"), 1)
	full := NewLedger(Options{MaxRobots: 2, MaxSites: 1})
	for _, robot := range []string{"a", "b", "c"} {
		note(full, disallowed(robot), 12)
	}
	for _, l := range []*Ledger{NewLedger(Options{}), small, full} {
		data := l.Marshal()
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Add([]byte(storedHead))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		checkRead(t, data)
		if len(data) > len(storedHead) {
			checkRead(t, seal(append([]byte(storedHead), data[len(storedHead):max(len(data)-4, len(storedHead))]...)))
		}
	})
}

// checkRead holds one Unmarshal to the promises of FuzzUnmarshal.
func checkRead(t *testing.T, data []byte) {
	t.Helper()
	l := NewLedger(Options{MaxRobots: 5, MaxSites: 2})
	note(l, disallowed("figtree"), 1)
	before := asJSON(t, l.Snapshot(week))
	if err := l.Unmarshal(data); err != nil {
		if after := asJSON(t, l.Snapshot(week)); after != before {
			t.Fatalf("refused whole: %v: got %s, want %s", err, after, before)
		}
		return
	}
	times := []time.Time{week, time.UnixMilli(lastMoment), {}}
	for i, now := range times {
		r := l.Snapshot(now)
		checkBounds(t, r)
		var size counter
		if i == len(data)%len(times) { // a page takes longer than all the rest
			if err := WritePage(&size, r, PageOptions{}); err != nil || size.n > 1<<20 {
				t.Fatalf("shown: got %d bytes of a page, %v", size.n, err)
			}
		}
		if err := r.WriteEvidence(&size); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteRobots(&size); err != nil {
			t.Fatal(err)
		}
	}
	again := NewLedger(l.options)
	if err := again.Unmarshal(l.Marshal()); err != nil {
		t.Fatalf("stored again: %v", err)
	}
	mustEqual(t, "stored again", asJSON(t, again.Snapshot(week).Total), asJSON(t, l.Snapshot(week).Total))
}

// checkBounds fails the test if a report holds more than a ledger for 5 robots on 2 sites
// may have.
func checkBounds(t *testing.T, r *Report) {
	t.Helper()
	if n, _ := rows(r); n > 5 || len(r.Sites) > 3 {
		t.Fatalf("bounded: got %d rows on %d sites, want at most 5 on 3", n, len(r.Sites))
	}
	for _, s := range r.Sites {
		for _, robot := range s.Robots {
			if len(s.Site) > maxSite || len(robot.Robot) > maxRobot || len(robot.Record) > maxShort ||
				len(robot.Hours) > keptHours || len(robot.Days) > keptDays ||
				len(robot.Lines) > mostLines || len(robot.Paths) > shownPaths || len(robot.AllowedPaths) > shownPaths || len(robot.Evidence) > keptEvidence+1 {
				t.Fatalf("bounded: got more than there is room for: %s", asJSON(t, robot))
			}
			if robot.Refused > robot.Disobedient || robot.Disobedient > robot.Requests || robot.Obedience < 0 || robot.Obedience > 1 {
				t.Fatalf("bounded: got %+v, want each a part of the one before", robot.Tally)
			}
			for _, e := range robot.Evidence {
				if len(e.Path) > maxPath || len(e.Rule) > maxRule || len(e.Method) > maxMethod {
					t.Fatalf("bounded: got more than there is room for: %+v", e)
				}
			}
		}
	}
}

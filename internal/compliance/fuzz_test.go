package compliance

import (
	"testing"
	"time"
)

// FuzzUnmarshal reads any octets, with a right checksum too. It holds four properties:
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
				t.Fatalf("shown: got %d octets of a page, %v", size.n, err)
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
				len(robot.Lines) > mostFrequent || len(robot.Paths) > mostFrequent || len(robot.Evidence) > keptEvidence+1 {
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

package compliance

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestReportAsJSON(t *testing.T) {
	r := fewRobots()
	text := asJSON(t, r)
	golden(t, "report.json", text+"\n")
	var read Report
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "read again", asJSON(t, read), text)
}

func TestOrderOfSitesAndRobots(t *testing.T) {
	l := NewLedger(Options{})
	for site, bad := range map[string]int{"a.example": 1, "b.example": 3, "c.example": 1} {
		for robot, n := range map[string]int{"obeys": 0, "figtree": bad, "ananas": bad} {
			e := disallowed(robot)
			e.Site = site
			note(l, e, n)
			e.Verdict = Allowed
			note(l, e, 5)
		}
	}
	note(l, Event{Time: start, Site: "c.example", Robot: "obeys more", Class: "robot"}, 6)
	var got []string
	for _, s := range l.Snapshot(start).Sites {
		got = append(got, s.Site)
		for _, r := range s.Robots {
			got = append(got, r.Robot)
		}
	}
	want := "b.example ananas figtree obeys c.example ananas figtree obeys more obeys a.example ananas figtree obeys"
	if got := strings.Join(got, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEmptyReport(t *testing.T) {
	got := asJSON(t, NewLedger(Options{}).Snapshot(start))
	golden(t, "empty.json", got+"\n")
}

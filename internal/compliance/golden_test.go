package compliance

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata instead of comparing with it")

// golden compares a text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, path, got, string(want))
}

// fewRobots returns the report of a small ledger that has something of everything.
func fewRobots() *Report {
	l := NewLedger(Options{})
	fig := Event{Time: start, Site: "www.example.com", Robot: "FigBot", Class: "robot", Standing: "verified", Version: "9f2c61", Record: "*", Method: "GET", Path: "/", Address: "192.0.2.4", Status: 200}
	note(l, fig, 12345)
	read := fig
	read.RobotsTxt, read.Version = true, "0ld"
	note(l, read, 1)
	fast := fig
	fast.Verdict, fast.Refused, fast.Status, fast.Line, fast.Rule = TooFast, true, 429, 5, "Crawl-delay: 5"
	note(l, fast, 3)
	bad := Event{Time: start.Add(hour), Site: "www.example.com", Robot: "=cmd", Class: "robot", Standing: "impostor", Version: "9f2c61", Record: "FigBot", Verdict: Disallowed, Line: 12, Rule: "Disallow: /", Method: "GET", Path: "/search?q=<fig>", Address: "2001:db8:1:2::3", Status: 200}
	note(l, bad, 2)
	gone := bad
	gone.Line, gone.Rule, gone.Refused, gone.Path, gone.Status = 2, "Disallow: /gone", true, "-1", 403
	note(l, gone, 1)
	note(l, Event{Time: start, Site: "b.example", Class: "unstated", Record: "*", Verdict: Exempt}, 2)
	r := l.Snapshot(start.Add(2 * hour))
	r.Sites[0].RobotsTxt = sampleText
	return r
}

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

func TestReportAsCSV(t *testing.T) {
	var robots, evidence strings.Builder
	if err := fewRobots().WriteRobots(&robots); err != nil {
		t.Fatal(err)
	}
	if err := fewRobots().WriteEvidence(&evidence); err != nil {
		t.Fatal(err)
	}
	golden(t, "robots.csv", robots.String())
	golden(t, "evidence.csv", evidence.String())
}

func TestCellsAreNoFormulas(t *testing.T) {
	for in, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@sum": "'@sum", "\t=1": `\x09=1`, "\r=1": `\x0d=1`, "a=1": "a=1", "": "",
	} {
		var b strings.Builder
		if err := writeCSV(&b, [][]string{{in}}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestSnapshotOfSomeSites(t *testing.T) {
	l := NewLedger(Options{})
	for _, site := range []string{"a.example", "b.example", "c.example"} {
		e := allowed("figtree")
		e.Site = site
		note(l, e, 1)
	}
	r := l.Snapshot(start, "c.example", "a.example", "d.example")
	if len(r.Sites) != 2 || r.Sites[0].Site != "a.example" || r.Sites[1].Site != "c.example" || r.Total.Requests != 2 {
		t.Errorf("got %s, want a.example and c.example", asJSON(t, r))
	}
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

package compliance

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// start is the time at which the tests begin. Any would do that is the start of an hour.
var start = time.Date(2026, time.November, 2, 12, 0, 0, 0, time.UTC)

const hour = time.Hour

// week is a week later; all that sampleLedger notes is before it.
var week = start.Add(7 * 24 * hour)

// disallowed returns an event of a robot that was refused.
func disallowed(robot string) Event {
	return Event{
		Time: start, Site: "a.example", Robot: robot, Class: "robot", Verdict: Disallowed, Refused: true,
		Record: "*", Line: 3, Rule: "Disallow: /private/", Method: "GET", Path: "/private/", Address: "203.0.113.9", Status: 403,
	}
}

// allowed returns an event of a robot that obeys.
func allowed(robot string) Event {
	return Event{Time: start, Site: "a.example", Robot: robot, Class: "robot", Record: "*", Method: "GET", Path: "/", Status: 200}
}

// note notes an event so many times.
func note(l *Ledger, e Event, times int) {
	for range times {
		l.Note(&e)
	}
}

// only returns the one robot that the ledger knows, as of start.
func only(t *testing.T, l *Ledger) Robot {
	t.Helper()
	r := l.Snapshot(start)
	if len(r.Sites) != 1 || len(r.Sites[0].Robots) != 1 {
		t.Fatalf("rows: got %s, want a single one", asJSON(t, r))
	}
	return r.Sites[0].Robots[0]
}

// byName returns the rows of a.example by the names of their robots.
func byName(l *Ledger) map[string]Robot {
	rows := make(map[string]Robot)
	for _, s := range l.Snapshot(start).Select(Selection{Site: "a.example"}).Sites {
		for _, r := range s.Robots {
			if r.Class != OtherRobots {
				rows[r.Robot] = r
			}
		}
	}
	return rows
}

// asJSON returns v as JSON, to be shown or compared.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const sampleText = `# www.example.com
# Questions? owner@example.com

User-agent: *
Crawl-delay: 5
Disallow: /private/
Disallow: /search	# costs us too much
Allow: /search/about

User-agent: GPTBot
User-agent: CCBot
Disallow: /

User-agent: Bytespider
Disallow: /
Visit-time: 0100-0500

Sitemap: https://www.example.com/sitemap.xml
`

// sampleLedger returns a ledger of a week's ordinary visitors.
func sampleLedger() *Ledger {
	l := NewLedger(Options{})
	random := rand.New(rand.NewPCG(1, 2))
	paths := []string{"/", "/news/2026/figs.html", "/about", "/products/fig-tree?size=large", "/blog/how-we-grow-figs-in-the-north-of-the-country.html"}
	visit := func(hour int, e Event) {
		e.Time = start.Add(time.Duration(hour)*time.Hour + time.Duration(random.IntN(3600))*time.Second)
		e.Site, e.Version, e.Method, e.Status = "www.example.com", "9f2c61", "GET", 200
		if e.Path == "" {
			e.Path = paths[random.IntN(len(paths))]
		}
		if e.Refused {
			e.Status = 403
			if e.Verdict == TooFast {
				e.Status = 429
			}
		}
		l.Note(&e)
	}
	for hour := -83 * 24; hour <= 167; hour++ {
		few := random.IntN(3)
		for range 20 + random.IntN(30)*few {
			visit(hour, Event{Robot: "Googlebot", Class: "robot", Standing: "verified", Record: "*", Address: "66.249.66.1"})
		}
		if hour%20 == 0 {
			visit(hour, Event{Robot: "Googlebot", Class: "robot", Standing: "verified", RobotsTxt: true})
		}
		for range few {
			visit(hour, Event{Robot: "bingbot", Class: "robot", Standing: "verified", Record: "*", Address: "157.55.39.1"})
			visit(hour, Event{Class: "unstated", Record: "*", Address: "198.51.100.7"})
		}
		if hour%70 == 0 {
			visit(hour, Event{Robot: "bingbot", Class: "robot", Standing: "verified", RobotsTxt: true})
			visit(hour, Event{Robot: "bingbot", Class: "robot", Standing: "verified", Record: "*", Verdict: TooFast, Refused: true, Line: 5, Rule: "Crawl-delay: 5", Address: "157.55.39.1"})
		}
		if hour < 0 {
			continue
		}
		for range random.IntN(12) * (hour % 24 / 8) {
			visit(hour, Event{Robot: "GPTBot", Class: "robot", Standing: "unverified", Record: "GPTBot", Verdict: Disallowed, Refused: true, Line: 12, Rule: "Disallow: /", Address: "20.171.207.3"})
		}
		for range random.IntN(9) * (hour / 48) {
			v := Disallowed
			if random.IntN(3) == 0 {
				v = Banned
			}
			visit(hour, Event{Robot: "Bytespider", Class: "robot", Record: "Bytespider", Verdict: v, Refused: true, Line: 15, Rule: "Disallow: /", Address: "110.249.201.8"})
		}
		if hour%30 == 3 {
			visit(hour, Event{Robot: "Googlebot", Class: "robot", Standing: "impostor", Record: "*", Verdict: Impostor, Refused: true, Path: "/wp-login.php", Address: "192.0.2.77"})
			visit(hour, Event{Robot: "CCBot", Class: "robot", Record: "CCBot", RobotsTxt: true})
			visit(hour, Event{Robot: "Wget", Class: "app", Record: "", Verdict: Allowed, Address: "2001:db8:17::1"})
		}
		if hour%13 == 3 {
			visit(hour, Event{Robot: "SemrushBot", Class: "robot", Record: "*", Verdict: Disallowed, Line: 7, Rule: "Disallow: /search", Path: "/search?q=figs", Address: "185.191.171.5"})
			visit(hour, Event{Robot: "SemrushBot", Class: "robot", Record: "*"})
			visit(hour, Event{Robot: "AhrefsBot", Class: "robot", Record: "*", Verdict: OffHours, Line: 9, Rule: "Visit-time: 0200-0400", Refused: true, Address: "2001:db8:17::9"})
			visit(hour, Event{Robot: "AhrefsBot", Class: "robot", Record: "*", Verdict: Exempt})
			visit(hour, Event{Robot: "Applebot", Class: "robot", Standing: "verified", Record: "*"})
		}
	}
	return l
}

// mustEqual fails the test with the first line in which two texts differ.
func mustEqual(t *testing.T, what, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) {
			t.Fatalf("%s: got %d lines, want %d", what, len(g), len(w))
		}
		if g[i] != w[i] {
			t.Fatalf("%s, line %d: got %q, want %q", what, i+1, g[i], w[i])
		}
	}
}

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
	bad := Event{Time: start.Add(hour), Site: "www.example.com", Robot: "=cmd", Class: "robot", Standing: "impostor", Version: "9f2c61", Record: "FigBot", Verdict: Disallowed, Line: 12, Rule: "Disallow: /", Method: "GET", Path: "/search?q=<fig>", WholeQuery: true, Address: "2001:db8:1:2::3", Status: 200}
	note(l, bad, 2)
	gone := bad
	gone.Line, gone.Rule, gone.Refused, gone.Path, gone.Status = 2, "Disallow: /gone", true, "-1", 403
	note(l, gone, 1)
	note(l, Event{Time: start, Site: "b.example", Class: "unstated", Record: "*", Verdict: Exempt}, 2)
	r := l.Snapshot(start.Add(2 * hour))
	r.Sites[0].RobotsTxt = sampleText
	return r
}

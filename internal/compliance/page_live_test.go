package compliance

import (
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // so that no system needs a database of zones
)

// robotLinks returns the selections that the table of a live page at /robots has links to.
func robotLinks(t *testing.T, page string) []Selection {
	t.Helper()
	var all []Selection
	for _, e := range parse(t, page) {
		to, ok := strings.CutPrefix(html.UnescapeString(e.attr["href"]), "/robots?")
		if !ok || e.in[len(e.in)-1] != "th" || strings.HasPrefix(to, "period=") {
			continue
		}
		q, err := url.ParseQuery(to)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Selection{q.Get("site"), q.Get("robot"), q.Get("class"), q.Get("standing"), q.Get("operator"), q.Get("purpose"), q.Get("period")})
	}
	return all
}

func TestEachRobotOfALivePageLeadsToItsOwn(t *testing.T) {
	l := NewLedger(Options{})
	for _, e := range []Event{
		{Robot: "GPTBot", Class: "robot"}, {Robot: "GPTBot", Class: "robot", Standing: "verified"},
		{Robot: `a&b="c"/<d> e+f%20`, Class: "app"}, {Class: "unstated"}, {Site: "a.example", Robot: "GPTBot", Class: "robot"},
	} {
		e.Time, e.Verdict, e.Path = start, Disallowed, "/"
		note(l, e, 1)
	}
	r := l.Snapshot(start)
	live := page(t, r, PageOptions{Self: "/robots"})
	checkMarkup(t, live)
	if strings.Contains(live, "Latest requests") {
		t.Error("evidence is on the page of all robots")
	}
	links := slices.DeleteFunc(robotLinks(t, live), func(q Selection) bool { return q.Site == "" }) // of a robot on all sites
	if len(links) != 5 {
		t.Fatalf("got %d links, want 5", len(links))
	}
	for _, q := range links {
		part := r.Select(q)
		if len(part.Sites) != 1 || len(part.Sites[0].Robots) != 1 {
			t.Errorf("%+v: got %q, want one robot", q, chosen(part))
			continue
		}
		got := page(t, part, PageOptions{Self: "/robots", Selection: q})
		checkMarkup(t, got)
		name := html.EscapeString(robotName(&part.Sites[0].Robots[0]))
		if !strings.Contains(got, "<h2>"+name) || !strings.Contains(got, "Latest requests") || !strings.Contains(got, `<a href="/robots">`) {
			t.Errorf("%+v: the page has not the robot's name, evidence and a link back", q)
		}
	}
}

func TestWhatThePageOfARobotSays(t *testing.T) {
	q := Selection{Site: "www.example.com", Robot: "figbot", Class: "robot", Standing: "verified"}
	text := page(t, fewRobots().Select(q), PageOptions{Self: "/robots", Selection: q, Source: "live"})
	checkMarkup(t, text)
	golden(t, "robot.txt", words(text))
}

func TestAllRobotsOfANameAreShownWhole(t *testing.T) {
	r := sampleLedger().Snapshot(week)
	q := Selection{Robot: "googlebot"}
	got := page(t, r.Select(q), PageOptions{Self: "/robots", Selection: q})
	checkMarkup(t, got)
	for _, want := range []string{"✗ impostor", "✓ verified", "It broke no rule."} {
		if !strings.Contains(words(got), want) {
			t.Errorf("got no %q", want)
		}
	}
}

func TestAPageSaysWhatWasSelected(t *testing.T) {
	r := sampleLedger().Snapshot(week)
	for _, c := range []struct {
		q    Selection
		want string
	}{
		{Selection{Class: "app"}, "Only class app. ← All robots"},
		{Selection{Robot: "nobody", Standing: "verified"}, "Only robot nobody, standing verified. ← All robots\nPause\nNo robot fits"},
	} {
		got := words(page(t, r.Select(c.q), PageOptions{Self: "/robots", Selection: c.q}))
		if !strings.Contains(got, c.want) {
			t.Errorf("%+v: got no %q in %.300q", c.q, c.want, got)
		}
	}
}

func TestLinksStayOnTheServer(t *testing.T) {
	r := fewRobots()
	for _, self := range []string{"//evil.example/", "https://evil.example/", "javascript:alert(1)", `/\evil.example`, `\\evil.example`, "/a?b#c", "/ü \n"} {
		for _, e := range parse(t, page(t, r, PageOptions{Self: self, Selection: Selection{Class: "robot"}})) {
			to := html.UnescapeString(e.attr["href"])
			if e.name != "a" || strings.HasPrefix(to, "#") {
				continue
			}
			u, err := url.Parse(to)
			if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\n ") {
				t.Errorf("%q: got a link to %q, %v", self, to, err)
			}
		}
	}
}

// TestTimesAreThoseOfTheZone shows an hour that belongs to another day there.
func TestTimesAreThoseOfTheZone(t *testing.T) {
	l := NewLedger(Options{})
	e := disallowed("figtree")
	e.Time = time.Date(2026, time.November, 1, 22, 40, 0, 0, time.UTC)
	note(l, e, 7)
	for _, c := range []struct {
		zone *time.Location
		want []string
	}{
		{time.UTC, []string{"Times are in UTC.", "1 Nov, 22:40", "(UTC, peak 7)", "Sun 1 Nov | 7 | 7 | 22:00"}},
		{time.FixedZone("EET", 2*60*60), []string{"Times are in EET, UTC+02:00.", "2 Nov, 00:40", "(EET, peak 7)", "Mon 2 Nov | 7 | 7 | 00:00"}},
		{time.FixedZone("-0330", -3.5*60*60), []string{"Times are in UTC-03:30.", "1 Nov, 19:10", "(UTC-03:30, peak 7)", "Sun 1 Nov | 7 | 7 | 18:00"}},
	} {
		got := words(page(t, l.Snapshot(start), PageOptions{Zone: c.zone}))
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v: got no %q", c.zone, want)
			}
		}
	}
}

// TestPageOfManySitesIsBounded has more sites and robots than a page has room for, with names that take the most room.
func TestPageOfManySitesIsBounded(t *testing.T) {
	l := NewLedger(Options{})
	wide := strings.Repeat("\"\xff", 200)
	for i := range 600 {
		e := disallowed(fmt.Sprint(i, wide))
		e.Site, e.Rule, e.Path, e.Record, e.Version = fmt.Sprint(i%256, wide), wide, wide, wide, wide
		for n := range 12 {
			e.Line, e.Time = n%10, start.Add(time.Duration(n)*hour)
			l.Note(&e)
		}
	}
	r := l.Snapshot(start.Add(30 * hour))
	for what, o := range map[string]PageOptions{"file": {}, "live": {Self: "/robots"}, "whole": {Self: "/robots", Selection: Selection{Robot: "x"}}} {
		got := page(t, r, o)
		checkMarkup(t, got)
		if len(got) > 2<<20 {
			t.Errorf("%s: got %d bytes, want at most 2 MiB", what, len(got))
		}
		said := words(got)
		for _, want := range map[string][]string{
			"file":  {"The last 232 of them are not shown below."},
			"live":  {"The last 232 of them are not shown below, but on pages of their own."},
			"whole": {"The last 256 of them are not shown below, but on pages of their own, and 320 more, where fewer rules were broken, not at all."},
		}[what] {
			if !strings.Contains(said, want) {
				t.Errorf("%s: got no %q", what, want)
			}
		}
	}
}

// TestSitesKeepTheirIDs has the order of two sites change between two refreshes.
func TestSitesKeepTheirIDs(t *testing.T) {
	l := NewLedger(Options{})
	ids := func() (first, second string) {
		v := newPage(l.Snapshot(start), &PageOptions{Self: "/robots"})
		return v.Sites[0].Name + v.Sites[0].ID, v.Sites[1].Name + v.Sites[1].ID
	}
	a, b := disallowed("figtree"), disallowed("figtree")
	b.Site = "b.example"
	note(l, a, 2)
	note(l, b, 1)
	first, second := ids()
	note(l, b, 2)
	if nowFirst, nowSecond := ids(); nowFirst != second || nowSecond != first || first == second {
		t.Errorf("got %s, %s, want what was %s, %s the other way round", nowFirst, nowSecond, first, second)
	}
}

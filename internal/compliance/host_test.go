package compliance

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// isHost matches the hosts of these tests.
func isHost(pattern, host string) bool {
	return strings.HasSuffix(host, strings.TrimPrefix(pattern, "*"))
}

// meantByTest knows one robot.
func meantByTest(name string) string {
	if strings.EqualFold(name, "Gogglebot") {
		return "Googlebot"
	}
	return ""
}

func TestThePageSaysHowTheRobotsTxtOfEachHostIs(t *testing.T) {
	l := NewLedger(Options{})
	for _, site := range []string{"a.example", "b.example", "x.c.example", "d.example"} {
		e := allowed("FigBot")
		e.Site = site
		note(l, e, 1)
	}
	r := l.Snapshot(start)
	r.MarkHosts([]Host{
		{Host: "a.example", Status: "loaded", Loaded: start.Add(-4 * time.Minute), Errors: 2, Warnings: 1},
		{Host: "b.example", Status: "failing", Loaded: start.Add(-50 * hour), Failure: "502"},
		{Host: "*.c.example", Status: "failing", Failure: "404"},
		{Host: "<b>new.example", Status: "waiting"},
	}, isHost, meantByTest)
	text := page(t, r, PageOptions{})
	checkMarkup(t, text)
	got := words(text)
	for _, want := range []string{
		"a.example | 1 | 1 | 100 % | 0 | 0 | loaded 4 min ago | 2 errors, 1 warning |", "| failing since 31 Oct, 10:00 | none |",
		"x.c.example | 1 | 1 | 100 % | 0 | 0 | never loaded | none |", "d.example | 1 | 1 | 100 % | 0 | 0 | – | – |",
		"Hosts to which no robot came", "<b>new.example | not loaded yet | none |", "loaded 4 min ago, findings: 2 errors, 1 warning",
	} {
		if !strings.Contains(strings.ReplaceAll(got, narrow, " "), want) {
			t.Errorf("got no %q in %q", want, got)
		}
	}
	if part := r.Select(Selection{Site: "a.example"}); len(part.Hosts) != 1 || part.Hosts[0].Host != "a.example" {
		t.Errorf("a part: got %+v", part.Hosts)
	}
	if part := words(page(t, r.Select(Selection{Robot: "FigBot"}), PageOptions{Selection: Selection{Robot: "FigBot"}})); strings.Contains(part, "to which no robot came") {
		t.Error("the page of a robot lists hosts to which it did not come")
	}
	empty := new(Ledger).Snapshot(start)
	empty.MarkHosts([]Host{{Status: "loaded", Loaded: start}}, isHost, meantByTest)
	if got := words(page(t, empty, PageOptions{})); !strings.Contains(got, "all hosts | loaded 0 s ago | none |") && !strings.Contains(got, "all hosts | loaded 0"+narrow+"s ago | none |") {
		t.Errorf("where no robot has come: got %q", got)
	}
}

func TestOfVeryManyHostsTheWorstAreReported(t *testing.T) {
	hosts := []Host{}
	for i := range 5000 {
		hosts = append(hosts, Host{Host: fmt.Sprint("h", i), Status: "loaded"})
	}
	hosts[4000].Status, hosts[3000].Warnings = failing, 1
	r := new(Ledger).Snapshot(start)
	r.MarkHosts(hosts, isHost, meantByTest)
	if len(r.Hosts) != maxHosts || r.Hosts[0].Host != "h4000" || r.Hosts[1].Host != "h3000" {
		t.Errorf("got %d hosts, %+v first", len(r.Hosts), r.Hosts[:2])
	}
}

func TestRulesThatCouldNotBeLoadedAreAdvised(t *testing.T) {
	for _, c := range []struct{ source, text, line string }{
		{"", "Correct what answers it, or have the text in a file:", "source file /path/to/robots.txt"},
		{"url https://a.example/r.txt", "Correct its source:", "source url https://a.example/r.txt"},
	} {
		l := NewLedger(Options{})
		note(l, allowed("FigBot"), 1)
		r := l.Snapshot(start)
		r.MarkHosts([]Host{{Host: "a.example", Status: failing, Holds: "what was loaded before", Loaded: start.Add(-hour), Failure: "status 502", Source: c.source}}, isHost, meantByTest)
		r.Advise()
		want := Advice{
			Site: "a.example", File: "Caddyfile", Line: c.line, weight: 1,
			Text: "robots.txt could not be loaded since 2 November, 11:00 UTC: status 502. Until then this holds: what was loaded before. " + c.text,
		}
		if len(r.Advice) != 1 || r.Advice[0] != want {
			t.Errorf("got %+v, want %+v", r.Advice, want)
		}
	}
}

func TestARecordThatBindsNobodyIsAdvised(t *testing.T) {
	month := start.Add(30 * 24 * hour)
	unknown := func() []UnknownRecord { return []UnknownRecord{{"FigTreeBot", 3}, {"Gogglebot", 7}} }
	for name, c := range map[string]struct {
		since   time.Time
		record  string
		others  bool
		times   int
		now     time.Time
		advised bool
	}{
		"it bound nobody":            {since: start, record: "*", times: 2000, now: month, advised: true},
		"it is new":                  {since: month.Add(-24 * hour), record: "*", times: 2000, now: month},
		"few came":                   {since: start, record: "*", times: 20, now: month},
		"the report is new":          {since: start.Add(-90 * 24 * hour), record: "*", times: 2000, now: start.Add(24 * hour)},
		"it bound somebody":          {since: start, record: "gogglebot", times: 2000, now: month},
		"some have no row of theirs": {since: start, record: "*", others: true, times: 2000, now: month},
		"since when it is unknown":   {record: "*", times: 2000, now: month},
	} {
		l := NewLedger(Options{MaxRobots: 1})
		e := allowed("FigBot")
		e.Record = c.record
		note(l, e, c.times)
		if c.others {
			note(l, allowed("AnotherBot"), 1)
		}
		r := l.Snapshot(c.now)
		r.MarkHosts([]Host{{Host: "a.example", Status: "loaded", Since: c.since, Loaded: c.now, Unknown: unknown}}, isHost, meantByTest)
		r.Advise()
		switch {
		case !c.advised && len(r.Advice) > 0:
			t.Errorf("%s: got %+v, want nothing", name, r.Advice)
		case c.advised && (len(r.Advice) != 1 || r.Advice[0].Line != "User-agent: Googlebot" || !strings.Contains(r.Advice[0].Text, `"Gogglebot", line 7 of robots.txt`)):
			t.Errorf("%s: got %+v", name, r.Advice)
		}
	}
}

package compliance

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestEachAdviceHasItsReason(t *testing.T) {
	obeys := allowed("FigBot")
	for name, c := range map[string]struct {
		event Event
		times int
		unread,
		advised bool
		line string
	}{
		"who obeys":                         {event: obeys, times: 500},
		"who breaks a rule, and reads them": {event: func() Event { e := disallowed("ReaderBot"); return e }(), times: 9},
		"who never read robots.txt":         {event: disallowed("DeafBot"), times: 12, advised: true, line: "ban 10 in 1h for 24h"},
		"an impostor that is refused":       {event: func() Event { e := disallowed("Googlebot"); e.Standing = "impostor"; return e }(), times: 5},
		"an impostor that is served": {
			event: func() Event { e := allowed("Googlebot"); e.Standing = "impostor"; return e }(), times: 5, advised: true, line: "impostors refuse",
		},
		"a Crawl-delay that nobody reads": {
			event: func() Event { e := disallowed("Googlebot"); e.Verdict = TooFast; return e }(), times: 5, unread: true, advised: true, line: "unpaced Googlebot",
		},
		"a monitor": {
			event: func() Event { e := disallowed("UptimeRobot"); e.Class = "service"; return e }(), times: 3, advised: true, line: `exempt "UptimeRobot"`,
		},
		"who costs the most": {
			event: func() Event {
				e := obeys
				e.Record, e.Measured, e.Bytes, e.Took = "FigBot", true, 1000, time.Second
				return e
			}(), times: 100, advised: true, line: "Crawl-delay: 2",
		},
		"who costs the most, under the rules of all": {
			event: func() Event { e := obeys; e.Measured, e.Took = true, time.Second; return e }(), times: 100,
		},
		"who costs the most, and reads no pace": {
			event: func() Event { e := obeys; e.Record, e.Measured, e.Took = "FigBot", true, time.Second; return e }(), times: 100, unread: true,
		},
		"a hostile name": {event: disallowed("DeafBot\n}\nrespond /* 403"), times: 50},
	} {
		l := NewLedger(Options{})
		note(l, c.event, c.times)
		r := l.Snapshot(start)
		r.MarkKnown(func(string) Known { return Known{ReadsNoDelay: c.unread} })
		r.Advise()
		got := r.Advice
		if !c.advised {
			if len(got) > 0 {
				t.Errorf("%s: got %+v, want nothing", name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Line != c.line || got[0].Site != "a.example" {
			t.Errorf("%s: got %+v, want %q", name, got, c.line)
		}
	}
}

func TestTheHeaviestOfAKindIsAdvised(t *testing.T) {
	l := NewLedger(Options{})
	for i := range 5 {
		note(l, disallowed(fmt.Sprint("Deaf", i)), 20+i)
	}
	r := l.Snapshot(start)
	r.Advise()
	if len(r.Advice) != 1 || !strings.HasPrefix(r.Advice[0].Text, "Deaf4 never read robots.txt, and broke its rules 24 times.") {
		t.Errorf("got %+v, want one about Deaf4", r.Advice)
	}
	text := page(t, r, PageOptions{})
	checkMarkup(t, text)
	if got := words(text); !strings.Contains(got, "What to do\nDeaf4 never read robots.txt") {
		t.Errorf("the page: got %q", got)
	}
}

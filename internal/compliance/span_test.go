package compliance

import (
	"strings"
	"testing"
	"time"
)

// fortnight is a ledger of sixteen days: each day i days ago FigBot asks 10 times, in the last week 20 times, and
// breaks a rule once; OliveBot came in the week before only.
func fortnight() (*Ledger, time.Time) {
	l := NewLedger(Options{})
	now := start.AddDate(0, 0, 16)
	for i := 15; i >= 0; i-- {
		e := allowed("FigBot")
		e.Time, e.Measured, e.Bytes, e.Took = now.AddDate(0, 0, -i), true, 1000, 20*time.Millisecond
		times := 10
		if i < 7 {
			times = 20
		}
		note(l, e, times)
		bad := disallowed("FigBot")
		bad.Time = e.Time
		note(l, bad, 1)
	}
	e := allowed("OliveBot")
	e.Time = now.AddDate(0, 0, -8)
	note(l, e, 50)
	return l, now
}

func TestAPeriodIsSetAgainstTheOneBefore(t *testing.T) {
	l, now := fortnight()
	r := l.Snapshot(now)
	for period, want := range map[string]struct {
		requests, disobedient, bytes uint64
		before                       *Earlier
	}{
		"today": {21, 1, 20_000, &Earlier{21, 1, 1, 20_000, 0.4}},
		"7d":    {147, 7, 140_000, &Earlier{127, 7, 7, 70_000, 1.4}},
		"30d":   {296, 16, 230_000, nil}, // the 30 days before are not kept
		"90d":   {296, 16, 230_000, nil},
		"":      {296, 16, 230_000, nil},
	} {
		got := r.Select(Selection{Period: period})
		if got.Total.Requests != want.requests || got.Total.Disobedient != want.disobedient || got.Total.Bytes != want.bytes || got.Total.Refused != want.disobedient {
			t.Errorf("%q: got %+v, want %+v", period, got.Total, want)
		}
		switch b := got.Total.Before; {
		case b == nil || want.before == nil:
			if (b == nil) != (want.before == nil) || (got.Before == nil) != (b == nil) {
				t.Errorf("%q: before: got %+v, want %+v", period, b, want.before)
			}
		case b.Requests != want.before.Requests || b.Disobedient != want.before.Disobedient || b.Bytes != want.before.Bytes || b.Refused != want.before.Refused:
			t.Errorf("%q: before: got %+v, want %+v", period, *b, *want.before)
		}
	}
	week := r.Select(Selection{Period: "7d"})
	if robots := week.Sites[0].Robots; len(robots) != 1 || robots[0].Robot != "FigBot" || len(robots[0].Evidence) != 7 {
		t.Errorf("7d: got %+v, want FigBot alone, with the evidence of these days", robots)
	}
	if week.Period.From != now.Truncate(24*hour).AddDate(0, 0, -6) || week.Before.To != week.Period.From {
		t.Errorf("7d: got %+v and %+v", week.Period, week.Before)
	}
	if all := r.Select(Selection{}); all.Total.Requests != 296 || len(all.Sites[0].Robots) != 2 {
		t.Error("the report was changed")
	}
}

func TestThePageSaysWhatChanged(t *testing.T) {
	l, now := fortnight()
	r := l.Snapshot(now)
	q := Selection{Period: "7d"}
	got := page(t, r.Select(q), PageOptions{Self: "/robots", Selection: q})
	checkMarkup(t, got)
	for _, want := range []string{
		"7 days | 147 +16 % | 7 as before | 7 as before | 140 kB +100 % | 2.8 s +100 % |",
		"The last 7 days, 12 November to 18 November, which is not over (UTC), against the 7 days before.",
		"140 kB sent to robots", "2.8 s of the back end", "Refusals saved about 7 kB and 140 ms",
	} {
		if text := words(got); !strings.Contains(text, want) {
			t.Errorf("got no %q in %q", want, text)
		}
	}
	for _, want := range []string{`<a href="/robots?period=30d">30 days</a>`, `<a href="/robots">All</a>`, "period=7d&amp;robot=FigBot", "<th scope=\"row\">7 days</th>"} {
		if !strings.Contains(got, want) {
			t.Errorf("got no %q", want)
		}
	}
}

func TestUnknownPeriodsAreNamed(t *testing.T) {
	want := `unknown period "week": write one of ["today" "7d" "30d" "90d"], or none for all that is kept`
	if err := (Selection{Period: "week"}).Check(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWhatRefusalsSaved(t *testing.T) {
	l := NewLedger(Options{})
	e := allowed("FigBot")
	e.Measured, e.Bytes, e.Took = true, 300, time.Second
	note(l, e, 2)
	note(l, disallowed("FigBot"), 3)
	note(l, disallowed("OliveBot"), 5) // of whom nothing was ever served
	robots := byName(l)
	if got := robots["FigBot"]; got.SavedBytes != 900 || got.SavedSeconds != 3 {
		t.Errorf("FigBot: got %+v, want its own average three times", got.Cost)
	}
	if got := robots["OliveBot"]; got.SavedBytes != 1500 || got.SavedSeconds != 5 {
		t.Errorf("OliveBot: got %+v, want the site's average five times", got.Cost)
	}
}

func TestSizesAndTimesAsTheyAreRead(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 999: "999 B", 1000: "1 kB", 1949: "1.9 kB", 999_499: "999 kB", 999_500: "1 MB", 12_345_678: "12 MB", 3_200_000_000: "3.2 GB", 1 << 53: "9 PB"} {
		if got := strings.ReplaceAll(byteText(n), narrow, " "); got != want {
			t.Errorf("%d bytes: got %q, want %q", n, got, want)
		}
	}
	for s, want := range map[float64]string{0: "0 s", 0.0004: "0.4 ms", 0.02: "20 ms", 0.5: "500 ms", 1.25: "1.3 s", 99: "99 s", 100: "1.7 min", 5900: "98 min", 6000: "1.7 h", 360000: "100 h"} {
		if got := strings.ReplaceAll(timeText(s), narrow, " "); got != want {
			t.Errorf("%v s: got %q, want %q", s, got, want)
		}
	}
}

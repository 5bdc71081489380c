package robotsrules_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// twinPace returns the least time between two requests that a record asks for
// at a time, nil for none: the slowest rate whose window is open, else the
// slowest without a window, and a Crawl-delay besides.
func twinPace(g *robotsrules.Group, at time.Time) *big.Rat {
	var inside, always, delay *big.Rat
	for _, r := range g.RequestRates() {
		interval := big.NewRat(int64(r.Period), int64(r.Documents))
		switch {
		case r.Window == nil:
			always = slowest(always, interval)
		case twinContains(*r.Window, at):
			inside = slowest(inside, interval)
		}
	}
	for _, c := range g.CrawlDelays() {
		delay = slowest(delay, big.NewRat(int64(c.Delay), 1))
	}
	if inside != nil {
		return slowest(inside, delay)
	}
	return slowest(always, delay)
}

func slowest(a, b *big.Rat) *big.Rat {
	if a == nil || b != nil && b.Cmp(a) > 0 {
		return b
	}
	return a
}

// twinContains walks minute by minute from the start of a window to its end. A
// window that ends where it starts is the whole day.
func twinContains(w robotsrules.Window, at time.Time) bool {
	now := at.Hour()*60 + at.Minute()
	for m, first := w.From, true; first || m != w.To%(24*60); m, first = (m+1)%(24*60), false {
		if m == now {
			return true
		}
	}
	return false
}

// paceText returns a record with a few delays and rates of any kind.
func (m maker) paceText() string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for range m.IntN(3) {
		fmt.Fprintf(&b, "Crawl-delay: %d\n", 1+m.IntN(200))
	}
	for range m.IntN(6) {
		fmt.Fprintf(&b, "Request-rate: %d/%d%s\n", 1+m.IntN(9), 1+m.IntN(20), []string{"", "s", "m"}[m.IntN(3)])
	}
	for range m.IntN(6) {
		fmt.Fprintf(&b, "Request-rate: %d/%d %02d%02d-%02d%02d\n", 1+m.IntN(9), 1+m.IntN(90),
			m.IntN(24), m.IntN(60), m.IntN(24), m.IntN(60))
	}
	return b.String()
}

// At every minute of the day the pace is the one that the lines add up to.
func TestPaceAgreesWithTheTwinAtEveryMinute(t *testing.T) {
	m := newMaker()
	midnight := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	paced := 0
	for range 40 {
		text := m.paceText()
		file := robotsrules.Parse([]byte(text), robotsrules.Options{})
		p := robotsrules.Compile(file, robotsrules.MatchSubstring).Default().Pace()
		for minute := range 24 * 60 {
			at := midnight.Add(time.Duration(minute) * time.Minute)
			want := twinPace(file.Groups[0], at)
			rate, ok := p.At(at)
			switch {
			case ok != (want != nil):
				t.Fatalf("%s at %s: a pace: %t, want %t", text, at, ok, want != nil)
			case ok && big.NewRat(int64(rate.Period), int64(rate.Documents)).Cmp(want) != 0:
				t.Fatalf("%s at %s: pace = %d/%s, want one per %s ns", text, at, rate.Documents, rate.Period, want.FloatString(3))
			case ok:
				paced++
			}
		}
	}
	if want := 20_000; paced < want {
		t.Errorf("compared %d paces, want at least %d", paced, want)
	}
}

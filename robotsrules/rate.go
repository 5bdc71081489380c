package robotsrules

import (
	"fmt"
	"strings"
	"time"
)

const (
	day = 24 * time.Hour
	// maxPeriod keeps periods far from what a time.Duration can hold.
	maxPeriod = 366 * day
	// maxDocuments is more than any server answers in any period.
	maxDocuments = 1_000_000_000
	// maxWindowedRates is how many rates with times a record may have: two for
	// each hour of the day.
	maxWindowedRates = 48
)

// CrawlDelay is a Crawl-delay line (the 2011 survey): at most one request in Delay.
type CrawlDelay struct {
	Delay time.Duration
	// Line is the number of the line, from 1.
	Line int
	// Text is the line as written, without comment and outer blanks.
	Text string
}

// RequestRate is a Request-rate line (the 1996 proposal 2.0.0): at most Documents requests in
// Period.
type RequestRate struct {
	Documents int
	Period    time.Duration
	// Window is the part of the day in which the rate holds, nil for all of it.
	Window *Window
	// Line is the number of the line, from 1.
	Line int
	// Text is the line as written, without comment and outer blanks.
	Text string
}

// VisitTime is a Visit-time line (the 1996 proposal 2.0.0): visits are welcome inside Window.
type VisitTime struct {
	Window Window
	// Line is the number of the line, from 1.
	Line int
	// Text is the line as written, without comment and outer blanks.
	Text string
}

func (p *parser) crawlDelay(l *line, rest *rest) {
	delay, ok := parseSeconds(l.value, day)
	switch {
	case !ok:
		p.report(l.number, findBadDelay, detail{text: l.value})
		return
	case delay == 0:
		p.report(l.number, findZeroDelay, detail{})
		return
	case len(rest.crawlDelays) > 0:
		p.report(l.number, findSecondDelay, detail{number: rest.crawlDelays[0].Line})
	}
	rest.crawlDelays = append(rest.crawlDelays, CrawlDelay{Delay: delay, Line: l.number, Text: l.text})
}

func (p *parser) requestRate(l *line, rest *rest) {
	r, ok := parseRequestRate(l.value)
	switch {
	case !ok:
		p.report(l.number, findBadRate, detail{text: l.value})
		return
	case r.Documents == 0 || r.Period == 0:
		p.report(l.number, findZeroRate, detail{text: l.value})
		return
	case r.Window != nil && windowed(rest.requestRates) >= maxWindowedRates:
		p.report(l.number, findManyWindows, detail{number: maxWindowedRates})
		return
	case r.Window != nil && r.Window.From == r.Window.To:
		p.report(l.number, findWholeDay, detail{text: l.value})
	}
	r.Line, r.Text = l.number, l.text
	rest.requestRates = append(rest.requestRates, r)
}

func (p *parser) visitTime(l *line, rest *rest) {
	w, ok := parseWindow(l.value)
	switch {
	case rest.visitTime != nil:
		p.report(l.number, findSecondVisit, detail{number: rest.visitTime.Line})
		return
	case !ok:
		p.report(l.number, findBadVisit, detail{text: l.value})
		return
	case w.From == w.To:
		p.report(l.number, findWholeDay, detail{text: l.value})
	}
	rest.visitTime = &VisitTime{Window: w, Line: l.number, Text: l.text}
}

// windowed counts the rates that hold in a part of the day.
func windowed(rates []RequestRate) int {
	n := 0
	for i := range rates {
		if rates[i].Window != nil {
			n++
		}
	}
	return n
}

// ParseRate reads a rate as a Request-rate line states it, documents/period, but
// without times: "1/10s", "10/1m". It returns false for anything else, and for a
// rate of no documents or in no time. The Rate has no line.
func ParseRate(text string) (Rate, bool) {
	r, ok := parseRequestRate(text)
	if !ok || r.Documents == 0 || r.Period == 0 || r.Window != nil {
		return Rate{}, false
	}
	return Rate{Documents: r.Documents, Period: r.Period, Text: text}, true
}

// parseRequestRate reads documents/period and the times that may follow it.
func parseRequestRate(s string) (RequestRate, bool) {
	rate, times := s, ""
	if i := strings.IndexAny(s, blanks); i >= 0 {
		rate, times = s[:i], trim(s[i:])
	}
	documents, period, found := strings.Cut(rate, "/")
	if !found {
		return RequestRate{}, false
	}
	n, ok1 := parseNumber(documents, maxDocuments)
	d, ok2 := parsePeriod(period)
	if !ok1 || !ok2 {
		return RequestRate{}, false
	}
	r := RequestRate{Documents: n, Period: d}
	if times == "" {
		return r, true
	}
	w, ok := parseWindow(times)
	r.Window = &w
	return r, ok
}

// parsePeriod reads a number with a unit; without one it is seconds.
func parsePeriod(s string) (time.Duration, bool) {
	if s == "" {
		return 0, false
	}
	unit := time.Second
	switch lower[s[len(s)-1]] {
	case 's':
		s = s[:len(s)-1]
	case 'm':
		unit, s = time.Minute, s[:len(s)-1]
	case 'h':
		unit, s = time.Hour, s[:len(s)-1]
	case 'd':
		unit, s = day, s[:len(s)-1]
	}
	scale := unit / time.Second
	d, ok := parseSeconds(s, maxPeriod/scale)
	return d * scale, ok
}

// parseSeconds reads a decimal number of seconds of at most limit. Digits beyond
// the nanosecond are dropped. There is no sign, no exponent, no NaN.
func parseSeconds(s string, limit time.Duration) (time.Duration, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	if whole == "" && fraction == "" {
		return 0, false
	}
	seconds, ok := 0, true
	if whole != "" {
		seconds, ok = parseNumber(whole, int(limit/time.Second))
	}
	d := time.Duration(seconds) * time.Second
	unit := time.Second
	for i := range len(fraction) {
		if fraction[i] < '0' || fraction[i] > '9' {
			return 0, false
		}
		unit /= 10
		d += time.Duration(fraction[i]-'0') * unit
	}
	return d, ok && d <= limit
}

const dayMinutes = 24 * 60

// Window is a part of every day, in minutes after midnight GMT. From is inside,
// To is not; with From after To the window spans midnight. When both are equal,
// as in the zero value, it is the whole day, so that it shuts nobody out.
type Window struct{ From, To int }

// Contains reports whether t is inside the window.
func (w Window) Contains(t time.Time) bool {
	return w.containsMinute(minuteOf(t))
}

func (w Window) containsMinute(m int) bool {
	if w.From < w.To {
		return w.From <= m && m < w.To
	}
	return w.From == w.To || m >= w.From || m < w.To
}

// Opens returns the first instant at or after t that is inside the window: t
// itself when it is, else the next From, in UTC.
func (w Window) Opens(t time.Time) time.Time {
	if w.Contains(t) {
		return t
	}
	year, month, day := t.UTC().Date()
	opens := time.Date(year, month, day, 0, w.From, 0, 0, time.UTC)
	if opens.Before(t) {
		opens = time.Date(year, month, day+1, 0, w.From, 0, 0, time.UTC)
	}
	return opens
}

// minuteOf returns the minutes between midnight GMT and t.
func minuteOf(t time.Time) int {
	hour, minute, _ := t.UTC().Clock()
	return hour*60 + minute
}

// parseWindow reads two times of day with a hyphen or blanks between them.
func parseWindow(s string) (Window, bool) {
	cut := strings.IndexByte(s, '-')
	if cut < 0 {
		cut = strings.IndexAny(s, blanks)
	}
	if cut < 0 {
		return Window{}, false
	}
	from, ok1 := parseTimeOfDay(trim(s[:cut]))
	to, ok2 := parseTimeOfDay(trim(s[cut+1:]))
	if !ok1 || !ok2 || from == dayMinutes {
		return Window{}, false
	}
	return Window{From: from, To: to}, true
}

// parseTimeOfDay reads hhmm or hh:mm as minutes after midnight. 24:00 is the
// midnight at the end of the day.
func parseTimeOfDay(s string) (int, bool) {
	if len(s) == len("hh:mm") && s[2] == ':' {
		s = s[:2] + s[3:]
	}
	if len(s) != len("hhmm") {
		return 0, false
	}
	n, ok := parseNumber(s, 2400)
	hour, minute := n/100, n%100
	if !ok || minute > 59 {
		return 0, false
	}
	return hour*60 + minute, true
}

// parseNumber reads a whole number of at most limit; digits only.
func parseNumber(s string, limit int) (int, bool) {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
		if n > limit {
			return 0, false
		}
	}
	return n, s != ""
}

// String returns the window as it is written in a file, such as "0600-0845".
func (w Window) String() string {
	return fmt.Sprintf("%02d%02d-%02d%02d", w.From/60, w.From%60, w.To/60, w.To%60)
}

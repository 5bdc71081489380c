package robotsrules

import (
	"fmt"
	"strings"
	"time"
)

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

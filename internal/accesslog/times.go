package accesslog

import (
	"bytes"
	"strconv"
	"time"
)

// Times outside of these are not from a web server's clock.
var (
	earliest = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

func isPlausible(t time.Time) bool { return !t.Before(earliest) && t.Before(latest) }

// parseEpoch reads a JSON number that counts from 1970: in seconds (Caddy's
// unix_seconds_float), milliseconds (unix_milli_float) or nanoseconds (unix_nano). Of the
// plausible times no two are the same number, so that it tells which.
func parseEpoch(raw []byte) (time.Time, bool) {
	whole, nanos, ok := parseDecimal(raw)
	if !ok {
		return time.Time{}, false
	}
	for _, t := range [...]time.Time{
		time.Unix(whole, nanos),
		time.UnixMilli(whole).Add(time.Duration(nanos / 1000)),
		time.Unix(0, whole),
	} {
		if isPlausible(t) {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// parseDecimal reads a JSON number that is not negative: the whole part, and the billionths
// of what follows the point, cut off behind the ninth digit. One with an exponent is read
// to the precision of a float64.
func parseDecimal(raw []byte) (whole, billionths int64, ok bool) {
	if bytes.ContainsAny(raw, "eE") {
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || f < 0 || f >= 1<<63 {
			return 0, 0, false
		}
		whole = int64(f)
		return whole, int64((f - float64(whole)) * 1e9), true
	}
	digits, fraction, _ := bytes.Cut(raw, []byte{'.'})
	whole, ok = parseInt(digits)
	return whole, parseFraction(fraction), ok
}

// parseInt reads up to nineteen digits and nothing else; for anything else it returns 0.
func parseInt(digits []byte) (int64, bool) {
	var n uint64
	for _, c := range digits {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	if len(digits) == 0 || len(digits) > len("9223372036854775807") || n >= 1<<63 {
		return 0, false
	}
	return int64(n), true
}

// parseFraction reads the digits behind a point as billionths.
func parseFraction(digits []byte) int64 {
	var n int64
	for i := range 9 {
		n *= 10
		if i < len(digits) {
			n += int64(digits[i] - '0')
		}
	}
	return n
}

// parseCount reads a whole number; 0 for anything else.
func parseCount(raw []byte) int64 {
	n, _ := parseInt(raw)
	return n
}

// duration reads how long an answer took. A whole number may be milliseconds or
// nanoseconds as well as seconds, so it counts as nothing.
func (p *parser) duration(raw []byte) time.Duration {
	const most = 1e9 // seconds, about thirty years
	if text := p.text.json(raw); text != nil {
		d, err := time.ParseDuration(string(text))
		if err != nil || d < 0 || d >= most*time.Second {
			return 0
		}
		return d
	}
	seconds, nanos, ok := parseDecimal(raw)
	if !ok || seconds >= most || !bytes.ContainsAny(raw, ".eE") {
		return 0
	}
	return time.Duration(seconds)*time.Second + time.Duration(nanos)
}

// parseTime reads a time in words: the rest of what Caddy has names for, which are
// iso8601, rfc3339, rfc3339_nano, wall, wall_milli, wall_nano and common_log. Those
// without a zone are in the one given.
func parseTime(b []byte, zone *time.Location) (time.Time, bool) {
	if len(b) > 2 && b[2] == '/' {
		return parseCommonTime(b)
	}
	const date, clock = len("2006-01-02"), len("15:04:05")
	if len(b) < date+1+clock || b[4] != '-' && b[4] != '/' || b[7] != b[4] || b[date] != 'T' && b[date] != ' ' {
		return time.Time{}, false
	}
	var c civil
	ok := c.number(&c.year, b[:4]) && c.number(&c.month, b[5:7]) && c.number(&c.day, b[8:10])
	if !ok || !c.clock(b[date+1:date+1+clock]) {
		return time.Time{}, false
	}
	b = b[date+1+clock:]
	if len(b) > 1 && (b[0] == '.' || b[0] == ',') {
		rest := bytes.TrimLeft(b[1:], "0123456789")
		fraction := b[1 : len(b)-len(rest)]
		if len(fraction) == 0 {
			return time.Time{}, false
		}
		c.nanos, b = int(parseFraction(fraction)), rest
	}
	switch {
	case len(b) == 0:
		return c.in(zone, 0)
	case len(b) == 1 && b[0] == 'Z':
		return c.in(time.UTC, 0)
	case len(b) == 6 && b[3] == ':':
		return c.at(b[0], b[1:3], b[4:6])
	case len(b) == 5:
		return c.at(b[0], b[1:3], b[3:5])
	}
	return time.Time{}, false
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

// parseCommonTime reads the time of the Common Log Format, "02/Jan/2006:15:04:05 -0700".
func parseCommonTime(b []byte) (time.Time, bool) {
	if len(b) != len("02/Jan/2006:15:04:05 -0700") || b[2] != '/' || b[6] != '/' || b[11] != ':' || b[20] != ' ' {
		return time.Time{}, false
	}
	var c civil
	i := bytes.Index([]byte(months), b[3:6])
	if i < 0 || i%3 != 0 || !c.number(&c.day, b[:2]) || !c.number(&c.year, b[7:11]) || !c.clock(b[12:20]) {
		return time.Time{}, false
	}
	c.month = i/3 + 1
	return c.at(b[21], b[22:24], b[24:26])
}

// A civil is a date and a time of day, not yet in a zone.
type civil struct{ year, month, day, hour, minute, second, nanos int }

func (*civil) number(n *int, digits []byte) bool {
	value, ok := parseInt(digits)
	*n = int(value)
	return ok
}

// clock reads "15:04:05".
func (c *civil) clock(b []byte) bool {
	return b[2] == ':' && b[5] == ':' && c.number(&c.hour, b[:2]) && c.number(&c.minute, b[3:5]) &&
		c.number(&c.second, b[6:8]) && c.hour < 24 && c.minute < 60 && c.second < 60
}

// at is the time at an offset from UTC. Some write offsets of 24 hours or 60 minutes.
func (c *civil) at(sign byte, hours, minutes []byte) (time.Time, bool) {
	h, hoursOK := parseInt(hours)
	m, minutesOK := parseInt(minutes)
	if sign != '+' && sign != '-' || !hoursOK || !minutesOK || h > 24 || m > 60 {
		return time.Time{}, false
	}
	offset := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	if sign == '+' {
		offset = -offset
	}
	return c.in(time.UTC, offset)
}

// in is the time in a zone, moved by an offset.
func (c *civil) in(zone *time.Location, offset time.Duration) (time.Time, bool) {
	day := time.Date(c.year, time.Month(c.month), c.day, 0, 0, 0, 0, time.UTC)
	if c.month < 1 || c.month > 12 || day.Day() != c.day {
		return time.Time{}, false // there is no such day
	}
	t := time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, c.nanos, zone).Add(offset).UTC()
	return t, isPlausible(t)
}

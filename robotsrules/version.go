package robotsrules

import (
	"strconv"
	"strings"
)

// reading is how the rules of a record are read: by its dialect, or by the
// version it states (the 1996 proposal 2.0.0).
type reading uint8

const (
	readRFC9309 reading = iota
	readDraft1996
	readNoRobots1994
	readVersion2
)

// readingOf returns how the rules of g are read in the dialect.
func readingOf(d Dialect, g *Group) reading {
	switch {
	case d == NoRobots1994:
		return readNoRobots1994
	case g.others().version.Major >= 2:
		return readVersion2
	case d == Draft1996:
		return readDraft1996
	}
	return readRFC9309
}

// stars reports whether a * in a pattern stands for any text.
func (r reading) stars() bool { return r == readRFC9309 || r == readVersion2 }

// passedOver reports whether the record is read as if it were not there: its
// version is experimental, which the 1996 proposal 2.0.0 marks by an odd second number.
func (g *Group) passedOver(d Dialect) bool {
	v := &g.others().version
	return d != NoRobots1994 && v.Major >= 1 && v.Minor%2 == 1
}

// String returns the version with its three numbers, such as "2.0.0", or "" when
// there is none.
func (v Version) String() string {
	if v == (Version{}) {
		return ""
	}
	return strconv.Itoa(v.Major) + "." + strconv.Itoa(v.Minor) + "." + strconv.Itoa(v.Patch)
}

// version takes a Robot-version line. Only as the first line after the
// User-agent lines does it say how to read the record (the 1996 proposal 2.0.0).
func (p *parser) version(l *line, first bool) {
	if !first {
		p.report(l.number, findLateVersion, detail{})
		return
	}
	v, parts, ok := parseVersion(l.value)
	if !ok {
		p.report(l.number, findBadVersion, detail{text: l.value})
		return
	}
	v.Line, v.Text = l.number, l.value
	p.group.open().version = v
	d := detail{text: l.value, fix: v.String()}
	if parts < 3 {
		p.report(l.number, findShortVersion, d)
	}
	switch {
	case v.Major == 0:
		p.report(l.number, findOldVersion, d)
	case v.Minor%2 == 1:
		p.report(l.number, findOddVersion, d)
	}
}

// parseVersion reads up to three numbers with points between them, and returns
// how many there were.
func parseVersion(s string) (v Version, parts int, ok bool) {
	const most = 1_000_000
	numbers := [3]*int{&v.Major, &v.Minor, &v.Patch}
	for more := true; more; parts++ {
		var part string
		if part, s, more = strings.Cut(s, "."); parts == len(numbers) {
			return Version{}, 0, false
		}
		n, ok := parseNumber(part, most)
		if !ok {
			return Version{}, 0, false
		}
		*numbers[parts] = n
	}
	return v, parts, true
}

// findMixedVersions complains about records that are not read because another
// record for the same robot has version 2: the two readings cannot be merged.
func (p *parser) findMixedVersions() {
	if p.file.Dialect != RFC9309 {
		return
	}
	second := make(map[string]int) // lines of the tokens of version 2 records
	for _, g := range p.file.Groups {
		if readingOf(RFC9309, g) != readVersion2 || g.passedOver(RFC9309) {
			continue
		}
		for _, t := range g.Tokens {
			if folded := fold(t.Value); second[folded] == 0 {
				second[folded] = t.Line
			}
		}
	}
	if len(second) == 0 {
		return
	}
	for _, g := range p.file.Groups {
		if readingOf(RFC9309, g) == readVersion2 || g.passedOver(RFC9309) {
			continue
		}
		for _, t := range g.Tokens {
			if at := second[fold(t.Value)]; at != 0 {
				p.report(t.Line, findMixedVersions, detail{text: t.Value, number: at})
			}
		}
	}
}

// fold returns s with ASCII capitals made small, and s itself when it has none.
func fold(s string) string {
	for i := range len(s) {
		if lower[s[i]] != s[i] {
			b := []byte(s)
			for j := i; j < len(b); j++ {
				b[j] = lower[b[j]]
			}
			return string(b)
		}
	}
	return s
}

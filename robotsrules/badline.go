package robotsrules

import "strings"

// colons are what some write for the colon behind a field.
var colons = [...]string{"：", "﹕", "︓", ";", "；", "=", "->"}

// withoutColon returns s without what stands for a colon at its beginning.
func withoutColon(s string) string {
	for _, c := range colons {
		if rest, found := strings.CutPrefix(s, c); found {
			return rest
		}
	}
	return s
}

// wrongColon reports whether the line has a field and, behind a blank, something else than a colon.
func (l *line) wrongColon() bool { return !l.colon && withoutColon(l.value) != l.value }

// cutWrongColon takes a line apart that has something else than a colon behind a field that we
// know.
func cutWrongColon(text string, d Dialect) (f field, value string) {
	for _, c := range colons {
		if name, rest, found := strings.Cut(text, c); found {
			if f, _ = fieldOf(trim(name), d); f != unknownField {
				return f, trim(rest)
			}
		}
	}
	return unknownField, ""
}

// isBarePath reports whether a line begins as a path does, and not as a comment of some
// programming language.
func isBarePath(text string) bool {
	return canMatch(text, true) && !strings.HasPrefix(text, "//") && !strings.HasPrefix(text, "/*") && !strings.HasPrefix(text, "**")
}

// noField tells of a line without a field that we know, and reports whether there was anything
// to tell but that.
func (p *parser) toldOfNoField(number int, text string) bool {
	d := detail{text: text}
	f := findNoField
	if known, value := cutWrongColon(text, p.file.Dialect); known != unknownField {
		f, d.field, d.fix = findWrongColon, known.String(), value
	} else if isBarePath(text) {
		f = findBarePath
	} else if isHTTP(text) {
		f = findBareAddress
	} else if strings.IndexByte(text, ':') >= 0 {
		return false
	}
	p.report(number, f, d)
	return true
}

// toldOfUnknown tells what is wrong with a line whose field is not known.
func (p *parser) toldOfUnknown(l *line) {
	if p.toldOfNoField(l.number, l.text) {
		return
	}
	d := detail{field: Closest(l.name, fieldNames[userAgent:], 2), text: l.name, fix: l.value}
	switch {
	case p.file.Dialect == NoRobots1994 && l.isOfLater(), d.field == "":
		p.report(l.number, findUnknown, d)
	case d.field == userAgent.String():
		p.report(l.number, findMisspeltRecord, d)
	default:
		p.report(l.number, findMisspelt, d)
	}
}

// isOfLater reports whether the field is one that the dialect of 1994 does not know.
func (l *line) isOfLater() bool {
	f, _ := fieldCalled(l.name)
	return f != unknownField
}

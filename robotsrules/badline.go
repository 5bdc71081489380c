package robotsrules

import (
	"cmp"
	"strings"
)

// colons are what some write for the colon behind a field.
var colons = [...]string{"：", "﹕", "︓", "∶", "꞉", "ː", ";", "；", "=", "->"}

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

// withoutBullet returns the item of a list without the sign before it.
func withoutBullet(text string) string {
	sign, item, _ := strings.Cut(text, " ")
	if item = trim(item); item != "" && (sign == "-" || sign == "*" || sign == "•") {
		return item
	}
	return text
}

// toldOfNoField tells of a line without a field that we know, and reports whether there was anything
// to tell but that.
func (p *parser) toldOfNoField(number int, text string) bool {
	d := detail{text: withoutBullet(text)}
	f := findNoField
	if known, value := cutWrongColon(text, p.file.Dialect); known != unknownField {
		f, d.field, d.fix = findWrongColon, known.String(), value
	} else if bare := withoutMarkup(text); bare != text && !strings.HasPrefix(text, "<!--") {
		f, d.fix = findMarkup, "take it out"
		if secondField(" "+bare) >= 0 {
			p.known, d.fix = true, `write "`+bare+`"`
		}
	} else if isBarePath(d.text) {
		f = findBarePath
	} else if isHTTP(text) {
		f = findBareAddress
	} else if strings.IndexByte(text, ':') >= 0 {
		p.strange = true
		return false
	}
	switch f {
	case findMarkup:
		p.strange, d.text = true, text
	case findNoField:
		p.strange, d.text = true, text
		if strings.HasPrefix(text, "<<<<<<< ") || strings.HasPrefix(text, ">>>>>>> ") {
			f = findConflict
		}
	default:
		p.known = true
	}
	p.report(number, f, d)
	return true
}

// toldOfUnknown tells what is wrong with a line whose field is not known.
func (p *parser) toldOfUnknown(l *line) {
	if p.findings.isFull() {
		p.strange = true
		p.report(l.number, findUnknown, detail{})
		return
	}
	meant := cmp.Or(Closest(l.name, fieldNames[userAgent:], 2), synonyms[fold(l.name)])
	if meant == "" && p.toldOfNoField(l.number, l.text) {
		return
	}
	p.known = p.known || meant != ""
	d := detail{field: meant, text: l.name, fix: visible(l.value)}
	switch {
	case p.file.Dialect == NoRobots1994 && l.isOfLater(), d.field == "":
		p.report(l.number, findUnknown, d)
	case d.field == userAgent.String():
		p.report(l.number, findMisspeltRecord, d)
	default:
		p.report(l.number, findMisspelt, d)
	}
}

// synonyms are words that some write for a field.
var synonyms = map[string]string{
	"agent": "User-agent", "user": "User-agent", "bot": "User-agent", "robot": "User-agent", "crawler": "User-agent", "spider": "User-agent",
	"deny": "Disallow", "block": "Disallow", "forbid": "Disallow", "exclude": "Disallow", "reject": "Disallow", "not allow": "Disallow",
	"permit": "Allow", "accept": "Allow", "include": "Allow", "delay": "Crawl-delay", "map": "Sitemap",
}

// isOfLater reports whether the field is one that the dialect of 1994 does not know.
func (l *line) isOfLater() bool {
	f, _ := fieldCalled(l.name)
	return f != unknownField
}

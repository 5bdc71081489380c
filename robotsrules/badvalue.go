package robotsrules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What can be wrong with any value, or with the text as a whole.
var (
	findPlaceholder = define("placeholder", Warning, `"{text}" has a placeholder in it that nothing has filled in`,
		"have the program that writes the file fill it in, or write what is meant")
	findMarkup = define("markup", Warning, `"{text}" has HTML in it, which is read like any other text`,
		"{fix}")
	findInvisible = define("invisible", Warning, `"{text}" has a character in it that nobody sees, and that counts like any other`,
		"{fix}")
	findOtherComment = define("other-comment", Warning, `"{text}" is read as one path: only a # begins a comment`,
		`write "{field}: {fix}"`)
	findNoRobotsTxt = define("no-robots-txt", Error, "no line of the text is one of a robots.txt, so nothing is disallowed",
		"answer /robots.txt with the rules, or with 404 where there are none")
)

// traits say which kinds of bytes a value has any of, so that one look at it is enough.
type traits uint8

const (
	colonTrait      traits = 1 << iota
	suspiciousTrait        // without which nothing is wrong with a value in the ways of this file
	oddPathTrait           // without which nothing is wrong with a path, as far as its bytes show
	patternTrait           // without which a pattern is canonical text that has neither star nor end
)

var traitOf = func() (t [256]traits) {
	t[':'] = colonTrait
	for c := range t {
		if c <= ' ' || c >= 0x7F || strings.IndexByte("<{%", byte(c)) >= 0 {
			t[c] |= suspiciousTrait
		}
		if c <= ' ' || c >= 0x7F || strings.IndexByte(`\[({+,;|`, byte(c)) >= 0 {
			t[c] |= oddPathTrait
		}
		if !plain[c] || c == '*' || c == '$' {
			t[c] |= patternTrait
		}
	}
	return t
}()

func traitsOf(value string) (all traits) {
	for ; len(value) >= 8; value = value[8:] {
		all |= traitOf[value[0]] | traitOf[value[1]] | traitOf[value[2]] | traitOf[value[3]] |
			traitOf[value[4]] | traitOf[value[5]] | traitOf[value[6]] | traitOf[value[7]]
	}
	for i := range len(value) {
		all |= traitOf[value[i]]
	}
	return all
}

// checkValue tells what is wrong with a name, a path or a link, whichever it is. What only a path or
// a link has is told where it is read.
func (p *parser) checkValue(l *line) {
	if l.traits&suspiciousTrait == 0 || l.told {
		return
	}
	d := detail{field: l.field.String(), text: l.value}
	isPath := l.field == allow || l.field == disallow || l.field == noindex
	isLink := l.field == sitemap || l.field == license
	switch seen, bare, rest := visible(l.value), withoutMarkup(l.value), otherComment(l.value); {
	case !isPath && !isLink && l.field != userAgent:
		return
	case hasPlaceholder(l.value):
		p.report(l.number, findPlaceholder, d)
	case isLink:
		return
	case bare != l.value && bare != "":
		d.fix = l.with(bare)
		p.report(l.number, findMarkup, d)
	case seen != l.value:
		d.fix = l.with(seen)
		p.report(l.number, findInvisible, d)
	case isPath && rest >= 0:
		d.fix = trim(l.value[:rest]) + " # " + strings.Trim(l.value[rest:], blanks+"/*;-")
		p.report(l.number, findOtherComment, d)
	default:
		return
	}
	l.told = true
}

// checkHash tells of a # within a path, which is read as the beginning of a comment. raw is the line
// as it is in the file.
func (p *parser) checkHash(l *line, raw string) {
	if len(raw) == len(l.text) || l.told || l.field != allow && l.field != disallow && l.field != noindex {
		return
	}
	at := strings.IndexByte(raw, '#')
	if at <= 0 {
		return
	}
	before, after := raw[at-1], strings.TrimLeft(raw[at+1:], "#")
	if strings.IndexByte(blanks+":", before) < 0 && after != "" && strings.IndexByte(blanks, after[0]) < 0 {
		p.report(l.number, findHash, detail{text: trim(raw), fix: l.text})
	}
}

// with says to write the line with another value, and where that would be about the whole site, to
// do so only if that is meant.
func (l *line) with(value string) string {
	s := `write "` + l.field.String() + ": " + value + `"`
	if strings.Trim(value, "*/") == "" && l.field != userAgent {
		s += " if the whole site is meant"
	}
	return s
}

// hasPlaceholder reports whether a value is of a template: {{ x }}, ${x}, <%= x %>, <?php, %NAME%.
func hasPlaceholder(value string) bool {
	for _, pair := range [...][2]string{{"{{", "}}"}, {"${", "}"}, {"{$", "}"}, {"<%", "%>"}, {"<?", ""}} {
		if _, rest, found := strings.Cut(value, pair[0]); found && strings.Contains(rest, pair[1]) {
			return true
		}
	}
	_, rest, _ := strings.Cut(value, "%")
	name, _, found := strings.Cut(rest, "%")
	_, isEscape := unescape("%" + name)
	return found && len(name) > 2 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" && (!isEscape || strings.IndexByte(name, '_') >= 0)
}

// nextTag returns where the first tag or comment of HTML in s begins and ends, or -1.
func nextTag(s string) (begin, end int) {
	for i := 0; i+1 < len(s); i++ {
		if c := lower[s[i+1]]; s[i] == '<' && ('a' <= c && c <= 'z' || c == '/' || c == '!') {
			length := strings.IndexByte(s[i:], '>')
			if length < 0 {
				return -1, -1
			}
			return i, i + length + 1
		}
	}
	return -1, -1
}

// withoutMarkup returns s without tags and comments of HTML.
func withoutMarkup(s string) string {
	var b strings.Builder
	for {
		begin, end := nextTag(s)
		if begin < 0 && b.Len() == 0 {
			return s
		}
		if begin < 0 {
			return trim(b.String() + s)
		}
		b.WriteString(s[:begin])
		s = s[end:]
	}
}

// visible returns a value with blanks for spaces of other kinds, and without characters that
// nobody sees. (Those that join the letters of some scripts belong to them.)
func visible(value string) string {
	if !utf8.ValidString(value) {
		return value
	}
	return trim(strings.Map(func(r rune) rune {
		switch {
		case r == '\u200C' || r == '\u200D':
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, value))
}

// otherComment returns where in a path a comment begins as other languages write it, -1 for nowhere.
func otherComment(path string) int {
	for i := 1; i < len(path); i++ {
		if path[i-1] != ' ' && path[i-1] != '\t' {
			continue
		}
		rest := path[i:]
		for _, mark := range [...]string{"// ", "; ", "-- ", "/* "} {
			if strings.HasPrefix(rest+" ", mark) && !strings.HasPrefix(trim(rest[len(trim(mark)):]), "/") {
				return i
			}
		}
	}
	return -1
}

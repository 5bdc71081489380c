package robotsrules

import (
	"strings"
	"unicode/utf8"
)

// maxLine is the longest line that is read.
const maxLine = 16 << 10

// blanks are what may surround names and values.
const blanks = " \t"

// scanner cuts a text into lines. It remembers where the next CR and the next LF
// are, so that a file with only one of them is not searched again and again for
// the other.
type scanner struct {
	text   string
	pos    int
	lf, cr int // next LF and CR at or after pos; valid once number > 0
	number int // of the line returned last
}

// next returns the next line without its end, and false after the last one.
func (s *scanner) next() (string, bool) {
	if s.pos >= len(s.text) {
		return "", false
	}
	if s.number == 0 || s.lf < s.pos {
		s.lf = indexFrom(s.text, '\n', s.pos)
	}
	if s.number == 0 || s.cr < s.pos {
		s.cr = indexFrom(s.text, '\r', s.pos)
	}
	s.number++
	end := min(s.lf, s.cr)
	line := s.text[s.pos:end]
	s.pos = end + 1
	if end == s.cr && s.lf == s.cr+1 {
		s.pos++
	}
	return line, true
}

// indexFrom returns the position of c in text at or after from, or len(text).
func indexFrom(text string, c byte, from int) int {
	if i := strings.IndexByte(text[from:], c); i >= 0 {
		return from + i
	}
	return len(text)
}

// trim returns s without blanks at its ends.
func trim(s string) string {
	from, to := 0, len(s)
	for from < to && (s[from] == ' ' || s[from] == '\t') {
		from++
	}
	for from < to && (s[to-1] == ' ' || s[to-1] == '\t') {
		to--
	}
	return s[from:to]
}

// withoutComment returns what a line says: without its comment and outer blanks.
func withoutComment(raw string) string {
	if hash := strings.IndexByte(raw, '#'); hash >= 0 {
		raw = raw[:hash]
	}
	return trim(raw)
}

// field is a field that we know.
type field uint8

const (
	unknownField field = iota
	userAgent
	allow
	disallow
	noindex
	robotVersion
	crawlDelay
	requestRate
	visitTime
	comment
	contentSignal
	contentUsage
	sitemap
	timeGate
	archived
	host
	cleanParam
	license
)

// fieldNames are the fields as we write them.
var fieldNames = [...]string{
	userAgent: "User-agent", allow: "Allow", disallow: "Disallow", noindex: "Noindex",
	robotVersion: "Robot-version", crawlDelay: "Crawl-delay", requestRate: "Request-rate",
	visitTime: "Visit-time", comment: "Comment", contentSignal: "Content-Signal",
	contentUsage: "Content-Usage", sitemap: "Sitemap", timeGate: "TimeGate",
	archived: "Archived", host: "Host", cleanParam: "Clean-param", license: "License",
}

// ofRecord reports whether the field only means something inside a record, or means
// something else there.
func (f field) ofRecord() bool { return allow <= f && f <= contentUsage }

// String returns the field's name as we write it.
func (f field) String() string { return fieldNames[f] }

// line is a line with a field in it.
type line struct {
	number int
	text   string // as written, without comment and outer blanks
	field  field
	name   string // as written
	value  string
	traits traits // of the value of a known field
	typo   bool   // name is a known misspelling
	colon  bool   // a colon follows name
	told   bool   // what is wrong with the value is told already
	more   bool   // what was to be lines of its own stands in the value
}

// secondField returns where in a value another field begins that we know, -1 for nowhere: behind
// a blank, a line end that is spelt out as \n, or what is no part of a path or name.
func secondField(value string) int {
	for colon := 0; ; colon++ {
		next := strings.IndexByte(value[colon:], ':')
		if next < 0 {
			return -1
		}
		colon += next
		from := colon
		for from > 0 && (lower[value[from-1]] >= 'a' && lower[value[from-1]] <= 'z' || value[from-1] == '-') {
			from--
		}
		if from > 0 && value[from-1] == '\\' {
			from++ // the letter of \n
		} else if from > 0 && !dividesFields(value[:from]) {
			continue
		}
		if f, _ := fieldCalled(value[min(from, colon):colon]); f != unknownField {
			return from
		}
	}
}

// dividesFields reports whether the last character of s may stand between two lines that became one.
func dividesFields(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r < 0x80 && strings.IndexByte(">;,|", byte(r)) >= 0 || visible(string(r)) == ""
}

// lex reads a line that is neither blank nor a comment. It returns false when
// the line has no field.
func (l *line) lex(d Dialect) bool {
	colon := strings.IndexByte(l.text, ':')
	l.colon = true
	if colon >= 0 {
		l.name, l.value = trim(l.text[:colon]), trim(l.text[colon+1:])
		l.field, l.typo = fieldOf(l.name, d)
		if l.field != unknownField {
			return true
		}
	}
	return l.lexWords(d) || colon >= 0 && l.name != ""
}

// lexWords reads a line that begins with the name of a known field and a blank
// instead of a colon.
func (l *line) lexWords(d Dialect) bool {
	end := 0
	for range 2 { // "user agent" has a blank inside
		next := strings.IndexAny(l.text[end:], blanks)
		if next < 0 {
			return false
		}
		end += next
		if f, typo := fieldOf(l.text[:end], d); f != unknownField {
			l.field, l.typo, l.colon = f, typo, false
			l.name, l.value = l.text[:end], trim(l.text[end:])
			return true
		}
		end++
	}
	return false
}

// firstField returns the first field of a value that begins with one, without those that follow it.
func firstField(value string) string {
	colon := strings.IndexByte(value, ':') + 1
	if second := secondField(value[colon:]); second > 0 {
		return trim(strings.TrimSuffix(trim(value[:colon+second]), `\n`))
	}
	return value
}

// fieldOf returns the field called name in the dialect, and whether name is one
// of its usual misspellings.
func fieldOf(name string, d Dialect) (f field, typo bool) {
	f, typo = fieldCalled(name)
	// The 1994 standard knows neither.
	if d == NoRobots1994 && (f == allow || f == robotVersion) {
		return unknownField, false
	}
	return f, typo
}

// fieldName is what a name of a field in small letters means.
type fieldName struct {
	field
	typo bool // it is a usual misspelling
}

var fieldsByName = func() map[string]fieldName {
	all := map[string]fieldName{
		"useragent": {userAgent, true}, "user agent": {userAgent, true},
		"dissallow": {disallow, true}, "disalow": {disallow, true}, "dissalow": {disallow, true},
		"disallaw": {disallow, true}, "diasllow": {disallow, true},
		"site-map": {sitemap, true}, "crawldelay": {crawlDelay, true},
	}
	for f := userAgent; f <= license; f++ {
		all[fold(f.String())] = fieldName{f, false}
	}
	return all
}()

func fieldCalled(name string) (f field, typo bool) {
	switch name { // as most files write them
	case "Disallow":
		return disallow, false
	case "Allow":
		return allow, false
	case "User-agent":
		return userAgent, false
	}
	var buf [len("content-signal")]byte
	if len(name) > len(buf) {
		return unknownField, false
	}
	for i := range len(name) {
		buf[i] = lower[name[i]]
	}
	found := fieldsByName[string(buf[:len(name)])]
	return found.field, found.typo
}

// lower folds ASCII capitals. Names of robots and fields are compared without
// regard to case (RFC 9309, section 2.2.1; the 1996 draft, section 3.2.1).
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] += 'a' - 'A'
		}
	}
	return t
}()

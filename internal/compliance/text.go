package compliance

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns s with every character that would not be seen, or would change how others
// are, as an escape: control characters, those that turn the direction of writing, those without
// width, and octets that are no UTF-8.
func visible(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + hex(rune(s[i]), 2))
		case r <= unicode.MaxASCII && hidden(r):
			b.WriteString(`\x` + hex(r, 2))
		case r <= 0xffff && hidden(r):
			b.WriteString(`\u` + hex(r, 4))
		case hidden(r):
			b.WriteString(`\U` + hex(r, 8))
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// plain reports whether all of s is printable ASCII, as nearly everything is.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// hidden reports whether a character is to be shown as an escape. Everything is that is not
// a letter, mark, number, sign or the common space: that takes all spaces that are no blanks,
// and all of Unicode's Cc, Cf, Co, Cs, Zl and Zp.
func hidden(r rune) bool { return !unicode.IsPrint(r) }

// hex returns r in hexadecimal, filled up with zeros.
func hex(r rune, digits int) string {
	s := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", max(digits-len(s), 0)) + s
}

// narrow is a space between groups of digits that breaks no line.
const narrow = "\u202f"

// grouped returns a number in groups of three digits: 1 234 567.
func grouped(n uint64) string {
	s := number(n)
	if n < 10000 {
		return s
	}
	var b strings.Builder
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteString(narrow)
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// compact returns a number in at most four characters and a letter: 1.2M.
func compact(n uint64) string {
	if n < 10000 {
		return number(n)
	}
	f, unit := float64(n), 0
	for f >= 999.5 && unit < 4 {
		f /= 1000
		unit++
	}
	digits := 0
	if f < 9.95 {
		digits = 1
	}
	return strconv.FormatFloat(f, 'f', digits, 64) + []string{"", "k", "M", "G", "T"}[unit]
}

// percent returns a share in percent. It never says 100 % of what is not all, nor 0 % of what
// is not nothing.
func percent(share float64) string {
	switch p := share * 100; {
	case share >= 1 || share <= 0:
		return strconv.FormatFloat(min(max(p, 0), 100), 'f', 0, 64) + narrow + "%"
	case p > 99.9:
		return ">" + "99.9" + narrow + "%"
	case p < 0.1:
		return "<" + "0.1" + narrow + "%"
	case p > 99 || p < 1:
		return strconv.FormatFloat(p, 'f', 1, 64) + narrow + "%"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + narrow + "%"
	}
}

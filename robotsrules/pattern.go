package robotsrules

import "strings"

// star stands for a wildcard in a compiled pattern. It cannot be taken for an
// octet of the pattern, since canonical text has no NUL.
const star = "\x00"

// shape is how a pattern is compared with a target.
type shape uint8

const (
	prefix   shape = iota // the target begins with it
	exact                 // the target is equal to it
	wildcard              // it has stars before its end
)

// pattern is a rule's pattern in canonical text.
type pattern struct {
	shape   shape
	literal string // what the target begins with, up to the first star
	rest    string // what follows the first star, with NULs for further ones
	anchor  bool   // rest has to end where the target ends
	octets  int    // how specific it is
}

// canMatch reports whether anything can match the pattern p, which is not empty.
// A target begins with a slash, so a pattern that begins with anything else is a
// mistake of its author.
func canMatch(p string, stars bool) bool {
	return p[0] == '/' || stars && p[0] == '*'
}

// compilePattern returns the pattern p, which canMatch.
func compilePattern(p string, r reading) pattern {
	switch r {
	case readNoRobots1994:
		return pattern{literal: p}
	case readDraft1996:
		return pattern{literal: canonical(p)}
	case readVersion2:
		return splitStars(withStars(p), true)
	}
	// Only the last octet can be the end of the match (RFC 9309, section 2.2.3).
	body, anchor := strings.CutSuffix(p, "$")
	text := withStars(body)
	c := splitStars(text, anchor)
	c.octets = len(text)
	if anchor {
		c.octets++
	}
	return c
}

// canonical returns s as canonical text, which is s itself as a rule.
func canonical(s string) string {
	if isCanonical(s) {
		return s
	}
	return string(appendCanonical(make([]byte, 0, maxGrowth*len(s)), s))
}

// withStars returns s as canonical text with its stars marked. An encoded star
// is an octet like others (RFC 9309, section 2.2.3).
func withStars(s string) string {
	if strings.IndexByte(s, '*') < 0 {
		return canonical(s)
	}
	if isCanonical(s) {
		return strings.ReplaceAll(s, "*", star)
	}
	b := make([]byte, 0, maxGrowth*len(s))
	for i, segment := range strings.Split(s, "*") {
		if i > 0 {
			b = append(b, star...)
		}
		b = appendCanonical(b, segment)
	}
	return string(b)
}

// splitStars takes a pattern apart at its first star. A star at the end is
// what every prefix has anyhow, so it is dropped, and the end with it.
func splitStars(text string, anchor bool) pattern {
	end := strings.IndexByte(text, star[0])
	if end < 0 {
		if anchor {
			return pattern{shape: exact, literal: text}
		}
		return pattern{literal: text}
	}
	literal, rest := text[:end], text[end+1:]
	open := strings.TrimRight(rest, star)
	if len(open) < len(rest) {
		anchor = false
	}
	open = strings.TrimLeft(open, star)
	if open == "" {
		return pattern{literal: literal}
	}
	return pattern{shape: wildcard, literal: literal, rest: open, anchor: anchor}
}

// matches reports whether p matches target, in canonical text.
func (p pattern) matches(target string) bool {
	rest, found := strings.CutPrefix(target, p.literal)
	switch {
	case !found:
		return false
	case p.shape == exact:
		return rest == ""
	case p.shape == wildcard:
		w := newWildcardRule(&entry{rest: p.rest, anchor: p.anchor})
		return w.matches(rest)
	}
	return true
}

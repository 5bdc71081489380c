package robotsrules

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/robotsrules/internal/index"
)

// pattern is a rule's pattern in canonical text.
type pattern struct {
	index.Pattern
	length int // how specific it is
}

// canMatch reports whether anything can match the pattern p, which is not empty.
// A target begins with a slash, so a pattern that begins with anything else is a
// mistake of its author.
func canMatch(p string, stars bool) bool {
	return p[0] == '/' || stars && p[0] == '*'
}

// compile returns the rule's pattern, which canMatch.
func (r *Rule) compile(reading reading) pattern {
	text := r.Pattern()
	if r.literal && reading != readVersion2 { // as most are
		return pattern{index.Pattern{Literal: text}, len(text)}
	}
	return compilePattern(text, reading)
}

// compilePattern returns the pattern p, which canMatch.
func compilePattern(p string, r reading) pattern {
	switch r {
	case readNoRobots1994:
		return pattern{Pattern: index.Pattern{Literal: p}}
	case readDraft1996:
		return pattern{Pattern: index.Pattern{Literal: canonical(p)}}
	case readVersion2:
		return pattern{Pattern: index.Split(withStars(p), true)}
	}
	// Only the last byte can be the end of the match (RFC 9309, section 2.2.3).
	body, anchor := strings.CutSuffix(p, "$")
	if !anchor && strings.IndexByte(p, '*') < 0 {
		text := canonical(p)
		return pattern{index.Pattern{Literal: text}, len(text)}
	}
	text := withStars(body)
	c := pattern{index.Split(text, anchor), len(text)}
	if anchor {
		c.length++
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
// is a byte like others (RFC 9309, section 2.2.3).
func withStars(s string) string {
	if strings.IndexByte(s, '*') < 0 {
		return canonical(s)
	}
	if isCanonical(s) {
		b := []byte(s)
		for i, c := range b {
			if c == '*' {
				b[i] = index.Star[0]
			}
		}
		return view(b)
	}
	b := make([]byte, 0, maxGrowth*len(s))
	for i, segment := range strings.Split(s, "*") {
		if i > 0 {
			b = append(b, index.Star...)
		}
		b = appendCanonical(b, segment)
	}
	return string(b)
}

// spell returns a target that p matches, in the form that is compared: with gap where
// the pattern has a star, and tail after it when its end is open.
//
// With index.Star for both it is the target that fewest other patterns match. No
// pattern has that byte, so another one matches it only if its stars reach over
// the stars of p; then it matches all that p does.
func (p pattern) spell(gap, tail string) string {
	s := p.Literal
	if p.Shape == index.Wildcard {
		s += gap + strings.ReplaceAll(p.Rest, index.Star, gap)
	}
	if p.Shape != index.Exact && !p.Anchor {
		s += tail
	}
	return s
}

// rooted returns patterns that begin with a slash, as targets do, and together
// match the targets that p does: "*/a" matches what "/a" and "/*/a" match.
func (p pattern) rooted() []pattern {
	switch {
	case p.Literal != "":
		return []pattern{p}
	case p.Shape == index.Prefix:
		return []pattern{{Pattern: index.Pattern{Literal: "/"}}}
	}
	below := p
	below.Literal = "/"
	if p.Rest[0] != '/' {
		return []pattern{below}
	}
	return []pattern{{Pattern: index.Split(p.Rest, p.Anchor)}, below}
}

// sampleGaps are texts for the stars of an example. The first is enough but
// where other rules of the file say something of it.
var sampleGaps = [...]string{"x", "y", "z", "0", "other"}

// samples returns targets that p matches, in the form that is compared, the most
// natural first: of "/*.pdf$" it is "/x.pdf".
func (p pattern) samples() []string {
	all := make([]string, 0, 2*len(sampleGaps))
	for _, gap := range sampleGaps {
		all = append(all, p.spell(gap, ""))
		if s := p.spell(gap, gap); s != all[len(all)-1] {
			all = append(all, s)
		}
	}
	return all
}

// asWritten returns a target in the form that the reading compares as it could
// stand on a request line, where a # would begin a fragment.
func (r reading) asWritten(target string) string {
	if r == readNoRobots1994 {
		return target
	}
	return strings.ReplaceAll(target, "#", "%23")
}

// compared returns the target, which begins with a slash and has no fragment, in
// the form that the reading compares.
func (r reading) compared(target string) string {
	if r == readNoRobots1994 {
		return target
	}
	return canonical(target)
}

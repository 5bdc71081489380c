package robotsrules

import "strings"

// spell returns a target that p matches, in the form that is compared: gap stands
// where the pattern has a star, and tail behind it when its end is open.
//
// With star for both it is the target that fewest other patterns match. No
// pattern has that octet, so another one matches it only if its stars reach over
// the stars of p; then it matches all that p does.
func (p pattern) spell(gap, tail string) string {
	s := p.literal
	if p.shape == wildcard {
		s += gap + strings.ReplaceAll(p.rest, star, gap)
	}
	if p.shape != exact && !p.anchor {
		s += tail
	}
	return s
}

// rooted returns patterns that begin with a slash, as targets do, and together
// match the targets that p does: "*/a" matches what "/a" and "/*/a" match.
func (p pattern) rooted() []pattern {
	switch {
	case p.literal != "":
		return []pattern{p}
	case p.shape == prefix:
		return []pattern{{literal: "/"}}
	}
	below := p
	below.literal = "/"
	if p.rest[0] != '/' {
		return []pattern{below}
	}
	return []pattern{splitStars(p.rest, p.anchor), below}
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

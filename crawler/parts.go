package crawler

import (
	"bytes"
	"strings"
)

// place says where in a User-Agent a part stands.
type place uint8

const (
	product         place = iota // outside comments
	comment                      // in a comment
	afterCompatible              // directly behind "compatible;"
	afterGecko                   // directly behind "(KHTML, like Gecko;"
	platform                     // in a platform comment
)

// A part is something that may be a name, already without version and address:
// the octets from (inclusive) to (exclusive).
type part struct {
	from, to  int
	place     place
	versioned bool // a "/" follows
}

// parts holds the parts of a User-Agent in order; what does not fit is left out.
type parts struct {
	at [64]part
	n  int
}

func (p *parts) add(one part) {
	if p.n < len(p.at) && one.to > one.from {
		p.at[p.n] = one
		p.n++
	}
}

func (p *parts) all() []part { return p.at[:p.n] }

// parts takes the User-Agent to pieces: products end at a blank, comments are split
// at semicolons and commas.
func (s *sent) parts() parts {
	var p parts
	i := 0
	if !s.browserShaped {
		i = s.leading(&p)
	}
	depth, last := 0, part{}
	for i < len(s.lower) && p.n < len(p.at) {
		switch c := s.lower[i]; {
		case c == '(':
			depth++
			i++
		case c == ')':
			depth = max(depth-1, 0)
			i++
		case isSeparator(c):
			i++
		default:
			end := s.partEnd(i, depth > 0)
			last = s.part(i, end, depth > 0, last)
			p.add(last)
			i = end
		}
	}
	return p
}

// leading adds the first product of what is not shaped like a browser, which may
// hold blanks ("Sogou web spider/4.0"), and returns where to go on.
func (s *sent) leading(p *parts) int {
	end := 0
	for end < len(s.lower) && strings.IndexByte("/()[];,", s.lower[end]) < 0 {
		end++
	}
	if i := bytes.Index(s.lower[:end], []byte(" mozilla")); i > 0 {
		end = i
	}
	first := part{versioned: end < len(s.lower) && s.lower[end] == '/'}
	first.from, first.to = s.name(0, end)
	if first.to == first.from {
		return 0 // a URL, or nothing of the sort: to be taken word by word
	}
	p.add(first)
	return s.partEnd(first.to, false)
}

// part makes a part of the octets [from, to), given the one before it.
func (s *sent) part(from, to int, inComment bool, last part) part {
	one := part{versioned: bytes.IndexByte(s.lower[from:to], '/') >= 0}
	one.from, one.to = s.name(from, to)
	before := string(s.lower[last.from:last.to])
	switch {
	case s.masked.contain(from):
		one.place = platform
	case before == "compatible":
		one.place = afterCompatible
	case inComment && before == "like gecko":
		one.place = afterGecko
	case inComment:
		one.place = comment
	}
	return one
}

// partEnd returns where the part that begins at from ends.
func (s *sent) partEnd(from int, inComment bool) int {
	for i := from; i < len(s.lower); i++ {
		switch c := s.lower[i]; {
		case c == '(' || c == ')' || c == ';' || c == ',':
			return i
		case isBlank(c) && !inComment:
			return i
		}
	}
	return len(s.lower)
}

func isSeparator(c byte) bool { return c == ';' || c == ',' || isBlank(c) }

// name returns the octets of [from, to) that make a name: without version, address,
// what cannot be printed, and what stands around it.
func (s *sent) name(from, to int) (int, int) {
	to = s.beforeAddress(from, to)
	if i := bytes.IndexByte(s.lower[from:to], '/'); i >= 0 {
		to = from + i
	}
	for from < to && isAround(s.lower[from]) {
		from++
	}
	for i := from; i < to; i++ {
		if c := s.lower[i]; c < ' ' || c > '~' || strings.IndexByte(noName, c) >= 0 {
			to = i
		}
	}
	to = s.lastWord(from, min(to, from+maxName))
	for to > from && isAround(s.lower[to-1]) {
		to--
	}
	return from, to
}

// noName are octets that no robot has in its name, and that mean something where names
// are shown: in HTML, in JSON, in a Caddyfile.
const noName = "<>\"&{}\\`"

// beforeAddress cuts [from, to) where a URL or a host name begins.
func (s *sent) beforeAddress(from, to int) int {
	for _, address := range [...]string{"http:", "https:", "www."} {
		if i := bytes.Index(s.lower[from:to], []byte(address)); i >= 0 {
			to = from + i
		}
	}
	return to
}

// lastWord cuts [from, to) at a word that no name goes on with or that is an e-mail
// address, before a version, and behind the word that makes it a robot's name.
func (s *sent) lastWord(from, to int) int {
	for start := from; start < to; {
		end := start
		for end < to && s.lower[end] != ' ' {
			end++
		}
		w := s.lower[start:end]
		if bytes.IndexByte(w, '@') >= 0 || start > from && !isNameWord(w) {
			return start
		}
		if version := s.beforeVersion(start, end); version < end {
			return version
		}
		isLast := known.words.carries(s.lower, start, end, robotWord)
		if isLast && (start > from || !known.nameNobody.match(w)) {
			return end
		}
		start = end + 1
	}
	return to
}

// isRobotWord reports whether a robot's word or name begins in [from, to).
func (s *sent) isRobotWord(from, to int) bool {
	return known.words.carries(s.lower, from, to, robotWord|robotName)
}

// isNameWord reports whether a name may go on with w: not with a version, a dash, or
// something that has a value ("feed-id:12").
func isNameWord(w []byte) bool {
	if string(w) == "-" || bytes.IndexByte(w, ':') >= 0 {
		return false
	}
	if len(w) > 1 && w[0] == 'v' {
		w = w[1:]
	}
	return len(w) == 0 || !isDigit(w[0])
}

// beforeVersion cuts a version such as "-2.0" off the end of the word [from, to).
func (s *sent) beforeVersion(from, to int) int {
	i, dots := to, 0
	for i > from && isAround(s.lower[i-1]) {
		i--
	}
	for i > from && (isDigit(s.lower[i-1]) || s.lower[i-1] == '.') {
		i--
		if s.lower[i] == '.' {
			dots++
		}
	}
	if dots > 0 && i > from+1 && (s.lower[i-1] == '-' || s.lower[i-1] == '_') {
		return i - 1
	}
	return to
}

// isAround reports whether c may stand around a name without being part of it.
func isAround(c byte) bool {
	return c <= ' ' || c > '~' || strings.IndexByte(`+-_:*.,"'<>=[]{}|`, c) >= 0
}

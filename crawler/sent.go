package crawler

import (
	"bytes"
	"strings"
)

// sent is one User-Agent as it is read: the text, a lower-case copy of it of the
// same length, and which comments in it state a platform or device.
type sent struct {
	raw           string
	lower         []byte
	masked        spans
	browserShaped bool // begins as browsers do since 1994: Mozilla, or Opera
	nameInMasked  bool // a robot's name was found in a platform comment only
}

// read prepares userAgent, which must not be longer than buffer.
func read(userAgent string, buffer []byte) sent {
	raw := strip(userAgent)
	lower := buffer[:len(raw)]
	for i := range lower {
		c := raw[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	s := sent{raw: raw, lower: lower}
	s.browserShaped = isBrowserShaped(lower)
	s.maskPlatforms()
	return s
}

// strip drops what careless clients put around a User-Agent: blanks, quotes, and
// the header's own name.
func strip(userAgent string) string {
	const header = "user-agent:"
	userAgent = strings.Trim(userAgent, " \t\r\n")
	if len(userAgent) > len(header) && strings.EqualFold(userAgent[:len(header)], header) {
		userAgent = userAgent[len(header):]
	}
	return strings.TrimLeft(userAgent, " \t\"'")
}

func isBrowserShaped(lower []byte) bool {
	for _, name := range [...]string{"mozilla", "opera"} {
		if n := len(name); len(lower) >= n && string(lower[:n]) == name {
			return len(lower) == n || !isLetter(lower[n])
		}
	}
	return false
}

// A span is the octets from (inclusive) to (exclusive).
type span struct{ from, to int }

// spans holds the few platform comments of a User-Agent, in order. When there are
// more than fit, the last one reaches to the end of the text.
type spans struct {
	at [8]span
	n  int
}

func (m *spans) add(from, to, end int) {
	if m.n == len(m.at)-1 {
		to = end
	}
	if m.n < len(m.at) {
		m.at[m.n] = span{from, to}
		m.n++
	}
}

// contain reports whether octet i lies in one of the spans.
func (m *spans) contain(i int) bool {
	return m.end(i) > 0
}

// end returns where the span that contains octet i ends, or 0 if none does.
func (m *spans) end(i int) int {
	for _, s := range m.at[:m.n] {
		if s.from <= i && i < s.to {
			return s.to
		}
	}
	return 0
}

// maskPlatforms finds the comments that state a platform or device, where any word
// may be the name of a phone. A comment that is never closed reaches to the end.
func (s *sent) maskPlatforms() {
	first := true
	for i := 0; i < len(s.lower); i++ {
		switch s.lower[i] {
		case '(':
			to := closing(s.lower, i, '(', ')')
			if s.isPlatform(i, to, first) {
				s.masked.add(i, to, len(s.lower))
			}
			first = false
			i = to - 1
		case '[':
			// Facebook's apps append their phone in brackets: [FBAN/...;FBDV/XBot;...].
			to := closing(s.lower, i, '[', ']')
			if bytes.HasPrefix(s.lower[i:], []byte("[fb")) {
				s.masked.add(i, to, len(s.lower))
				i = to - 1
			}
		}
	}
}

// isPlatform reports whether the comment in [from, to) states a platform: the first
// one of a browser, one that speaks of Android in any client's User-Agent, or one
// behind the word Android, as Instagram writes it.
func (s *sent) isPlatform(from, to int, first bool) bool {
	before := bytes.TrimRight(s.lower[:from], " ")
	if len(before) < from && bytes.HasSuffix(before, []byte("android")) {
		return true
	}
	inside := s.lower[from:to]
	if !known.openers.match(bytes.TrimLeft(inside[1:], " ")) {
		return false
	}
	return first && s.browserShaped || bytes.Contains(inside, []byte("android"))
}

// closing returns the position behind the octet that closes the one at from.
func closing(text []byte, from int, opens, closes byte) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch text[i] {
		case opens:
			depth++
		case closes:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// text returns the User-Agent without its platform comments, unless the robot's
// name stands in one: its token could not be found otherwise.
func (s *sent) text() string {
	if s.masked.n == 0 || s.nameInMasked {
		return s.raw
	}
	var b strings.Builder
	b.Grow(len(s.raw))
	from := 0
	for _, m := range s.masked.at[:s.masked.n] {
		b.WriteString(s.raw[from:m.from])
		from = m.to
	}
	b.WriteString(s.raw[from:])
	return b.String()
}

package crawler

import (
	"bytes"
	"strings"
)

// An agent is one User-Agent, prepared for reading.
type agent struct {
	raw            string // the User-Agent, stripped
	lower          []byte // raw in lower case, of the same length
	platforms      spans  // comments that state a platform or device
	browserShaped  bool   // begins as browsers do since 1994: Mozilla, or Opera
	nameInPlatform bool   // a robot's name was found in a platform comment only
}

// read prepares userAgent, which must not be longer than buffer.
func read(userAgent string, buffer []byte) agent {
	raw := strip(userAgent)
	lower := buffer[:len(raw)]
	for i := range lower {
		c := raw[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	a := agent{raw: raw, lower: lower}
	a.browserShaped = isBrowserShaped(lower)
	a.findPlatforms()
	return a
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

// A span is the bytes from (inclusive) to (exclusive).
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

// contains reports whether byte i lies in one of the spans.
func (m *spans) contains(i int) bool {
	for _, s := range m.at[:m.n] {
		if s.from <= i && i < s.to {
			return true
		}
	}
	return false
}

// findPlatforms finds the comments that state a platform or device, where any word
// may be the name of a phone. A comment that is never closed reaches to the end.
func (a *agent) findPlatforms() {
	first := true
	for i := 0; i < len(a.lower); i++ {
		switch a.lower[i] {
		case '(':
			to := closing(a.lower, i, '(', ')')
			if a.isPlatform(i, to, first) {
				a.platforms.add(i, to, len(a.lower))
			}
			first = false
			i = to - 1
		case '[':
			// Facebook's apps append their phone in brackets: [FBAN/...;FBDV/XBot;...].
			to := closing(a.lower, i, '[', ']')
			if bytes.HasPrefix(a.lower[i:], []byte("[fb")) {
				a.platforms.add(i, to, len(a.lower))
				i = to - 1
			}
		}
	}
}

// isPlatform reports whether the comment in [from, to) states a platform: the first
// one of a browser, one that speaks of Android in any client's User-Agent, or one
// behind the word Android, as Instagram writes it.
func (a *agent) isPlatform(from, to int, first bool) bool {
	before := bytes.TrimRight(a.lower[:from], " ")
	if len(before) < from && bytes.HasSuffix(before, []byte("android")) {
		return true
	}
	inside := a.lower[from:to]
	if !known.openers.match(bytes.TrimLeft(inside[1:], " ")) {
		return false
	}
	return first && a.browserShaped || bytes.Contains(inside, []byte("android"))
}

// closing returns the position behind the byte that closes the one at from.
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

// text returns the User-Agent without its platform comments; with them if the robot's
// name is in one, because its token could not be found otherwise.
func (a *agent) text() string {
	if a.platforms.n == 0 || a.nameInPlatform {
		return a.raw
	}
	var b strings.Builder
	b.Grow(len(a.raw))
	from := 0
	for _, m := range a.platforms.at[:a.platforms.n] {
		b.WriteString(a.raw[from:m.from])
		from = m.to
	}
	b.WriteString(a.raw[from:])
	return b.String()
}

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
	found          mark   // what class has found
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
			return len(lower) == n || lower[n] == '/' || lower[n] == ' ' || lower[n] == '+'
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
		case '{':
			// Apps append what they were asked in JSON, where any word may be a person's.
			if !a.browserShaped {
				to := closing(a.lower, i, '{', '}')
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

// text returns what the client says of itself, in which the names of robots.txt are looked
// for: its words without versions, without addresses, without the products of browsers and
// engines, and without platform comments; those are read only if the robot's name stands in one.
// What stood in different parts is kept apart by semicolons. If nothing is left, browsers'
// words are its name. The name is always in it, even where it is the host of an address.
func (a *agent) text(name string) string {
	var b strings.Builder
	b.Grow(len(a.raw) + len(name))
	a.writeWords(&b, false)
	if text := b.String(); name != "" && !strings.Contains(text, name) {
		if text != "" {
			b.WriteString("; ")
		}
		b.WriteString(name)
	}
	if b.Len() == 0 {
		a.writeWords(&b, true)
	}
	return b.String()
}

// writeWords writes the words of text, those of browsers too if asked.
func (a *agent) writeWords(b *strings.Builder, browsers bool) {
	apart := " "
	for i := 0; i < len(a.lower); {
		if c := a.lower[i]; isBlank(c) || isDivider(c) {
			if isDivider(c) {
				apart = "; "
			}
			i++
			continue
		}
		from := i
		for i < len(a.lower) && !isBlank(a.lower[i]) && !isDivider(a.lower[i]) {
			i++
		}
		to := from + len(beforeVersion(a.lower[from:i]))
		if a.platforms.contains(from) && !a.nameInPlatform || isAddress(a.lower[from:i]) ||
			!hasLetterOrDigit(a.lower[from:to]) || !browsers && isBrowsersWord(a.lower[from:to]) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(apart)
		}
		b.WriteString(a.raw[from:to])
		apart = " "
	}
}

// isDivider reports whether c parts what belongs together.
func isDivider(c byte) bool { return c == ';' || c == ',' || c == '(' || c == ')' }

// beforeVersion cuts a word at its version.
func beforeVersion(w []byte) []byte {
	if i := bytes.IndexByte(w, '/'); i >= 0 {
		return w[:i]
	}
	return w
}

// isAddress reports whether w is a web or e-mail address.
func isAddress(w []byte) bool {
	return bytes.Contains(w, []byte("://")) || bytes.IndexByte(w, '@') >= 0 ||
		bytes.HasPrefix(bytes.TrimLeft(w, "+"), []byte("www.")) || isBareHost(w)
}

// isBareHost reports whether w is an address without its scheme, as in "+devin.ai".
func isBareHost(w []byte) bool {
	host := beforeVersion(w)
	dot := bytes.LastIndexByte(host, '.')
	return dot > 0 && host[0] == '+' && dot+1 < len(host) && isLetter(host[dot+1])
}

// isBrowsersWord reports whether w is the product of a browser or engine that people use.
func isBrowsersWord(w []byte) bool {
	if i := bytes.IndexByte(w, ':'); i > 0 {
		w = w[:i]
	}
	return known.browserWords[string(w)]
}

package crawler

import (
	"bytes"

	"github.com/mssola/useragent"
)

// classOf says what kind of client sends userAgent, without allocating anything unless
// github.com/mssola/useragent is asked.
func classOf(userAgent string) Class {
	var buffer [MaxLength]byte
	s := read(userAgent, buffer[:])
	return s.class(userAgent)
}

// class says what kind of client s is, which was read from userAgent. The questions are asked in the order of
// their cost; github.com/mssola/useragent, which costs most, is asked last, and
// only about what neither looks like a browser nor like an app.
//
// The text is an argument although s holds it, because what is handed to another
// package has to live on the heap, and everything in s would follow it there.
func (s *sent) class(userAgent string) Class {
	if len(bytes.TrimSpace(s.lower)) == 0 {
		return Unstated
	}
	found := known.words.find(s.lower, &s.masked)
	switch {
	case found&(robotWord|robotName|platformRobot) != 0, s.hasContact(found), s.isCompatible(), s.namedAfterGecko():
		return Robot
	case s.isBrowser(found):
		return Browser
	case found&appMark == 0 && mssola(userAgent).Bot():
		return Robot
	default:
		return App
	}
}

// mssolaLength is how much of a User-Agent github.com/mssola/useragent gets to read.
// It takes up to 0.4 microseconds for each octet; what it goes by is the first
// product, and addresses, which were looked for already.
const mssolaLength = 256

func mssola(userAgent string) *useragent.UserAgent {
	userAgent = strip(userAgent)
	return useragent.New(userAgent[:min(len(userAgent), mssolaLength)])
}

// isBrowser reports whether s looks like a browser, given that it shows no sign of
// a robot. Some phones put their model before "Mozilla/".
func (s *sent) isBrowser(found mark) bool {
	return s.browserShaped || found&phoneMark != 0 ||
		known.firsts.match(s.lower) || bytes.Contains(s.lower, []byte("mozilla/"))
}

// hasContact reports whether s says how to reach its owner, in a way in which no
// browser gives an address: phones link to their profile, toolbars and apps to
// their home page.
func (s *sent) hasContact(found mark) bool {
	if !s.browserShaped && found&(appMark|phoneMark) != 0 {
		return false
	}
	for i := nextURL(s.lower, 0); i >= 0; i = nextURL(s.lower, i+1) {
		if s.isContactURL(i, found) {
			return true
		}
	}
	return s.hasContactMail(found)
}

// isContactURL reports whether the URL at i is one that only robots send.
func (s *sent) isContactURL(i int, found mark) bool {
	switch {
	case !s.browserShaped:
		return true
	case s.hasEngine(found):
		return i > 0 && s.lower[i-1] == '+' && !s.inExplorerComment(i)
	default:
		return !bytes.HasSuffix(s.lower[:i], []byte(": "))
	}
}

// hasContactMail looks for an e-mail address. Browsers without an engine are left
// out: those are of the 1990s, and some carried their user's address.
func (s *sent) hasContactMail(found mark) bool {
	if s.browserShaped && !s.hasEngine(found) {
		return false
	}
	for i, c := range s.lower {
		if c == '@' && isMail(s.lower, i) && !s.masked.contain(i) {
			return true
		}
	}
	return false
}

// hasEngine reports whether a browser-shaped User-Agent names a browser engine;
// Opera was its own.
func (s *sent) hasEngine(found mark) bool {
	return found&engineMark != 0 || s.lower[0] == 'o'
}

// inExplorerComment reports whether octet i is in the platform comment of Internet
// Explorer, into which its toolbars write.
func (s *sent) inExplorerComment(i int) bool {
	return s.masked.contain(i) && bytes.Contains(s.lower[s.masked.at[0].from:s.masked.at[0].to], []byte("msie"))
}

// nextURL returns where the next http or https URL begins at or after from, or -1.
func nextURL(lower []byte, from int) int {
	for from < len(lower) {
		i := bytes.Index(lower[from:], []byte("http"))
		if i < 0 {
			return -1
		}
		i += from
		rest := lower[i+len("http"):]
		if bytes.HasPrefix(rest, []byte("://")) || bytes.HasPrefix(rest, []byte("s://")) {
			return i
		}
		from = i + 1
	}
	return -1
}

// isMail reports whether the "@" at i stands in an e-mail address: a letter or
// digit before it, a name and a top-level domain of letters after it.
func isMail(lower []byte, i int) bool {
	if i == 0 || !isLetter(lower[i-1]) && !isDigit(lower[i-1]) {
		return false
	}
	host := lower[i+1:]
	end := 0
	for end < len(host) && (isLetter(host[end]) || isDigit(host[end]) || host[end] == '-' || host[end] == '.') {
		end++
	}
	host = bytes.TrimRight(host[:end], ".-")
	dot := bytes.LastIndexByte(host, '.')
	return dot > 0 && len(host)-dot > 2 && isLetter(host[dot+1]) && isLetter(host[dot+2])
}

// isCompatible reports whether a Mozilla/5.0 User-Agent says "compatible; Name"
// where Name is no browser. Older Mozilla versions were said by browsers, too.
func (s *sent) isCompatible() bool {
	if !bytes.HasPrefix(s.lower, []byte("mozilla/5.0")) {
		return false
	}
	const compatible = "compatible;"
	for from := 0; ; {
		i := bytes.Index(s.lower[from:], []byte(compatible))
		if i < 0 {
			return false
		}
		from += i + len(compatible)
		name := bytes.TrimLeft(s.lower[from:], " +")
		if !s.masked.contain(from) && namesSomething(name) && !known.notRobots.match(name) {
			return true
		}
	}
}

// namedAfterGecko reports whether something that is no browser stands behind
// "(KHTML, like Gecko" and a comma or semicolon.
func (s *sent) namedAfterGecko() bool {
	const like = "like gecko"
	i := bytes.Index(s.lower, []byte(like))
	if i < 0 || !bytes.HasSuffix(bytes.TrimRight(s.lower[:i], " +"), []byte("khtml,")) {
		return false
	}
	rest := bytes.TrimLeft(s.lower[i+len(like):], " ")
	if len(rest) == 0 || rest[0] != ';' && rest[0] != ',' {
		return false
	}
	name := bytes.TrimLeft(rest[1:], " +")
	return namesSomething(name) && !known.afterGecko.match(name) && !known.browsers.match(name)
}

// namesSomething reports whether name begins with a name of at least two octets, and
// with all of it: what runs to the end of the text may be the half of a browser's,
// since some proxies cut long headers.
func namesSomething(name []byte) bool {
	return bytes.IndexAny(name, "/;), ") > 1 && (isLetter(name[0]) || isDigit(name[0]))
}

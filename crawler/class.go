package crawler

import (
	"bytes"

	"github.com/mssola/useragent"
)

// classOf says what kind of client sends userAgent. It allocates nothing unless
// github.com/mssola/useragent is asked; to find a name does, even if it is not needed.
func classOf(userAgent string) Class {
	var buffer [MaxLength]byte
	a := read(userAgent, buffer[:])
	return a.class(userAgent)
}

// class says what kind of client sends a, which was read from userAgent. The questions are
// asked in the order of their cost; github.com/mssola/useragent, which costs most, is asked
// last, and only about what neither looks like a browser nor like an app. Nothing else
// allocates.
//
// The text is an argument although a holds it: what another package gets has to live on the
// heap, and all of a would have to be there too.
func (a *agent) class(userAgent string) Class {
	if len(bytes.TrimSpace(a.lower)) == 0 {
		return Unstated
	}
	found := known.words.find(a.lower, &a.platforms)
	switch {
	case found&(robotWord|robotName|platformRobot) != 0, a.hasContact(found), a.isCompatible(), a.namedAfterGecko():
		return Robot
	case a.isBrowser(found):
		return Browser
	case found&appMark == 0 && mssola(userAgent).Bot():
		return Robot
	default:
		return App
	}
}

// mssolaLength is how much of a User-Agent github.com/mssola/useragent gets to read.
// It takes up to 0.4 microseconds for each byte; what it goes by is the first
// product, and addresses, which were looked for already.
const mssolaLength = 256

func mssola(userAgent string) *useragent.UserAgent {
	userAgent = strip(userAgent)
	return useragent.New(userAgent[:min(len(userAgent), mssolaLength)])
}

// isBrowser reports whether a looks like a browser, given that it shows no sign of
// a robot. Some phones put their model before "Mozilla/".
func (a *agent) isBrowser(found mark) bool {
	return a.browserShaped || found&phoneMark != 0 ||
		known.firsts.match(a.lower) || bytes.Contains(a.lower, []byte("mozilla/"))
}

// hasContact reports whether a says how to reach its owner, in a way in which no
// browser gives an address: phones link to their profile, toolbars and apps to
// their home page.
func (a *agent) hasContact(found mark) bool {
	if !a.browserShaped && found&(appMark|phoneMark) != 0 {
		return false
	}
	for i := nextURL(a.lower, 0); i >= 0; i = nextURL(a.lower, i+1) {
		if a.isContactURL(i, found) {
			return true
		}
	}
	return a.hasContactMail(found)
}

// isContactURL reports whether the URL at i is one that only robots send.
func (a *agent) isContactURL(i int, found mark) bool {
	switch {
	case !a.browserShaped:
		return true
	case a.hasEngine(found):
		return i > 0 && a.lower[i-1] == '+' && !a.inExplorerComment(i)
	default:
		return !bytes.HasSuffix(a.lower[:i], []byte(": "))
	}
}

// hasContactMail looks for an e-mail address. Browsers without an engine are left
// out: those are of the 1990s, and some carried their user's address.
func (a *agent) hasContactMail(found mark) bool {
	if a.browserShaped && !a.hasEngine(found) {
		return false
	}
	for i, c := range a.lower {
		if c == '@' && isMail(a.lower, i) && !a.platforms.contains(i) {
			return true
		}
	}
	return false
}

// hasEngine reports whether a browser-shaped User-Agent names a browser engine;
// Opera was its own.
func (a *agent) hasEngine(found mark) bool {
	return found&engineMark != 0 || a.lower[0] == 'o'
}

// inExplorerComment reports whether byte i is in the platform comment of Internet
// Explorer, into which its toolbars write.
func (a *agent) inExplorerComment(i int) bool {
	return a.platforms.contains(i) && bytes.Contains(a.lower[a.platforms.at[0].from:a.platforms.at[0].to], []byte("msie"))
}

// nextURL returns where the next http or https URL begins at or after from, or -1.
func nextURL(lower []byte, from int) int {
	for {
		i := bytes.Index(lower[from:], []byte("http"))
		if i < 0 {
			return -1
		}
		from += i + len("http")
		if rest := bytes.TrimPrefix(lower[from:], []byte("s")); bytes.HasPrefix(rest, []byte("://")) {
			return from - len("http")
		}
	}
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
func (a *agent) isCompatible() bool {
	if !bytes.HasPrefix(a.lower, []byte("mozilla/5.0")) {
		return false
	}
	const compatible = "compatible;"
	for from := 0; ; {
		i := bytes.Index(a.lower[from:], []byte(compatible))
		if i < 0 {
			return false
		}
		from += i + len(compatible)
		name := bytes.TrimLeft(a.lower[from:], " +")
		if !a.platforms.contains(from) && namesSomething(name) && !known.notRobots.match(name) {
			return true
		}
	}
}

// namedAfterGecko reports whether something that is no browser stands behind
// "(KHTML, like Gecko" and a comma or semicolon.
func (a *agent) namedAfterGecko() bool {
	const like = "like gecko"
	i := bytes.Index(a.lower, []byte(like))
	if i < 0 || !bytes.HasSuffix(bytes.TrimRight(a.lower[:i], " +"), []byte("khtml,")) {
		return false
	}
	rest := bytes.TrimLeft(a.lower[i+len(like):], " ")
	if len(rest) == 0 || rest[0] != ';' && rest[0] != ',' {
		return false
	}
	name := bytes.TrimLeft(rest[1:], " +")
	return namesSomething(name) && !known.afterGecko.match(name) && !known.browsers.match(name)
}

// namesSomething reports whether name begins with a name of at least two bytes, and
// with all of it: what runs to the end of the text may be the half of a browser's,
// since some proxies cut long headers.
func namesSomething(name []byte) bool {
	return bytes.IndexAny(name, "/;), ") > 1 && (isLetter(name[0]) || isDigit(name[0]))
}

package crawler

import (
	"bytes"

	"github.com/mssola/useragent"
)

// classOf says what kind of client sends userAgent, but for what its products say of services,
// and which words were found. It allocates nothing unless
// github.com/mssola/useragent is asked; to find a name does, even if it is not needed.
func classOf(userAgent string) (Class, mark) {
	var buffer [MaxLength]byte
	a := read(userAgent, buffer[:])
	return a.class(userAgent), a.found
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
	a.found = found
	switch {
	case a.isHandsetApp():
		return App
	case found&(robotName|platformRobot) != 0, found&(robotWord|tradeWord) != 0 && a.wordsCount(found),
		a.hasContact(found), a.isCompatible(found), a.namedAfterGecko(), a.robotAmongPlatform():
		return Robot
	case found&serviceMark != 0:
		return Service
	case a.isBrowser(found):
		return Browser
	case bytes.Contains(a.lower, []byte("fetch")), bytes.Contains(a.lower, []byte("spider")):
		return App // an exception of words.txt: otherwise the word was found above
	case found&(personMark|programMark) == 0 && mssola(userAgent).Bot():
		return Robot
	default:
		return App
	}
}

// wordsCount reports whether a robot's word or a trade word, of which some were found, says that
// a is a robot. Nobody's app is one for its name: of programs that are made of a browser, and of
// apps of handsets that hold one, no word counts, of browsers of handsets and apps of desktops no
// trade word.
func (a *agent) wordsCount(found mark) bool {
	switch {
	case a.browserShaped && found&shellMark != 0, a.isWebView():
		return false
	case found&robotWord != 0:
		return true
	case a.browserShaped:
		return !a.isHandsetBrowser()
	default:
		return found&appMark == 0 || nextURL(a.lower, 0) >= 0 || a.hasMail()
	}
}

// personMark are the signs of an app that a person runs.
const personMark = appMark | handsetMark

// isHandsetApp reports whether a is an app on a handset, of which robots' words say nothing:
// games are called iRobot and Spider. One that gives an address is asked like all others.
func (a *agent) isHandsetApp() bool {
	return a.found&handsetMark != 0 && !a.browserShaped && !bytes.Contains(a.lower, []byte("mozilla")) &&
		nextURL(a.lower, 0) < 0 && !a.hasMail()
}

// isHandsetBrowser reports whether a is shaped like the browser of a handset. The apps that
// hold one put their own name behind it, and some the address of their support, so there a
// trade word counts only beside an e-mail address, and the other way round.
func (a *agent) isHandsetBrowser() bool {
	return a.onPlatform("android") || a.isApples()
}

// isWebView reports whether a is the browser inside of an app: Android says so, and Apple's
// handsets leave out Safari.
func (a *agent) isWebView() bool {
	return a.onPlatform("android") && a.onPlatform("; wv)") ||
		a.isApples() && bytes.Contains(a.lower, []byte("mobile/")) && !bytes.Contains(a.lower, []byte("safari"))
}

// isApples reports whether a is shaped like a browser of one of Apple's handsets.
func (a *agent) isApples() bool {
	return a.onPlatform("iphone") || a.onPlatform("ipad") || a.onPlatform("ipod")
}

// onPlatform reports whether a is shaped like a browser and its first platform comment has text
// in it.
func (a *agent) onPlatform(text string) bool {
	return a.browserShaped && a.platforms.n > 0 &&
		bytes.Contains(a.lower[a.platforms.at[0].from:a.platforms.at[0].to], []byte(text))
}

// robotAmongPlatform reports whether one platform comment of a browser holds both a robot's
// word and an address: no phone is called so and gives one. A bare host directly before the
// word counts too, but on handsets.
func (a *agent) robotAmongPlatform() bool {
	for _, s := range a.platforms.at[:a.platforms.n] {
		if a.browserShaped && a.hasRobotWord(s.from, s.to) &&
			(nextURL(a.lower[:s.to], s.from) >= 0 || a.hasHostsRobot(s) && !a.isHandsetBrowser()) {
			return true
		}
	}
	return false
}

// hasHostsRobot reports whether s holds a name such as "robots.example crawler".
func (a *agent) hasHostsRobot(s span) bool {
	host := false
	for from := s.from; from < s.to; {
		to := from
		for to < s.to && !isBlank(a.lower[to]) {
			to++
		}
		if host && a.hasRobotWord(from, to) {
			return true
		}
		dot := bytes.LastIndexByte(a.lower[from:to], '.')
		host = dot > 0 && from+dot+2 < to && isLetter(a.lower[from+dot+1]) && isLetter(a.lower[to-1])
		from = to + 1
	}
	return false
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
	if !a.browserShaped && found&(personMark|programMark|phoneMark) != 0 {
		return false
	}
	for i := nextURL(a.lower, 0); i >= 0; i = nextURL(a.lower, i+1) {
		if a.isContactURL(i, found) {
			return true
		}
	}
	return a.hasContactMail(found) && (found&tradeWord != 0 || !a.isHandsetBrowser())
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
	return a.hasMail()
}

// hasMail reports whether an e-mail address stands outside the platform comments.
func (a *agent) hasMail() bool {
	for i := bytes.IndexByte(a.lower, '@'); i >= 0 && i < len(a.lower); i++ {
		if a.lower[i] == '@' && isMail(a.lower, i) && !a.platforms.contains(i) {
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
// where Name is no browser. Older Mozilla versions were said by browsers, too, and those of
// rare systems name the system behind it, and their engine.
func (a *agent) isCompatible(found mark) bool {
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
		if !a.platforms.contains(from) && namesSomething(name) && !known.notRobots.match(name) &&
			!(a.hasEngine(found) && a.namesPlatform(from)) {
			return true
		}
	}
}

// namesPlatform reports whether the rest of the comment from there on names a system, and
// neither a robot's word nor an address.
func (a *agent) namesPlatform(from int) bool {
	to := a.commentEnd(from)
	for i := from; i < to; i++ {
		if !isLetter(a.lower[i-1]) && known.platforms.match(a.lower[i:to]) {
			return nextURL(a.lower[:to], from) < 0 && !a.hasRobotWord(from, to)
		}
	}
	return false
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

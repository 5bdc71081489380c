package crawler

import (
	"bytes"
	"slices"
	"strings"
)

// robotName returns the product token of a robot: the first of the following that
// is there and is not the name of a browser.
//
//  1. the first product, where it does not begin like a browser and says "bot" or the like;
//  2. what follows "compatible;";
//  3. what follows "(KHTML, like Gecko;";
//  4. a product, or for what is shaped like a browser also a token of a comment, with a robot's word;
//  5. such a token of the platform comment;
//  6. the first product, then the first token of a comment, that is no browser's;
//  7. a token of any comment with a robot's word;
//  8. the name that github.com/mssola/useragent finds: that of the library it is made with;
//  9. the host of its address.
func (a *agent) robotName(tokens []token) string {
	if name, ok := a.statedName(tokens); ok {
		return name
	}
	for _, where := range [...]place{product, afterCompatible, afterGecko, comment} {
		for _, t := range tokens {
			if t.place == where && a.mayName(t) && !a.isLibrary(t) && !(t.place == comment && a.isHalfSentence(t)) {
				return a.raw[t.from:t.to]
			}
		}
	}
	if i := slices.IndexFunc(tokens, func(t token) bool { return t.place == comment && a.namesRobot(t) && a.hasRobotWord(t.from, t.to) }); i >= 0 {
		return a.raw[tokens[i].from:tokens[i].to]
	}
	if name := a.mssolaName(); name != "" {
		return name
	}
	return a.host()
}

// statedName is steps 1 to 5 of robotName: names of which the place or the word
// says that they are a robot's.
func (a *agent) statedName(tokens []token) (string, bool) {
	if len(tokens) > 0 && !a.browserShaped && a.namesRobot(tokens[0]) {
		return a.raw[tokens[0].from:tokens[0].to], true
	}
	steps := [...]func(token) bool{
		func(t token) bool { return t.place == afterCompatible && a.mayName(t) && !a.isNobody(t) },
		func(t token) bool { return t.place == afterGecko && a.mayName(t) && !a.isNobody(t) },
		func(t token) bool {
			return (t.place == product || t.place == comment && a.browserShaped) && a.namesRobot(t)
		},
		a.namesRobotAmongPlatform,
	}
	for _, step := range steps {
		if i := slices.IndexFunc(tokens, step); i >= 0 {
			a.nameInPlatform = tokens[i].place == platform
			return a.raw[tokens[i].from:tokens[i].to], true
		}
	}
	return "", false
}

// namesRobotAmongPlatform reports whether t is a robot's name in a platform comment.
func (a *agent) namesRobotAmongPlatform(t token) bool {
	switch {
	case t.place != platform || bytes.IndexByte(a.lower[t.from:t.to], ':') >= 0:
		return false
	case known.words.carries(a.lower, t.from, t.to, platformRobot):
		return true
	default:
		return a.hasRobotWord(t.from, t.to) && !a.isNobody(t) && a.robotAmongPlatform()
	}
}

// isLibrary reports whether t is an HTTP library, which is the name of nobody who has another.
func (a *agent) isLibrary(t token) bool { return known.libraries.match(a.lower[t.from:t.to]) }

// isHalfSentence reports whether t is a part of a comment that gives no version: what is not
// shaped like a browser names itself before its comments, or in one with a version.
func (a *agent) isHalfSentence(t token) bool { return !a.browserShaped && !t.versioned }

// mayName reports whether t can be the name of a robot.
func (a *agent) mayName(t token) bool {
	name := a.lower[t.from:t.to]
	if len(name) < 2 || !hasLetterOrDigit(name) || bytes.HasPrefix(name, []byte("like ")) {
		return false
	}
	if bytes.HasPrefix(name, []byte("mozilla-")) {
		return t.place != platform // "Mozilla-Tabstack" is no browser
	}
	return t.place != platform && (a.isRobotWord(t.from, t.to) || !known.browsers.match(name))
}

// namesRobot reports whether t is a name with a robot's word in it, and not just
// that word.
func (a *agent) namesRobot(t token) bool {
	return a.mayName(t) && a.isRobotWord(t.from, t.to) && !a.isNobody(t)
}

// isNobody reports whether t is no more than "robot", "crawler" and the like.
func (a *agent) isNobody(t token) bool {
	return slices.ContainsFunc(known.nameNobody, func(b beginning) bool {
		return b.text == string(a.lower[t.from:t.to])
	})
}

// mssolaName asks github.com/mssola/useragent, whose names may be half a URL, and
// trims what it says like any other token.
func (a *agent) mssolaName() string {
	name, _ := mssola(a.raw).Browser()
	from := strings.Index(a.raw, name)
	if name == "" || from < 0 {
		return ""
	}
	t := token{place: comment}
	t.from, t.to = a.name(from, from+len(name))
	if a.platforms.contains(t.from) || !a.mayName(t) {
		return ""
	}
	return a.raw[t.from:t.to]
}

// host returns the host of the first URL or e-mail address, without "www.": one with a dot, as
// any other is nobody's on the internet.
func (a *agent) host() string {
	from := 0
	if i := nextURL(a.lower, 0); i >= 0 {
		from = i + bytes.Index(a.lower[i:], []byte("//")) + len("//")
	} else if i := bytes.IndexByte(a.lower, '@'); i >= 0 {
		from = i + 1
	} else {
		return ""
	}
	if bytes.HasPrefix(a.lower[from:], []byte("www.")) {
		from += len("www.")
	}
	to := from
	for to < len(a.lower) && to-from < maxName && isHostByte(a.lower[to]) {
		to++
	}
	host := strings.Trim(a.raw[from:to], ".-")
	if !strings.Contains(host, ".") {
		return ""
	}
	return host
}

func isHostByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '.' || c == '-' }

// appName returns the first product that has a name of its own.
func (a *agent) appName(tokens []token) string {
	for _, t := range tokens {
		name := a.lower[t.from:t.to]
		if t.place != platform && hasLetterOrDigit(name) && string(name) != "mozilla" && string(name) != "compatible" {
			return a.raw[t.from:t.to]
		}
	}
	return ""
}

// products lists the names of the product tokens, each once.
func (a *agent) products(tokens []token, name string) []string {
	list := make([]string, 0, min(len(tokens), maxProducts))
	for _, t := range tokens {
		text := a.raw[t.from:t.to]
		if len(list) == maxProducts {
			break
		}
		if (text == name || a.isProduct(t) && !isBrowsersWord(a.lower[t.from:t.to])) && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if len(list) == 0 && name != "" {
		list = append(list, name)
	}
	return list
}

// isProduct reports whether t is a product token: a word outside comments, or a token
// of a comment that has a version, a robot's word, or a place where names stand.
func (a *agent) isProduct(t token) bool {
	name := a.lower[t.from:t.to]
	switch {
	case !hasLetterOrDigit(name) || string(name) == "compatible":
		return false
	case t.place == product:
		return isLetter(name[0]) || t.versioned || a.isRobotWord(t.from, t.to)
	case t.place == comment:
		return t.versioned || a.isRobotWord(t.from, t.to) && bytes.IndexByte(name, ' ') < 0
	default:
		return t.place != platform
	}
}

func hasLetterOrDigit(name []byte) bool {
	return slices.ContainsFunc(name, func(c byte) bool { return isLetter(c) || isDigit(c) })
}

package crawler

import (
	"bytes"
	"strings"
)

// place says where in a User-Agent a token stands.
type place uint8

const (
	product         place = iota // outside comments
	comment                      // in a comment
	afterCompatible              // directly behind "compatible;"
	afterGecko                   // directly behind "(KHTML, like Gecko;"
	platform                     // in a platform comment
)

// A token is something that may be a name, already without version and address:
// the bytes from (inclusive) to (exclusive).
type token struct {
	from, to  int
	place     place
	versioned bool // a "/" follows
}

// tokens appends the first tokens of the User-Agent, in order, to an empty list until that
// is full. Products end at a blank; comments are split at semicolons and commas.
func (a *agent) tokens(list []token) []token {
	i := 0
	if !a.browserShaped {
		var first token
		if first, i = a.firstProduct(); i > 0 {
			list = append(list, first)
		}
	}
	depth, last := 0, token{}
	for i < len(a.lower) && len(list) < cap(list) {
		switch c := a.lower[i]; {
		case c == '(':
			depth++
			i++
		case c == ')':
			depth = max(depth-1, 0)
			i++
		case isSeparator(c):
			i++
		default:
			end := a.tokenEnd(i, depth > 0)
			last = a.newToken(i, end, depth > 0, last)
			if last.to > last.from {
				list = append(list, last)
			}
			i = end
		}
	}
	return list
}

// firstProduct returns the first product of a User-Agent that is not shaped like a browser's,
// which may hold blanks ("Sogou web spider/4.0"), and where the next token may begin: 0 if
// the text begins with a URL or the like, which has to be taken word by word.
func (a *agent) firstProduct() (first token, next int) {
	end := 0
	for end < len(a.lower) && strings.IndexByte("/()[];,", a.lower[end]) < 0 {
		end++
	}
	if i := bytes.Index(a.lower[:end], []byte(" mozilla")); i > 0 {
		end = i
	}
	first.versioned = end < len(a.lower) && a.lower[end] == '/'
	first.from, first.to = a.name(0, end)
	if first.to == first.from {
		return token{}, 0
	}
	return first, a.tokenEnd(first.to, false)
}

// newToken makes a token of the bytes [from, to), given the one before it.
func (a *agent) newToken(from, to int, inComment bool, last token) token {
	t := token{versioned: bytes.IndexByte(a.lower[from:to], '/') >= 0}
	t.from, t.to = a.name(from, to)
	before := string(a.lower[last.from:last.to])
	switch {
	case before == "like" && !inComment:
		t.to = t.from // who it is like, it is not
	case a.platforms.contains(from):
		t.place = platform
	case before == "compatible":
		t.place = afterCompatible
	case inComment && before == "like gecko":
		t.place = afterGecko
	case inComment:
		t.place = comment
	}
	return t
}

// tokenEnd returns where the token that begins at from ends.
func (a *agent) tokenEnd(from int, inComment bool) int {
	for i := from; i < len(a.lower); i++ {
		if c := a.lower[i]; c == '(' || c == ')' || c == ';' || c == ',' || isBlank(c) && !inComment {
			return i
		}
	}
	return len(a.lower)
}

// commentEnd returns where the comment that from lies in ends.
func (a *agent) commentEnd(from int) int {
	if i := bytes.IndexByte(a.lower[from:], ')'); i >= 0 {
		return from + i
	}
	return len(a.lower)
}

func isSeparator(c byte) bool { return c == ';' || c == ',' || isBlank(c) }

// name returns the bytes of [from, to) that make a name: without version, address,
// what cannot be printed, and what stands around it.
func (a *agent) name(from, to int) (int, int) {
	if isBareHost(a.lower[from:to]) {
		return from, from
	}
	to = a.beforeAddress(from, to)
	if i := bytes.IndexByte(a.lower[from:to], '/'); i >= 0 {
		to = from + i
	}
	for from < to && isAround(a.lower[from]) {
		from++
	}
	for i := from; i < to; i++ {
		if c := a.lower[i]; c < ' ' || c > '~' || strings.IndexByte(noName, c) >= 0 {
			to = i
		}
	}
	to = a.lastWord(from, min(to, from+maxName))
	for to > from && isAround(a.lower[to-1]) {
		to--
	}
	return from, to
}

// noName are bytes that no robot has in its name, and that mean something where names
// are shown: in HTML, in JSON, in a Caddyfile.
const noName = "<>\"&{}\\`"

// beforeAddress cuts [from, to) where a URL or a host name begins.
func (a *agent) beforeAddress(from, to int) int {
	for _, address := range [...]string{"http:", "https:", "www."} {
		if i := bytes.Index(a.lower[from:to], []byte(address)); i >= 0 {
			to = from + i
		}
	}
	return to
}

// lastWord cuts [from, to) at a word that no name goes on with or that is an e-mail
// address, before a version, and behind the words that make it a robot's name.
func (a *agent) lastWord(from, to int) int {
	robots := -1 // where the last of them ends
	for start := from; start < to; {
		end := start
		for end < to && a.lower[end] != ' ' {
			end++
		}
		w := a.lower[start:end]
		isRobots := known.words.carries(a.lower, start, end, robotWord|tradeWord) &&
			(start > from || !known.nameNobody.match(w))
		if robots >= 0 && !isRobots {
			return robots
		}
		if bytes.IndexByte(w, '@') >= 0 || start > from && !isNameWord(w) {
			return max(start, robots)
		}
		if version := a.beforeVersion(start, end); version < end {
			return version
		}
		if isRobots {
			robots = end
		}
		start = end + 1
	}
	return to
}

// isRobotWord reports whether a robot's word or name begins in [from, to).
func (a *agent) isRobotWord(from, to int) bool {
	return known.words.carries(a.lower, from, to, robotWord|tradeWord|robotName)
}

// hasRobotWord reports whether what a robot calls itself begins in [from, to), which what it
// does is not.
func (a *agent) hasRobotWord(from, to int) bool {
	return known.words.carries(a.lower, from, to, robotWord|robotName)
}

// isNameWord reports whether a name may go on with w: not with a version, a dash, or
// something that has a value ("feed-id:12").
func isNameWord(w []byte) bool {
	if len(w) == 0 {
		return true
	}
	if string(w) == "-" || bytes.IndexByte(w, ':') >= 0 || w[0] == '\'' {
		return false
	}
	if len(w) > 1 && w[0] == 'v' {
		w = w[1:]
	}
	return len(w) == 0 || !isDigit(w[0])
}

// beforeVersion cuts a version such as "-2.0" off the end of the word [from, to).
func (a *agent) beforeVersion(from, to int) int {
	i, dots := to, 0
	for i > from && isAround(a.lower[i-1]) {
		i--
	}
	for i > from && (isDigit(a.lower[i-1]) || a.lower[i-1] == '.') {
		i--
		if a.lower[i] == '.' {
			dots++
		}
	}
	if dots > 0 && i > from+1 && (a.lower[i-1] == '-' || a.lower[i-1] == '_') {
		return i - 1
	}
	return to
}

// isAround reports whether c may stand around a name without being part of it.
func isAround(c byte) bool {
	return c <= ' ' || c > '~' || strings.IndexByte(`+-_:*.,"'<>=[]{}|`, c) >= 0
}

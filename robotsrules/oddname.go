package robotsrules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// quotes are the marks that some put around names and paths.
const quotes = "\"'`“”„‘’«»"

// notInNames are characters that no robot has in its name. (An apostrophe may stand inside one.)
const notInNames = "\"`“”„‘’«»;|<>{}[]()=\\?$%^~:，；"

// oddName returns what is wrong with the name in a User-agent line, nil if nothing is. The
// caller adds the text.
func oddName(name string) (*finding, detail) {
	text := fold(name)
	if isOneWord(text) && text[0] >= 'a' && text[0] <= 'z' && !allWords[text] && !commonWords[text] && !strings.HasPrefix(text, "www.") {
		return nil, detail{} // as most are
	}
	bad := strings.IndexAny(name, notInNames)
	if quote := strings.Trim(name, "'"); bad < 0 && quote != name {
		bad = strings.IndexByte(name, '\'')
	}
	var first rune
	if bad >= 0 {
		first, _ = utf8.DecodeRuneInString(name[bad:])
	}
	switch {
	case name == "*":
		return nil, detail{}
	case isException(text):
		return findException, detail{}
	case bad < 0 && meansAll(text):
		return findAllRobots, detail{}
	case isCommonWord(text):
		return findCommonWord, detail{}
	case strings.HasPrefix(text, "http:") || strings.HasPrefix(text, "https:") || strings.HasPrefix(text, "www.") ||
		strings.IndexByte(text, '@') >= 0:
		return findAddressAsName, detail{}
	case bad >= 0 && strings.Trim(strings.Trim(name, blanks+quotes), notInNames+"'") == "*":
		return findNoName, detail{field: string(first), fix: userAgentLinesFor([]string{"*"})}
	case strings.IndexByte(name, '*') >= 0:
		return findInnerStar, detail{}
	case bad >= 0:
		return findNoName, detail{field: string(first), fix: userAgentLinesFor(namesIn(name, first))}
	}
	if before, last := cutLastWord(name); before != "" && isVersion(last) {
		return findVersion, detail{fix: before}
	}
	return nil, detail{}
}

// meansAll reports whether a name in small letters is a word for all robots, or has no letter at all.
func meansAll(name string) bool {
	all, others := false, false
	for word := range strings.FieldsSeq(name) {
		all = all || allWords[word]
		others = others || !allWords[word] && !commonWords[word] && !crowdWords[word]
	}
	hasLetter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return all && !others || name != "" && strings.IndexFunc(name, hasLetter) < 0
}

var (
	allWords   = wordSet("all any anyone every everyone everybody everything other others")
	crowdWords = wordSet("the ai user agents engine engines web-crawlers")
)

// isException reports whether a name in small letters stands for all but one.
func isException(name string) bool {
	for _, begin := range [...]string{"!", "not ", "except ", "all except ", "all but ", "everyone except ", "everyone but "} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// namesIn returns the names that a value with characters that are in none may mean: all where
// they stand between such as divide a list, and else the first.
func namesIn(value string, first rune) (names []string) {
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(notInNames, r) }) {
		if name := tokenOf(strings.Trim(part, blanks+quotes+"+")); name != "" && name != "*" {
			names = append(names, name)
		}
	}
	if len(names) > 1 && !strings.ContainsRune(";|；，", first) {
		names = names[:1]
	}
	return names
}

// userAgentLinesFor says which lines to write for these robots.
func userAgentLinesFor(names []string) string {
	if len(names) == 0 {
		return "the robot's name and nothing else"
	}
	return linesFor(userAgent.String(), names)
}

// cutLastWord returns the last word of a name, and what stands before it.
func cutLastWord(name string) (before, last string) {
	i := strings.LastIndexAny(name, blanks)
	return trim(name[:i+1]), name[i+1:]
}

// isVersion reports whether a word is a version, such as 1.2 or v3.0x.
func isVersion(word string) bool {
	if len(word) > 1 {
		word = strings.TrimLeft(word, "vV")
	}
	return word != "" && '0' <= word[0] && word[0] <= '9' && strings.Trim(fold(word), "0123456789.abcdefghijklmnopqrstuvwxyz") == ""
}

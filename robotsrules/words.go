package robotsrules

import "strings"

// commonWords are tokens that are no robot's name: words that robots say of themselves and
// words of browsers and engines, in small letters. One binds only a robot that is called just
// that. Both old standards speak of the robot's name; in 31,716 real files from November 2026,
// "Mozilla" stands in 1 of 400, and "Spider", "Bot", "Fetch" and "DOC" are among the words
// that are most misused.
var commonWords = wordSet(
	// What robots say of themselves.
	"bot bots obot robot robots crawl crawler crawlers crawling spider spiders scrape scraper scrapers scraping worm " +
		"fetch fetcher check checker index indexer search agent client user-agent useragent " +
		"http https www com net org html htm url code link links site web website page test fast open download downloader doc " +
		// What browsers and engines say.
		"mozilla compatible opera safari chrome chromium applewebkit webkit kit gecko khtml like version mobile msie explorer trident presto " +
		"windows nt linux android x11 macintosh intel iphone ipad ipod firefox edge edg opr crios fxios netscape konqueror u en rv",
)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// isOneWord reports whether a name has nothing in it but letters and digits of ASCII, points,
// hyphens and underscores.
func isOneWord(name string) bool {
	for i := range len(name) {
		if c := lower[name[i]]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return name != ""
}

// isCommonWord reports whether a token in small letters is no robot's name: nothing but common
// words.
func isCommonWord(token string) bool {
	if isOneWord(token) {
		return commonWords[token]
	}
	words := 0
	for word := range strings.FieldsSeq(token) {
		if !commonWords[word] {
			return false
		}
		words++
	}
	return words > 0
}

// tokensOf returns the robots that the value of a User-agent line names, and what there is to
// say of it, nil for nothing.
func tokensOf(value string, line int) (tokens []Token, f *finding, d detail) {
	name := tokenOf(value)
	switch {
	case name == "":
		return nil, findNobody, d
	case isWholeUserAgent(value):
		robot := robotIn(value)
		if robot == "" {
			return []Token{newToken(name, value, line)}, findBrowser, detail{text: value}
		}
		return []Token{newToken(robot, value, line)}, findUserAgent, detail{text: value, fix: robot}
	case strings.IndexByte(value, ',') >= 0:
		if tokens = listed(value, line); len(tokens) > 0 {
			names := make([]string, len(tokens))
			for i, t := range tokens {
				names[i] = t.Value
			}
			return tokens, findList, detail{text: value, fix: userAgentLinesFor(names)}
		}
		return nil, findNobody, detail{}
	}
	f, d = oddName(name)
	d.text = value
	return []Token{newToken(name, value, line)}, f, d
}

// listed returns the robots in a list with commas. Each gives its own part, without quotes, as
// its text.
func listed(value string, line int) (tokens []Token) {
	for part := range strings.SplitSeq(value, ",") {
		part = strings.Trim(part, blanks+quotes)
		if name := tokenOf(part); name != "" {
			tokens = append(tokens, newToken(name, part, line))
		}
	}
	return tokens
}

// isWholeUserAgent reports whether a value is a browser-shaped User-Agent: more than the
// first product that all of those have.
func isWholeUserAgent(value string) bool {
	product, _, versioned := strings.Cut(value, "/")
	product, _, more := strings.Cut(trim(product), " ")
	name := fold(product)
	return (name == "mozilla" || name == "opera") && (versioned || more)
}

// robotIn returns the name of the robot in a whole User-Agent: what stands behind "compatible;"
// or else calls itself a robot, and is no browser. It returns "" for a browser's.
func robotIn(value string) string {
	compatible := false
	other := ""
	for part := range strings.FieldsFuncSeq(value, func(c rune) bool { return strings.ContainsRune(";(),", c) }) {
		name := robotPart(part)
		switch {
		case fold(trim(part)) == "compatible":
			compatible = true
			continue
		case name != "" && compatible:
			return name
		case name != "" && other == "" && callsItselfRobot(fold(name)):
			other = name
		}
		compatible = false
	}
	return other
}

// robotPart returns the name in a part of a User-Agent: its first words, without version and
// address; "" where the first one is a browser's or a robot's common word.
func robotPart(part string) string {
	part, _, _ = strings.Cut(trim(part), "/")
	end := 0
	for word := range strings.FieldsSeq(part) {
		word = strings.TrimLeft(word, "+")
		at := strings.Index(part[end:], word)
		isVersion := len(word) > 0 && '0' <= word[0] && word[0] <= '9'
		if end == 0 && (commonWords[fold(word)] || word == "" || strings.ContainsAny(word, ":@")) {
			return ""
		}
		if end > 0 && (isVersion || strings.ContainsAny(word, ":@+")) {
			break
		}
		end += at + len(word)
	}
	return strings.TrimLeft(part[:end], "+ ")
}

// callsItselfRobot reports whether a name in small letters has a robot's word in it.
func callsItselfRobot(name string) bool {
	for _, word := range [...]string{"bot", "crawl", "spider", "slurp"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

package crawler

import "bytes"

// service reports whether a client of class c, by its User-Agent, is one that fetches for
// somebody and does not crawl, and returns the product it is known by, if it is by one. What
// stands in addresses does not count, and nothing outranks the name of a crawler.
func (a *agent) service(tokens []token, c Class) (by token, ok bool) {
	if c == App && a.found&personMark != 0 || a.isHandsetApp() {
		return token{}, false // what a person runs is an app, also where it reads feeds
	}
	byKind := c == Service
	for _, t := range tokens {
		if i := bytes.LastIndexByte(a.lower[t.from:t.to], ' '); i > 0 && t.place == comment {
			if last := (token{from: t.from + i + 1, to: t.to}); a.isService(last) {
				t = last // "via ggpht.com GoogleImageProxy"
			}
		}
		switch name := a.lower[t.from:t.to]; {
		case t.place == platform || bytes.HasPrefix(name, []byte("like ")):
		case a.isService(t):
			if by.to == 0 {
				by = t
			}
		case a.isCrawler(t):
			return token{}, false
		case a.hasServiceWord(t):
			byKind = true
		}
	}
	return by, byKind || by.to > 0
}

// isService reports whether t is the name of a service that its operator documents.
func (a *agent) isService(t token) bool { return known.products.match(a.lower[t.from:t.to]) }

// isCrawler reports whether t is the name of a known robot, or says that it is one. A name such
// as "ExampleUptimeBot" does not: what the bot is for stands in it.
func (a *agent) isCrawler(t token) bool {
	if a.isKnownCrawler(t) {
		return true
	}
	return a.hasRobotWord(t.from, t.to) && !a.isNobody(t) && !(a.hasServiceWord(t) && !a.saysItCrawls(t))
}

// saysItCrawls reports whether t has a robot's word that says more than that it is a program.
func (a *agent) saysItCrawls(t token) bool {
	return known.words.carries(a.lower, t.from, t.to, crawlMark)
}

// isKnownCrawler reports whether t is the token of a crawler of the catalogue.
func (a *agent) isKnownCrawler(t token) bool {
	found, ok := byToken[string(a.lower[t.from:t.to])]
	return ok && catalogue[found.crawler].Purpose.isCrawling()
}

// hasServiceWord reports whether t says that it is a service of some kind: as a product, in
// the name behind "compatible;", or in a part of a comment.
func (a *agent) hasServiceWord(t token) bool {
	return known.trades.carries(a.lower, t.from, t.to, serviceMark)
}

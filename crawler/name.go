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
//  4. a product, or in browsers' clothes also a part of a comment, with a robot's word;
//  5. such a part of the platform comment;
//  6. the first product, then the first part of a comment, that is no browser's;
//  7. the name that github.com/mssola/useragent finds;
//  8. the host of its address.
func (s *sent) robotName(p *parts) string {
	if name, ok := s.statedName(p.all()); ok {
		return name
	}
	for _, where := range [...]place{product, afterCompatible, afterGecko, comment} {
		for _, one := range p.all() {
			if one.place == where && s.mayName(one) {
				return s.raw[one.from:one.to]
			}
		}
	}
	if name := s.mssolaName(); name != "" {
		return name
	}
	return s.host()
}

// statedName is steps 1 to 5 of robotName: names of which the place or the word
// says that they are a robot's.
func (s *sent) statedName(all []part) (string, bool) {
	if len(all) > 0 && !s.browserShaped && s.namesRobot(all[0]) {
		return s.raw[all[0].from:all[0].to], true
	}
	steps := [...]func(part) bool{
		func(p part) bool { return p.place == afterCompatible && s.mayName(p) && !s.isNobody(p) },
		func(p part) bool { return p.place == afterGecko && s.mayName(p) && !s.isNobody(p) },
		func(p part) bool {
			return (p.place == product || p.place == comment && s.browserShaped) && s.namesRobot(p)
		},
		func(p part) bool { return p.place == platform && s.namesPlatformRobot(p) },
	}
	for _, step := range steps {
		if i := slices.IndexFunc(all, step); i >= 0 {
			s.nameInMasked = all[i].place == platform
			return s.raw[all[i].from:all[i].to], true
		}
	}
	return "", false
}

// mayName reports whether p can be the name of a robot.
func (s *sent) mayName(p part) bool {
	name := s.lower[p.from:p.to]
	if len(name) < 2 || !hasLetterOrDigit(name) || bytes.HasPrefix(name, []byte("like ")) {
		return false
	}
	return p.place != platform && (s.isRobotWord(p.from, p.to) || !known.browsers.match(name))
}

// namesRobot reports whether p is a name with a robot's word in it, and not just
// that word.
func (s *sent) namesRobot(p part) bool {
	return s.mayName(p) && s.isRobotWord(p.from, p.to) && !s.isNobody(p)
}

// namesPlatformRobot reports whether p is a robot among the platform.
func (s *sent) namesPlatformRobot(p part) bool {
	return p.versioned && known.words.carries(s.lower, p.from, p.to, platformRobot)
}

// isNobody reports whether p is no more than "robot", "crawler" and the like.
func (s *sent) isNobody(p part) bool {
	return slices.ContainsFunc(known.nameNobody, func(b beginning) bool {
		return b.text == string(s.lower[p.from:p.to])
	})
}

// mssolaName asks github.com/mssola/useragent, whose names may be half a URL, and
// trims what it says like any other part.
func (s *sent) mssolaName() string {
	name, _ := mssola(s.raw).Browser()
	from := strings.Index(s.raw, name)
	if name == "" || from < 0 {
		return ""
	}
	one := part{place: comment}
	one.from, one.to = s.name(from, from+len(name))
	if s.masked.contain(one.from) || !s.mayName(one) {
		return ""
	}
	return s.raw[one.from:one.to]
}

// host returns the host of the first URL or e-mail address, without "www.": one with a dot, as
// any other is nobody's on the internet.
func (s *sent) host() string {
	from := 0
	if i := nextURL(s.lower, 0); i >= 0 {
		from = i + bytes.Index(s.lower[i:], []byte("//")) + len("//")
	} else if i := bytes.IndexByte(s.lower, '@'); i >= 0 {
		from = i + 1
	} else {
		return ""
	}
	if bytes.HasPrefix(s.lower[from:], []byte("www.")) {
		from += len("www.")
	}
	to := from
	for to < len(s.lower) && to-from < maxName && isHostOctet(s.lower[to]) {
		to++
	}
	host := strings.Trim(s.raw[from:to], ".-")
	if !strings.Contains(host, ".") {
		return ""
	}
	return host
}

func isHostOctet(c byte) bool { return isLetter(c) || isDigit(c) || c == '.' || c == '-' }

// appName returns the first product that has a name of its own.
func (s *sent) appName(p *parts) string {
	for _, one := range p.all() {
		name := s.lower[one.from:one.to]
		if one.place != platform && hasLetterOrDigit(name) && string(name) != "mozilla" {
			return s.raw[one.from:one.to]
		}
	}
	return ""
}

// products lists the product tokens among the parts, each once.
func (s *sent) products(p *parts, name string) []string {
	list := make([]string, 0, min(p.n, maxProducts))
	for _, one := range p.all() {
		token := s.raw[one.from:one.to]
		if len(list) == maxProducts {
			break
		}
		if (token == name || s.isProduct(one)) && !slices.Contains(list, token) {
			list = append(list, token)
		}
	}
	return list
}

// isProduct reports whether p is a product token: a word outside comments, or a part
// of a comment that has a version, a robot's word, or a place where names stand.
func (s *sent) isProduct(p part) bool {
	name := s.lower[p.from:p.to]
	switch {
	case !hasLetterOrDigit(name) || string(name) == "compatible":
		return false
	case p.place == product:
		return isLetter(name[0]) || p.versioned || s.isRobotWord(p.from, p.to)
	case p.place == comment:
		return p.versioned || s.isRobotWord(p.from, p.to) && bytes.IndexByte(name, ' ') < 0
	default:
		return p.place != platform
	}
}

func hasLetterOrDigit(name []byte) bool {
	return slices.ContainsFunc(name, func(c byte) bool { return isLetter(c) || isDigit(c) })
}

package robotsrules_test

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// The slow twin decides by the words of the standards, in the plainest code:
// no index, no canonical text, no state. It judges the package in the
// exhaustive tests and the fuzz targets.

// A twinFile is what the twin knows of a robots.txt.
type twinFile struct {
	dialect robotsrules.Dialect
	match   robotsrules.Match
	records []twinRecord
}

type twinRecord struct {
	tokens []twinToken
	v2     bool // read as Robot-version 2.0.0 (the 1996 proposal 2.0.0)
	rules  []twinRule
}

type twinToken struct {
	value, text string
	line        int
}

type twinRule struct {
	allow   bool
	pattern string
	line    int
}

// A twinDecision names the line that decided; 0 is none.
type twinDecision struct {
	allowed bool
	line    int
}

// twinOf takes over what was parsed. Records of an experimental version, from
// 1.1 on, are passed over as if they were not in the file.
func twinOf(f *robotsrules.File, m robotsrules.Match) twinFile {
	t := twinFile{dialect: f.Dialect, match: m}
	for _, g := range f.Groups {
		if g.Version().Major >= 1 && g.Version().Minor%2 == 1 {
			continue
		}
		r := twinRecord{v2: g.Version().Major >= 2}
		for _, token := range g.Tokens {
			r.tokens = append(r.tokens, twinToken{token.Value, token.Text(), token.Line})
		}
		for _, rule := range g.Rules {
			r.rules = append(r.rules, twinRule{rule.Kind == robotsrules.Allow, rule.Pattern(), rule.Line})
		}
		t.records = append(t.records, r)
	}
	return t
}

// A twinBinding is the record, or the merged records, that bind a robot.
type twinBinding struct {
	dialect robotsrules.Dialect
	line    int // of the User-agent line; 0: no record binds the robot
	v2      bool
	rules   []twinRule
}

// find returns the named record that binds the robot.
func (t twinFile) find(r robotsrules.Robot) twinBinding {
	var best *twinToken
	for i := range t.records {
		for j := range t.records[i].tokens {
			token := &t.records[i].tokens[j]
			if token.value == "*" || token.value == "" || !t.matches(*token, r) {
				continue
			}
			if t.dialect != robotsrules.RFC9309 {
				return t.bindingOf(token.line, t.records[i])
			}
			if best == nil || len(token.value) > len(best.value) {
				best = token
			}
		}
	}
	if best == nil {
		return twinBinding{}
	}
	return t.merged(best.value)
}

// bind returns the record that binds the robot, the default one included.
func (t twinFile) bind(r robotsrules.Robot) twinBinding {
	if b := t.find(r); b.line != 0 {
		return b
	}
	return t.merged("*")
}

// matches says whether a token names the robot. One that is no robot's name has to be all that
// the robot is called.
func (t twinFile) matches(token twinToken, r robotsrules.Robot) bool {
	if robotsrules.IsCommonWord(lowerASCII(token.value)) {
		called := lowerASCII(r.Name) == lowerASCII(token.value) || lowerASCII(r.UserAgent) == lowerASCII(token.value)
		return called || t.match == robotsrules.MatchSubstring && t.containsName(token, r)
	}
	if t.match == robotsrules.MatchToken {
		return slices.ContainsFunc(r.Products, func(p string) bool { return lowerASCII(p) == lowerASCII(token.value) })
	}
	if contains(r.UserAgent, token.value) {
		return true
	}
	return t.containsName(token, r)
}

// containsName is the rule of the 1996 draft: the value of the record contains the robot's name.
func (t twinFile) containsName(token twinToken, r robotsrules.Robot) bool {
	return t.dialect != robotsrules.RFC9309 && r.Name != "" && contains(token.text, r.Name)
}

func contains(s, part string) bool {
	return strings.Contains(lowerASCII(s), lowerASCII(part))
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// merged returns what the records with a token say: all of them in RFC 9309,
// the first one in the older standards. Where records of version 2.0.0 and
// others carry one token, only the former are read.
func (t twinFile) merged(value string) twinBinding {
	var all []twinBinding
	for _, r := range t.records {
		for _, token := range r.tokens {
			if lowerASCII(token.value) == lowerASCII(value) {
				all = append(all, t.bindingOf(token.line, r))
				break
			}
		}
	}
	if len(all) == 0 {
		return twinBinding{}
	}
	if t.dialect != robotsrules.RFC9309 {
		return all[0]
	}
	if slices.ContainsFunc(all, func(b twinBinding) bool { return b.v2 }) {
		all = slices.DeleteFunc(all, func(b twinBinding) bool { return !b.v2 })
	}
	for _, b := range all[1:] {
		all[0].rules = append(slices.Clone(all[0].rules), b.rules...)
	}
	return all[0]
}

func (t twinFile) bindingOf(line int, r twinRecord) twinBinding {
	return twinBinding{dialect: t.dialect, line: line, v2: r.v2, rules: r.rules}
}

// decide judges a target by the definition of the dialect.
func (b twinBinding) decide(target string) twinDecision {
	target = twinTarget(target)
	switch {
	case slices.Equal(bytesIn(robotsrules.RFC9309, target), bytesIn(robotsrules.RFC9309, "/robots.txt")):
		return twinDecision{allowed: true} // in every dialect, however it is spelt
	case b.line == 0:
		return twinDecision{allowed: true}
	}
	var matching []twinRule
	for _, r := range b.rules {
		if matchesTarget(b.dialect, b.v2, r.pattern, target) {
			matching = append(matching, r)
		}
	}
	return b.choose(matching)
}

// choose picks, among the rules that match a target, the one that decides.
func (b twinBinding) choose(matching []twinRule) twinDecision {
	switch {
	case b.v2:
		return b.chooseVersion2(matching)
	case b.dialect == robotsrules.NoRobots1994:
		return b.chooseDisallow(matching)
	case b.dialect == robotsrules.Draft1996:
		if len(matching) > 0 {
			return decidedBy(matching[0])
		}
		return twinDecision{allowed: true}
	}
	return chooseLongest(matching)
}

// chooseLongest is RFC 9309, section 2.2.2: most bytes, Allow on a tie.
func chooseLongest(matching []twinRule) twinDecision {
	best, found := twinRule{}, false
	for _, r := range matching {
		longer := specificity(r.pattern) - specificity(best.pattern)
		if !found || longer > 0 || longer == 0 && r.allow && !best.allow {
			best, found = r, true
		}
	}
	if !found {
		return twinDecision{allowed: true}
	}
	return decidedBy(best)
}

// chooseDisallow is the 1994 standard: an empty Disallow opens all, else any Disallow
// closes what it matches.
func (b twinBinding) chooseDisallow(matching []twinRule) twinDecision {
	for _, r := range b.rules {
		if !r.allow && r.pattern == "" {
			return twinDecision{allowed: true, line: r.line}
		}
	}
	for _, r := range matching {
		if !r.allow {
			return decidedBy(r)
		}
	}
	return twinDecision{allowed: true}
}

// chooseVersion2 is the 1996 proposal 2.0.0: explicit Allow, Disallow, wildcard Allow.
func (b twinBinding) chooseVersion2(matching []twinRule) twinDecision {
	for _, class := range []func(twinRule) bool{
		func(r twinRule) bool { return r.allow && !isWildcard(r) },
		func(r twinRule) bool { return !r.allow },
		func(r twinRule) bool { return r.allow },
	} {
		if i := slices.IndexFunc(matching, class); i >= 0 {
			return decidedBy(matching[i])
		}
	}
	return twinDecision{allowed: !b.closedToTheRest()}
}

// closedToTheRest says whether a record of version 2.0.0 allows only what its
// Allow lines name: it has a wildcard Allow, or Allows and no Disallow. Lines
// that can match nothing are no rules.
func (b twinBinding) closedToTheRest() bool {
	allows, wildcards, disallows := 0, 0, 0
	for _, r := range b.rules {
		switch {
		case !usable(true, b.dialect, r.pattern):
		case !r.allow:
			disallows++
		case isWildcard(r):
			allows, wildcards = allows+1, wildcards+1
		default:
			allows++
		}
	}
	return wildcards > 0 || allows > 0 && disallows == 0
}

func isWildcard(r twinRule) bool { return strings.Contains(r.pattern, "*") }

func decidedBy(r twinRule) twinDecision { return twinDecision{r.allow, r.line} }

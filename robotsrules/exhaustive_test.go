package robotsrules_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// words returns every string of at most n parts out of the alphabet, the empty
// one included.
func words(alphabet []string, n int) []string {
	all, last := []string{""}, []string{""}
	for range n {
		var next []string
		for _, w := range last {
			for _, part := range alphabet {
				next = append(next, w+part)
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

func prefixed(prefix string, all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = prefix + s
	}
	return out
}

// stride thins the largest sets out where a run is meant to be short. All of them are
// tried where ROBOTS_REQUIRE_ALL is 1.
func stride() int {
	switch {
	case raceEnabled || testing.Short():
		return 11
	case os.Getenv("ROBOTS_REQUIRE_ALL") == "1":
		return 1
	}
	return 5
}

// mirrored says that a pair is another one with a and b exchanged, which
// decides the same of the exchanged targets; one of the two is enough.
func mirrored(first, second string) bool {
	both := first + second
	i := strings.IndexAny(both, "ab")
	return i >= 0 && both[i] == 'b'
}

// smallPatterns are all patterns of a slash and up to three parts, and some
// that begin otherwise or are spelt otherwise.
func smallPatterns() []string {
	patterns := prefixed("/", words([]string{"a", "b", "*", "/", "$"}, 3))
	return append(patterns, "", "*", "*a", "*a$", "a", "/%61", "/%61b", "/a%2F", "/%2F", "/%2f*a", "/*%2Fa", "/%2A", "/a%24", "/%62*$")
}

// smallTargets are all paths of a slash and up to four more parts, and some
// with queries, encoded and literal special characters.
func smallTargets() []string {
	targets := prefixed("/", words([]string{"a", "b", "/"}, 4))
	return append(targets, "", "/a?", "/a?b", "/?a", "?a", "/a#b", "/%61", "/%61%62", "/a%2F", "/a%2fb", "/%2Fb", "/*", "/%2a", "/a*b", "/a$", "/a%24", "/$", "/%", "/a%2")
}

// Every ordered pair of small patterns, in every mix of Allow and Disallow,
// decides every small target as the twin does, by the same line.
func TestEveryPairOfSmallPatternsAgreesWithTheTwin(t *testing.T) {
	for _, family := range []struct {
		name    string
		dialect robotsrules.Dialect
		v2      bool
	}{
		{"rfc9309", robotsrules.RFC9309, false},
		{"draft1996", robotsrules.Draft1996, false},
		{"norobots1994", robotsrules.NoRobots1994, false},
		{"version2", robotsrules.RFC9309, true},
	} {
		t.Run(family.name, func(t *testing.T) {
			t.Parallel()
			s := newPairSweep(family.dialect, family.v2)
			s.run(t)
			if want := 7_000_000 / stride(); s.decisions < want {
				t.Errorf("compared %d decisions, want at least %d", s.decisions, want)
			}
		})
	}
}

// A pairSweep compares one family of records. What the twin says of a single
// pattern and a target is computed once; how two patterns decide is not.
type pairSweep struct {
	dialect   robotsrules.Dialect
	v2        bool
	patterns  []string
	targets   []string
	matches   [][]bool // pattern, target
	decisions int
}

func newPairSweep(d robotsrules.Dialect, v2 bool) *pairSweep {
	s := &pairSweep{dialect: d, v2: v2, patterns: smallPatterns(), targets: smallTargets()}
	for _, pattern := range s.patterns {
		row := make([]bool, len(s.targets))
		for j, target := range s.targets {
			row[j] = matchesTarget(d, v2, pattern, twinTarget(target))
		}
		s.matches = append(s.matches, row)
	}
	return s
}

func (s *pairSweep) run(t *testing.T) {
	n := 0
	for i := range s.patterns {
		for j := range s.patterns {
			if mirrored(s.patterns[i], s.patterns[j]) {
				continue
			}
			for mix := range 4 {
				if n++; n%stride() == 0 {
					s.pair(t, i, j, mix&1 != 0, mix&2 != 0)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

// pair compares one record of two rules on every target.
func (s *pairSweep) pair(t *testing.T, i, j int, allowI, allowJ bool) {
	text := "User-agent: *\n"
	line := 2
	if s.v2 {
		text, line = text+"Robot-version: 2.0.0\n", 3
	}
	text += ruleLine(allowI, s.patterns[i]) + ruleLine(allowJ, s.patterns[j])
	rules := []twinRule{{allowI, s.patterns[i], line}, {allowJ, s.patterns[j], line + 1}}
	if s.dialect == robotsrules.NoRobots1994 {
		rules = onlyDisallows(rules) // there, Allow is an unknown field
	}
	twin := twinBinding{dialect: s.dialect, line: 1, v2: s.v2, rules: rules}
	b := robotsrules.Compile(robotsrules.Parse([]byte(text), robotsrules.Options{Dialect: s.dialect}), 0).Default()
	matching := make([]twinRule, 0, 2)
	for k, target := range s.targets {
		matching = matching[:0]
		for _, r := range rules {
			if s.matches[[2]int{i, j}[r.line-line]][k] {
				matching = append(matching, r)
			}
		}
		s.decisions++
		if got, want := decisionOf(b.Decide(target)), twin.choose(matching); got != want {
			t.Errorf("%s: %q\n decides %q: got %+v, want %+v", s.dialect, text, target, got, want)
			return
		}
	}
}

func ruleLine(allow bool, pattern string) string {
	if allow {
		return "Allow: " + pattern + "\n"
	}
	return "Disallow: " + pattern + "\n"
}

func onlyDisallows(rules []twinRule) []twinRule {
	var kept []twinRule
	for _, r := range rules {
		if !r.allow {
			kept = append(kept, r)
		}
	}
	return kept
}

func decisionOf(d robotsrules.Decision) twinDecision {
	out := twinDecision{allowed: d.Allowed()}
	if d.Rule != nil {
		out.line = d.Rule.Line
	}
	return out
}

// smallTokens are all tokens of up to three parts, but for the empty one.
func smallTokens() []string { return words([]string{"a", "b", "*"}, 3)[1:] }

// plainToken is the token that a small value without a version names: trailing
// stars are dropped, and nothing but stars is the default.
func plainToken(value string) string {
	if plain := strings.TrimRight(value, "*"); plain != "" {
		return plain
	}
	return "*"
}

// Every ordered pair of small tokens, in two records or in one, binds every
// small User-Agent to the record that the twin names.
func TestEveryPairOfSmallTokensAgreesWithTheTwin(t *testing.T) {
	agents := words([]string{"a", "B", "*", " ", "/"}, 3)
	tokens := smallTokens()
	compared := 0
	for _, d := range []robotsrules.Dialect{robotsrules.RFC9309, robotsrules.Draft1996, robotsrules.NoRobots1994} {
		for _, m := range []robotsrules.Match{robotsrules.MatchSubstring, robotsrules.MatchToken} {
			n := 0
			for _, first := range tokens {
				for _, second := range tokens {
					if n++; n%stride() == 0 && !mirrored(first, second) {
						compared += compareTokens(t, d, m, first, second, agents)
					}
				}
			}
		}
	}
	if want := 1_000_000 / stride(); compared < want {
		t.Errorf("compared %d bindings, want at least %d", compared, want)
	}
}

func compareTokens(t *testing.T, d robotsrules.Dialect, m robotsrules.Match, first, second string, agents []string) int {
	apart := fmt.Sprintf("User-agent: %s\nDisallow: /1\n\nUser-agent: %s\nDisallow: /2\n", first, second)
	together := fmt.Sprintf("User-agent: %s\nUser-agent: %s\nDisallow: /3\n", first, second)
	one, two := []twinRule{{false, "/1", 2}}, []twinRule{{false, "/2", 5}}
	a, b := twinToken{plainToken(first), first, 1}, twinToken{plainToken(second), second, 4}
	below := twinToken{b.value, b.text, 2}
	compareBindings(t, apart, twinFile{d, m, []twinRecord{{[]twinToken{a}, false, one}, {[]twinToken{b}, false, two}}}, agents)
	compareBindings(t, together, twinFile{d, m, []twinRecord{{[]twinToken{a, below}, false, []twinRule{{false, "/3", 3}}}}}, agents)
	return 2 * len(agents)
}

func compareBindings(t *testing.T, text string, twin twinFile, agents []string) {
	p := robotsrules.Compile(robotsrules.Parse([]byte(text), robotsrules.Options{Dialect: twin.dialect}), twin.match)
	for _, agent := range agents {
		r := robot(agent)
		want := twin.bind(r)
		got := p.Bind(r)
		if got.Line() != want.line {
			t.Errorf("%s, %s: %q\n binds %q: got the record of line %d, want %d", twin.dialect, twin.match, text, agent, got.Line(), want.line)
			return
		}
		if named := twin.find(r).line != 0; named != (p.Find(r) != nil) {
			t.Errorf("%s, %s: %q\n Find(%q) found a record: %t, want %t", twin.dialect, twin.match, text, agent, !named, named)
			return
		}
		for _, target := range []string{"/1", "/2", "/3"} {
			if d, w := decisionOf(got.Decide(target)), want.decide(target); d != w {
				t.Errorf("%s, %s: %q\n decides %q for %q: got %+v, want %+v", twin.dialect, twin.match, text, target, agent, d, w)
				return
			}
		}
	}
}

package robotsrules_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Pairs of rules and tokens are tried exhaustively; what only shows when many
// stand together is tried on files made by a generator with a fixed seed.

// A maker makes files and questions about them.
type maker struct{ *rand.Rand }

func newMaker() maker { return maker{rand.New(rand.NewPCG(9309, 1996))} }

// word returns up to most parts of the alphabet.
func (m maker) word(alphabet []string, most int) string {
	var b strings.Builder
	for range m.IntN(most + 1) {
		b.WriteString(alphabet[m.IntN(len(alphabet))])
	}
	return b.String()
}

// rules returns rule lines with literal and wildcard patterns, so many of them
// below one literal that a compiler is tempted to sort them.
func (m maker) rules(n int) string {
	var b strings.Builder
	for range n {
		pattern := []string{"/", "/", "/*"}[m.IntN(3)] + m.word([]string{"a", "b", "c", "a", "b", "c", "*", "/", "%63", "é"}, 7)
		if m.IntN(8) == 0 {
			pattern += "$"
		}
		b.WriteString(ruleLine(m.IntN(2) == 0, pattern))
	}
	return b.String()
}

func (m maker) target() string {
	return "/" + m.word([]string{"a", "b", "c", "a", "b", "c", "/", "é", "?"}, 10)
}

// Records of many rules, with literals and wildcards in any mix, decide as the
// twin does, in every dialect and in version 2.0.0.
func TestRecordsOfManyRulesAgreeWithTheTwin(t *testing.T) {
	m := newMaker()
	compared := 0
	for i := range 600 / stride() {
		text := "User-agent: *\n"
		if i%4 == 3 {
			text += "Robot-version: 2.0.0\n"
		}
		text += m.rules(1 + m.IntN(100))
		for d := range robotsrules.Dialect(3) {
			compared += compareDecisions(t, m, text, d)
		}
	}
	if want := 70_000 / stride(); compared < want {
		t.Errorf("compared %d decisions, want at least %d", compared, want)
	}
}

func compareDecisions(t *testing.T, m maker, text string, d robotsrules.Dialect) int {
	t.Helper()
	const targets = 40
	file := robotsrules.Parse([]byte(text), robotsrules.Options{Dialect: d})
	b := robotsrules.Compile(file, robotsrules.MatchSubstring).Default()
	twin := twinOf(file, robotsrules.MatchSubstring).merged("*")
	for range targets {
		target := m.target()
		if got, want := decisionOf(b.Decide(target)), twin.decide(target); got != want {
			t.Fatalf("%s: %s decides %q: got %+v, want %+v", d, text, target, got, want)
		}
	}
	return targets
}

// Records that share robots in every way, also so many that merging them one by
// one would be dear, bind and decide as the twin says.
func TestRecordsOfManyRobotsAgreeWithTheTwin(t *testing.T) {
	m := newMaker()
	compared := 0
	for range 300 / stride() {
		text := m.records(1+m.IntN(30), 40)
		for d := range robotsrules.Dialect(3) {
			for match := range robotsrules.Match(2) {
				compared += compareAnswers(t, m, text, d, match)
			}
		}
	}
	if want := 35_000 / stride(); compared < want {
		t.Errorf("compared %d answers, want at least %d", compared, want)
	}
}

// records returns n records, each for up to most robots.
func (m maker) records(n, most int) string {
	var b strings.Builder
	for range n {
		for range 1 + m.IntN(most) {
			fmt.Fprintf(&b, "User-agent: %s\n", m.token())
		}
		if m.IntN(6) == 0 {
			fmt.Fprintf(&b, "Robot-version: %d.%d.0\n", m.IntN(3), m.IntN(2))
		}
		b.WriteString(m.rules(m.IntN(4)) + "\n")
	}
	return b.String()
}

func (m maker) token() string {
	if m.IntN(30) == 0 {
		return "*"
	}
	return "a" + m.word([]string{"a", "b", "C", "-", " ", "x/2"}, 4)
}

func compareAnswers(t *testing.T, m maker, text string, d robotsrules.Dialect, match robotsrules.Match) int {
	t.Helper()
	const questions = 20
	file := robotsrules.Parse([]byte(text), robotsrules.Options{Dialect: d})
	p := robotsrules.Compile(file, match)
	twin := twinOf(file, match)
	for range questions {
		r, target := robot(m.word([]string{"A", "b", "c", "-", " ", "/1 "}, 12)), m.target()
		want := twin.bind(r)
		got := p.Bind(r)
		if a, w := answer(got.Line(), decisionOf(got.Decide(target))), answer(want.line, want.decide(target)); a != w {
			t.Fatalf("%s, %s: %s for %q and %q: got %s, want %s", d, match, text, r.UserAgent, target, a, w)
		}
	}
	return questions
}

// Thousands of different tokens find their robots as the twin does, far beyond
// what is small enough for a simple table, also when they overlap in many ways.
func TestThousandsOfTokensAgreeWithTheTwin(t *testing.T) {
	m := newMaker()
	for _, letters := range []string{"abc", "abcdefghijklmnopqrstuvwxyz0123456789-_."} {
		alphabet := strings.Split(letters, "")
		var b strings.Builder
		for range 3000 {
			fmt.Fprintf(&b, "User-agent: abcab%s\nDisallow: /\n", m.word(alphabet, 12))
		}
		for d := range robotsrules.Dialect(3) {
			compareTokensOf(t, m, robotsrules.Parse([]byte(b.String()), robotsrules.Options{Dialect: d}), alphabet)
		}
	}
}

// compareTokensOf asks for robots whose User-Agents are pieced together from
// beginnings of the tokens of a file, so that a search sets out in vain and has
// to fall back.
func compareTokensOf(t *testing.T, m maker, file *robotsrules.File, alphabet []string) {
	t.Helper()
	p, twin := robotsrules.Compile(file, robotsrules.MatchSubstring), twinOf(file, robotsrules.MatchSubstring)
	found := 0
	for range 100 {
		userAgent := ""
		for range 3 {
			token := strings.ToUpper(file.Groups[m.IntN(len(file.Groups))].Tokens[0].Value)
			userAgent += token[:m.IntN(len(token)+1)] + m.word(alphabet, 2)
		}
		got, want := p.Find(robot(userAgent)).Line(), twin.find(robot(userAgent)).line
		if got != want {
			t.Fatalf("%s: Find(%q) = record of line %d, want %d", file.Dialect, userAgent, got, want)
		}
		if got != 0 {
			found++
		}
	}
	if want := 10; found < want {
		t.Errorf("%d robots found a record, want at least %d", found, want)
	}
}

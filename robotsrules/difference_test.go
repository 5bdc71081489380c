package robotsrules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Cases of differences have a section of their own, in which no row means that
// the dialects agree.
func TestDifferences(t *testing.T) { runCases(t, "differ/*.txt") }

// checkDifferences reads rows of `line 3 for * at /a: allow line 3, disallow line
// 2, disallow line 2`: what rfc9309, draft1996 and norobots1994 decide, and by
// what, with the places of decisions.
func checkDifferences(t *testing.T, c testCase, rows []row) {
	differences, all := robotsrules.Differences(c.text, c.options, c.match)
	if !all {
		t.Errorf("%s: not all was compared, want all", c.name)
	}
	for i, r := range rows {
		want := strings.Join(strings.Fields(r.text), " ")
		if i >= len(differences) {
			t.Errorf("%s: no difference, want %s", r.at, want)
		} else if got := differenceWords(differences[i]); got != want {
			t.Errorf("%s:\n got %s\nwant %s", r.at, got, want)
		}
	}
	for _, d := range differences[min(len(rows), len(differences)):] {
		t.Errorf("%s: a difference more than expected: %s", c.name, differenceWords(d))
	}
}

func differenceWords(d robotsrules.Difference) string {
	var decisions []string
	for _, decision := range d.Decisions {
		decisions = append(decisions, verdictWord(decision)+" "+placeOf(decision))
	}
	return fmt.Sprintf("line %d for %s at %s: %s", d.Line, d.Token, d.Example, strings.Join(decisions, ", "))
}

// In files of many records, each difference is what the twin decides for that
// robot in each dialect, and there is one for a line, in their order.
func TestDifferencesAreWhatTheTwinDecides(t *testing.T) {
	m := newMaker()
	compared := 0
	for range 300 / stride() {
		text := []byte(m.records(1+m.IntN(10), 3))
		for match := range robotsrules.Match(2) {
			differences, all := robotsrules.Differences(text, robotsrules.Options{}, match)
			if !all {
				t.Fatalf("%q: not all was compared, want all", text)
			}
			line := 0
			for _, d := range differences {
				compareDifference(t, text, match, d)
				if d.Line <= line {
					t.Errorf("%q: line %d follows line %d, want one for each line, in order", text, d.Line, line)
				}
				line = d.Line
			}
			compared += len(differences)
		}
	}
	if want := 2000 / stride(); compared < want {
		t.Errorf("compared %d differences, want at least %d", compared, want)
	}
}

func compareDifference(t *testing.T, text []byte, match robotsrules.Match, difference robotsrules.Difference) {
	t.Helper()
	allowed := 0
	for i, got := range difference.Decisions {
		file := robotsrules.Parse(text, robotsrules.Options{Dialect: robotsrules.Dialect(i)})
		token := difference.Token
		twin := twinOf(file, match).bind(robotsrules.Robot{UserAgent: token, Name: token, Products: []string{token}})
		want := twin.decide(difference.Example)
		if decisionOf(got) != want || got.Binding.Line() != twin.line {
			t.Errorf("%s, %s: %q\n %q at %q: got %s, want %+v in the record of line %d", file.Dialect, match, text, token, difference.Example, got, want, twin.line)
		}
		if want.allowed {
			allowed++
		}
	}
	if allowed == 0 || allowed == len(difference.Decisions) {
		t.Errorf("%s: %q\n %s: all dialects decide alike, want a difference", match, text, differenceWords(difference))
	}
}

// Whatever two rules stand together, if the dialects disagree about a small
// target they disagree about an example.
func TestNoDifferenceOfTwoSmallRulesIsOverlooked(t *testing.T) {
	patterns := append(prefixed("/", words([]string{"a", "*", "$"}, 2)), "", "*", "*a", "a", "/aa", "/a?", "/%2F")
	targets := append(prefixed("/", words([]string{"a", "b", "$"}, 3)), "/?a", "/a?", "/a?b", "/%2F", "/b%2F")
	found, n := 0, 0
	for _, first := range patterns {
		for _, second := range patterns {
			for mix := range 8 {
				if n++; n%stride() != 0 {
					continue
				}
				text := "User-agent: *\n"
				if mix&4 != 0 {
					text += "Robot-version: 2.0.0\n"
				}
				text += ruleLine(mix&1 != 0, first) + ruleLine(mix&2 != 0, second)
				target, disagree := disagreement(text, targets)
				differences, _ := robotsrules.Differences([]byte(text), robotsrules.Options{}, robotsrules.MatchSubstring)
				if disagree && len(differences) == 0 {
					t.Errorf("%q: no difference, want one as of %q", text, target)
				}
				found += len(differences)
			}
		}
	}
	if want := 2000 / stride(); found < want {
		t.Errorf("found %d differences, want at least %d", found, want)
	}
}

// disagreement returns a target about which the dialects disagree.
func disagreement(text string, targets []string) (string, bool) {
	var bindings []*robotsrules.Binding
	for d := range robotsrules.Dialect(3) {
		file := robotsrules.Parse([]byte(text), robotsrules.Options{Dialect: d})
		bindings = append(bindings, robotsrules.Compile(file, robotsrules.MatchSubstring).Default())
	}
	for _, target := range targets {
		first := bindings[0].Decide(target).Verdict
		if bindings[1].Decide(target).Verdict != first || bindings[2].Decide(target).Verdict != first {
			return target, true
		}
	}
	return "", false
}

func TestDifferencesObeyMaxBytes(t *testing.T) {
	text := []byte("User-agent: *\nDisallow: /*a\n")
	for maxBytes, want := range map[int]int{0: 1, len("User-agent: *\n"): 0} {
		if got, _ := robotsrules.Differences(text, robotsrules.Options{MaxBytes: maxBytes}, robotsrules.MatchSubstring); len(got) != want {
			t.Errorf("of %d bytes: %d differences, want %d", maxBytes, len(got), want)
		}
	}
}

func TestAtMostAThousandDifferencesAreReturned(t *testing.T) {
	for _, n := range []int{1000, 1001} {
		text := "User-agent: *\n"
		for i := range n {
			text += fmt.Sprintf("Disallow: /%d$\n", i)
		}
		found, all := robotsrules.Differences([]byte(text), robotsrules.Options{}, robotsrules.MatchSubstring)
		if len(found) != 1000 || all != (n == 1000) {
			t.Errorf("of %d: got %d, all %t, want 1000, all %t", n, len(found), all, n == 1000)
		}
	}
}

// A file made to be slow is compared up to some rule, the same one each time.
func TestAComparisonOfAnEvilFileEnds(t *testing.T) {
	text := []byte(strings.Replace(evilTexts(robotsrules.DefaultMaxBytes)["stars"], "User-agent:*\n", "User-agent: *\nDisallow: /*b$\n", 1))
	found, all := robotsrules.Differences(text, robotsrules.Options{}, robotsrules.MatchSubstring)
	if all || len(found) == 0 {
		t.Fatalf("%d differences, all %t, want some and not all", len(found), all)
	}
	again, _ := robotsrules.Differences(text, robotsrules.Options{}, robotsrules.MatchSubstring)
	if got, want := wordsOf(again), wordsOf(found); !slices.Equal(got, want) {
		t.Errorf("compared again: got %q, want %q", got, want)
	}
}

func wordsOf(differences []robotsrules.Difference) []string {
	var all []string
	for _, d := range differences {
		all = append(all, differenceWords(d))
	}
	return all
}

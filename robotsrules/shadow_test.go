package robotsrules_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Cases of shadows have a section of their own, in which no row means that every
// rule decides something.
func TestShadowed(t *testing.T) { runCases(t, "shadow/*.txt") }

// checkShadowed reads rows of `line 3 by line 2 at /a lost`: the rule, the one
// that stands before it or `/robots.txt`, an example, and `same` if both decide
// alike.
func checkShadowed(t *testing.T, c testCase, rows []row) {
	shadows, all := c.policy().Shadowed()
	if !all {
		t.Errorf("%s: not all rules were looked at, want all", c.name)
	}
	for i, r := range rows {
		want := strings.Join(strings.Fields(r.text), " ")
		if i >= len(shadows) {
			t.Errorf("%s: no shadow, want %s", r.at, want)
		} else if got := shadowWords(shadows[i]); got != want {
			t.Errorf("%s: got %s, want %s", r.at, got, want)
		}
	}
	for _, s := range shadows[min(len(rows), len(shadows)):] {
		t.Errorf("%s: a shadow more than expected: %s", c.name, shadowWords(s))
	}
}

func shadowWords(s robotsrules.Shadow) string {
	by, loss := "/robots.txt", "lost"
	if s.By != nil {
		by = fmt.Sprintf("line %d", s.By.Line)
	}
	if s.Same {
		loss = "same"
	}
	return fmt.Sprintf("line %d by %s at %s %s", s.Rule.Line, by, s.Example, loss)
}

// Of every ordered pair of small patterns, in every mix of Allow and Disallow,
// exactly those rules are shadowed that decide about none of the small targets.
func TestEveryPairOfSmallPatternsIsShadowedAsTheTwinSays(t *testing.T) {
	patterns := prefixed("/", words([]string{"a", "*", "$"}, 3))
	patterns = append(patterns, "//", "/*/", "/*/a", "/a/*", "/a/$", "", "*", "**", "*a", "*a$", "*/", "*/a", "*/$", "*/*a", "a")
	for _, family := range shadowFamilies {
		t.Run(family.name, func(t *testing.T) {
			t.Parallel()
			s := newShadowSweep(family.dialect, family.v2, patterns)
			n := 0
			for i := range patterns {
				for j := range patterns {
					for mix := range 4 {
						if n++; n%stride() == 0 {
							s.record(t, []shadowRule{{i, mix&1 != 0}, {j, mix&2 != 0}})
						}
					}
				}
				if t.Failed() {
					return
				}
			}
			s.enough(t, 200/stride())
		})
	}
}

// So are those of larger records, in which no rule, one or several go before
// another.
func TestLargerRecordsAreShadowedAsTheTwinSays(t *testing.T) {
	patterns := prefixed("/", words([]string{"a", "*", "/", "$"}, 2))
	patterns = append(patterns, "*", "*a", "*/", "*/a", "*/a$", "/a*/a", "/a/*", "/*a*a", "/aaa")
	for _, family := range shadowFamilies {
		t.Run(family.name, func(t *testing.T) {
			t.Parallel()
			s, m := newShadowSweep(family.dialect, family.v2, patterns), newMaker()
			for range 4000 / stride() {
				rules := make([]shadowRule, 2+m.IntN(6))
				for i := range rules {
					rules[i] = shadowRule{m.IntN(len(patterns)), m.IntN(2) == 0}
				}
				s.record(t, rules)
				if t.Failed() {
					return
				}
			}
			s.enough(t, 500/stride())
		})
	}
}

var shadowFamilies = []struct {
	name    string
	dialect robotsrules.Dialect
	v2      bool
}{
	{"rfc9309", robotsrules.RFC9309, false},
	{"draft1996", robotsrules.Draft1996, false},
	{"norobots1994", robotsrules.NoRobots1994, false},
	{"version2", robotsrules.RFC9309, true},
}

// A shadowSweep compares one family of records by brute force: on all targets of
// the bytes that the patterns have, and one that they have not. Of those that
// the same patterns match it keeps one.
type shadowSweep struct {
	dialect  robotsrules.Dialect
	v2       bool
	patterns []string
	matched  [][]bool // target, pattern
	found    int      // shadows
}

type shadowRule struct {
	pattern int
	allow   bool
}

func newShadowSweep(d robotsrules.Dialect, v2 bool, patterns []string) *shadowSweep {
	s := &shadowSweep{dialect: d, v2: v2, patterns: patterns}
	seen := make(map[string]bool)
	for _, target := range prefixed("/", words([]string{"a", "b", "/", "$", "*"}, 5)) {
		row := make([]bool, len(patterns))
		for i, pattern := range patterns {
			row[i] = matchesTarget(d, v2, pattern, target)
		}
		if key := fmt.Sprint(row); !seen[key] {
			seen[key] = true
			s.matched = append(s.matched, row)
		}
	}
	return s
}

// record compares the shadows of one record with what its rules decide.
func (s *shadowSweep) record(t *testing.T, rules []shadowRule) {
	text, line := "User-agent: *\n", 2
	if s.v2 {
		text, line = text+"Robot-version: 2.0.0\n", 3
	}
	twin := twinBinding{dialect: s.dialect, line: 1, v2: s.v2}
	for i, r := range rules {
		text += ruleLine(r.allow, s.patterns[r.pattern])
		if s.dialect != robotsrules.NoRobots1994 || !r.allow {
			twin.rules = append(twin.rules, twinRule{r.allow, s.patterns[r.pattern], line + i})
		}
	}
	decides := make(map[int]bool)
	for _, matched := range s.matched {
		var matching []twinRule
		for _, r := range twin.rules {
			if matched[rules[r.line-line].pattern] {
				matching = append(matching, r)
			}
		}
		decides[twin.choose(matching).line] = true
	}
	p := robotsrules.Compile(robotsrules.Parse([]byte(text), robotsrules.Options{Dialect: s.dialect}), robotsrules.MatchSubstring)
	shadows := shadowsByLine(t, p)
	for _, r := range twin.rules {
		shadow, shadowed := shadows[r.line]
		if usable(s.v2, s.dialect, r.pattern) && shadowed == decides[r.line] {
			t.Errorf("%s: %q\n line %d: shadowed %t, want %t", s.dialect, text, r.line, shadowed, !decides[r.line])
		}
		if shadowed && !matchesTarget(s.dialect, s.v2, r.pattern, shadow.Example) {
			t.Errorf("%s: %q\n line %d: got the example %q, want one that it matches", s.dialect, text, r.line, shadow.Example)
		}
	}
	s.found += len(shadows)
}

// enough keeps a sweep in which nothing is shadowed from passing.
func (s *shadowSweep) enough(t *testing.T, want int) {
	if s.found < want {
		t.Errorf("%d rules were shadowed, want at least %d", s.found, want)
	}
}

// shadowsByLine returns the shadows, and checks that the example of each is
// decided as it says.
func shadowsByLine(t *testing.T, p *robotsrules.Policy) map[int]robotsrules.Shadow {
	t.Helper()
	shadows, all := p.Shadowed()
	if !all {
		t.Error("not all rules were looked at, want all")
	}
	lines := make(map[int]robotsrules.Shadow)
	for _, s := range shadows {
		lines[s.Rule.Line] = s
		if s.Example == "" {
			continue
		}
		d := s.Binding.Decide(s.Example)
		if d.Rule != s.By {
			t.Errorf("line %d: decision for the example %q: got %s, want one by %+v", s.Rule.Line, s.Example, d, s.By)
		}
		if same := d.Allowed() == (s.Rule.Kind == robotsrules.Allow); same != s.Same {
			t.Errorf("line %d: %s: got same %t, want %t", s.Rule.Line, d, s.Same, same)
		}
	}
	return lines
}

// A rule that a file of 10,000 hides is found, and all of them are looked at.
func TestEveryRuleOfALargeFileIsLookedAt(t *testing.T) {
	const rules = 10_000
	for name, text := range map[string]string{
		"literal":   literalRules(rules),
		"wildcards": fifthWildcards(rules, "/*/print%d$"),
		"queries":   fifthWildcards(rules, "/*?sort%d="),
		"realistic": realistic(robotsrules.DefaultMaxBytes),
	} {
		p := compile("User-agent: *\nDisallow: /dup\nDisallow: /dup\n" + text)
		shadows, all := p.Shadowed()
		if len(shadows) != 1 || !all {
			t.Fatalf("%s: %d shadows, all %t, want 1 and all", name, len(shadows), all)
		}
		if got, want := shadowWords(shadows[0]), "line 3 by line 2 at /dup same"; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// A file made to be slow is looked at up to some line, the same one each time.
func TestALookAtAnEvilFileEnds(t *testing.T) {
	var nested strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&nested, "Allow: /%s*b*c*d*e*f\n", strings.Repeat("a", i))
	}
	evil := evilTexts(robotsrules.DefaultMaxBytes / 2)
	for name, text := range map[string]string{
		"stars":      evil["stars"],
		"starsApart": evil["starsApart"],
		"nested":     nested.String(),
	} {
		text = "User-agent: *\nAllow: /dup\nDisallow: /dup\n" + strings.TrimPrefix(text, "User-agent:*\n")
		p := compile(text)
		shadows, all := p.Shadowed()
		if all {
			t.Errorf("%s: all rules were looked at, want an end before", name)
		}
		if len(shadows) == 0 || shadowWords(shadows[0]) != "line 3 by line 2 at /dup lost" {
			t.Errorf("%s: %d shadows, want line 3 first among them", name, len(shadows))
		}
		if again, _ := p.Shadowed(); !reflect.DeepEqual(again, shadows) {
			t.Errorf("%s: a second look found %d shadows, want the same %d", name, len(again), len(shadows))
		}
	}
}

// What cannot be shown by a short example is found all the same.
func TestAShadowMayHaveNoExample(t *testing.T) {
	text := "User-agent: *\nDisallow: /a*b\nAllow: /a*b\n"
	for _, word := range []string{"x", "y", "z", "0", "other"} {
		text += "Disallow: /a" + word + "b*\n"
	}
	shadows, _ := compile(text).Shadowed()
	if len(shadows) != 1 || shadows[0].By.Line != 3 || shadows[0].Example != "" {
		t.Errorf("got %+v, want line 2 by line 3 and no example", shadows)
	}
}

func TestAPolicyOfNothingHasNoShadows(t *testing.T) {
	for name, p := range map[string]*robotsrules.Policy{"nil": nil, "zero": {}, "empty": compile("")} {
		if shadows, all := p.Shadowed(); len(shadows) != 0 || !all {
			t.Errorf("%s policy: %d shadows, all %t, want 0 and all", name, len(shadows), all)
		}
	}
}

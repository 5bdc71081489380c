package robotsrules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// FuzzShadow holds three properties: a rule that is shadowed decides about none
// of the targets made of pieces of the file; every shadow's example is decided as
// it says; and a rule that is not shadowed decides about one of the targets.
func FuzzShadow(f *testing.F) {
	for _, c := range loadCases(f, "shadow/*.txt") {
		f.Add(c.text, uint8(c.options.Dialect))
	}
	f.Fuzz(func(t *testing.T, text []byte, dialect uint8) {
		file := robotsrules.Parse(text, robotsrules.Options{Dialect: dialectOf(dialect)})
		fresh := freshByte(text)
		if fresh == "" || tooManyToTry(file) {
			t.Skip()
		}
		p := robotsrules.Compile(file, robotsrules.MatchSubstring)
		shadows := shadowsByLine(t, p)
		bindings := bindingsOf(file, p)
		decides := decidingLines(bindings, targetsOf(file, fresh))
		for _, b := range bindings {
			for _, g := range b.Groups() {
				for _, r := range g.Rules {
					_, shadowed := shadows[r.Line]
					counts := r.Pattern() != "" && usable(g.Version().Major >= 2 && file.Dialect != robotsrules.NoRobots1994, file.Dialect, r.Pattern())
					if counts && shadowed == decides[r.Line] {
						t.Errorf("%s: %q\n line %d: shadowed %t, decides %t, want one of the two", file.Dialect, text, r.Line, shadowed, decides[r.Line])
					}
				}
			}
		}
	})
}

// freshByte returns a byte that no pattern of the text has, however spelt.
func freshByte(text []byte) string {
	lower := lowerASCII(string(text))
	for _, c := range []byte("~-_!gz9") {
		if !strings.Contains(lower, string(c)) && !strings.Contains(lower, fmt.Sprintf("%%%02x", c)) {
			return string(c)
		}
	}
	return ""
}

// tooManyToTry keeps brute force within bounds.
func tooManyToTry(file *robotsrules.File) bool {
	const most, long = 12, 40
	rules := 0
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if rules++; rules > most || len(r.Pattern()) > long {
				return true
			}
		}
	}
	return false
}

// bindingsOf returns the records that a robot can be bound by.
func bindingsOf(file *robotsrules.File, p *robotsrules.Policy) []*robotsrules.Binding {
	var all []*robotsrules.Binding
	for _, g := range file.Groups {
		for _, token := range g.Tokens {
			b := p.Named(token.Value)
			if token.Value == "*" {
				b = p.Default()
			}
			if b != nil && !slices.Contains(all, b) {
				all = append(all, b)
			}
		}
	}
	return all
}

// targetsOf returns targets that the patterns of the file match, with the pieces
// of all patterns, and a byte of none, where they have stars.
func targetsOf(file *robotsrules.File, fresh string) []string {
	gaps := []string{"", fresh}
	var patterns []string
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			patterns = append(patterns, r.Pattern())
			gaps = append(gaps, strings.Split(r.Pattern(), "*")...)
		}
	}
	var targets []string
	for _, p := range patterns {
		for _, p := range []string{p, strings.TrimSuffix(p, "$"), strings.TrimLeft(p, "*"), strings.TrimLeft(strings.TrimSuffix(p, "$"), "*")} {
			for _, gap := range gaps {
				filled := strings.ReplaceAll(p, "*", gap)
				targets = append(targets, p, p+gap, filled, filled+gap)
			}
		}
	}
	for _, target := range slices.Clone(targets) {
		if strings.Contains(target, "?") { // with a raw one, /robots.txt is always allowed
			targets = append(targets, strings.ReplaceAll(target, "?", "%3F"))
		}
	}
	return targets
}

// decidingLines returns which lines decide about any of the targets.
func decidingLines(bindings []*robotsrules.Binding, targets []string) map[int]bool {
	lines := make(map[int]bool)
	for _, b := range bindings {
		for _, target := range targets {
			if r := b.Decide(target).Rule; r != nil {
				lines[r.Line] = true
			}
		}
	}
	return lines
}

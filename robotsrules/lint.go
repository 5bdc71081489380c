package robotsrules

import (
	"slices"
	"strings"
)

// Lint returns the findings about a file as a whole, by line: lines and records that are read as
// they are written, but may not do what their author means. The policy must be that of the file.
// [File].Diagnostics has the findings about single lines. The work grows with the length of the
// file, and in the older dialects with the square of its records, up to a bound.
func Lint(f *File, p *Policy) []Diagnostic {
	l := linter{file: f, policy: p, open: make(map[*record]bool), gone: make(map[*Group]int)}
	for _, g := range f.Groups {
		if !g.passedOver(f.Dialect) && len(g.Tokens) > 0 {
			l.group(g)
		}
	}
	l.rulesThatDoNothing()
	l.wholeSite()
	l.unreadRecords()
	l.memento()
	l.google()
	return l.findings.sorted()
}

// linter is the state of Lint.
type linter struct {
	file     *File
	policy   *Policy
	findings diagnostics
	open     map[*record]bool // whether a record has no Disallow
	gone     map[*Group]int   // how many rules of a group can go
}

const shadowedInstead = `decide which of them is meant; if it is the other, {field}`

// What can be said of a file as a whole.
var (
	findRobotsTxt = define("disallowed-robots-txt", Warning, `"{text}" does nothing: /robots.txt is always served, or nobody could read it`,
		"{field}")
	findSameRule = define("same-rule", Info, `"{text}" says the same as line {number}`,
		"{field}")
	findShadowed        = define("shadowed", Warning, `"{text}" never decides: line {number}, "{fix}", goes before it`, shadowedInstead)
	findShadowedExample = define("shadowed-with-example", Warning, `"{text}" never decides: line {number}, "{fix}", goes before it, for example for {example}`, shadowedInstead)
	findTooLarge        = define("too-large", Info, "the file is so large that it was not asked of all rules whether they ever decide", "")
	findAllowsOnly      = define("allows-only", Info, "the record has Allow lines and no Disallow, so that its robots may fetch everything, and no other record binds them",
		`nothing needs doing if that is meant; for these paths and no others write "Disallow: /" below them`)
	findEmptyRecord = define("empty-record", Info, "no rule follows, so that these robots may fetch everything",
		`write "Disallow:" below it if that is meant, which is clear to every reader`)
	findWholeSite = define("whole-site", Info, "the record for * keeps all robots that no other record names off the whole site, those of search engines too",
		`nothing needs doing if that is meant; else write the paths that it is about`)
	findUnreadRecord = define("unread-record", Warning, `the record for "{text}" is never read: in {fix} the first that fits binds, and that is the one for "{field}" (line {number})`,
		"move the record for the longer name above the other, or write both as one")
	findSecondRecord = define("second-record", Warning, `in {fix} only the first record for "{text}" is read, that of line {number}`,
		"write both as one record")
	findMemento = define("memento", Info, `robots that say "memento" are bound by this record alone, which keeps nothing from them, while other robots are kept from some paths`,
		"repeat the rules of the record for * in it if they are meant for all")
)

func (l *linter) add(line int, f *finding, d detail) { l.findings.add(line, f, d) }

// group tells of one record.
func (l *linter) group(g *Group) {
	allows, disallows := 0, 0
	for _, r := range g.Rules {
		switch {
		case r.Kind == Disallow:
			disallows++
		case r.Kind == Allow && r.Pattern() != "" && r.Pattern() != "/" && r.Pattern() != "*" && r.Pattern() != "/*":
			allows++
		}
	}
	if allows > 0 && disallows == 0 && readingOf(l.file.Dialect, g) != readVersion2 && l.isOpen(g) {
		l.add(g.Line, findAllowsOnly, detail{})
	}
	if !g.hasBody() && len(g.Fields()) == 0 && l.isOpen(g) {
		l.add(g.Tokens[len(g.Tokens)-1].Line, findEmptyRecord, detail{})
	}
}

// binding returns the record that binds the robot of a token.
func (l *linter) binding(t Token) *Binding {
	if t.Value == "*" {
		return l.policy.Default()
	}
	return l.policy.Named(t.Value)
}

// isOpen reports whether the record of the group's first robot, with all that is merged into it,
// has no Disallow.
func (l *linter) isOpen(g *Group) bool {
	b := l.binding(g.Tokens[0])
	if b == nil {
		return false
	}
	open, known := l.open[b.record]
	if !known {
		open = !slices.ContainsFunc(b.Groups(), func(g *Group) bool {
			return slices.ContainsFunc(g.Rules, func(r *Rule) bool { return r.Kind == Disallow && r.Pattern() != "" })
		})
		l.open[b.record] = open
	}
	return open
}

// isRobotsTxtPattern reports whether a pattern is about /robots.txt alone.
func isRobotsTxtPattern(pattern string) bool {
	return canonical(strings.TrimRight(pattern, "*$")) == "/robots.txt"
}

// rulesThatDoNothing tells of rules that never decide. That one is superfluous is said only where
// it says the same, letter by letter, as another of the record: what one spelling adds nothing to
// here (%2B beside +, /a beside /a*), other readers may need.
func (l *linter) rulesThatDoNothing() {
	shadows, all := l.policy.Shadowed()
	groups := make(map[*Rule]*Group)
	var served []*Rule // as they are about /robots.txt
	for _, g := range l.file.Groups {
		for _, r := range g.Rules {
			groups[r] = g
			if r.Kind == Disallow && isRobotsTxtPattern(r.Pattern()) {
				l.gone[g]++
				served = append(served, r)
			}
		}
	}
	begins := misspeltRecords(l.file)
	shadows = slices.DeleteFunc(shadows, func(s Shadow) bool {
		isKnown := s.By == nil || isRobotsTxtPattern(s.Rule.Pattern())
		return isKnown || s.Same && s.Rule.Pattern() != s.By.Pattern() || isBetween(begins, s.Rule, s.By)
	})
	for _, s := range shadows {
		l.gone[groups[s.Rule]]++
	}
	for _, r := range served {
		l.add(r.Line, findRobotsTxt, detail{text: r.Text, field: l.removal(groups[r])})
	}
	for _, s := range shadows {
		d := detail{text: s.Rule.Text, fix: s.By.Text, number: s.By.Line, field: l.removal(groups[s.Rule])}
		switch {
		case s.Same:
			l.add(s.Rule.Line, findSameRule, d)
		case s.Example == "":
			l.add(s.Rule.Line, findShadowed, d)
		default:
			d.example = s.Example
			l.add(s.Rule.Line, findShadowedExample, d)
		}
	}
	if !all {
		l.add(1, findTooLarge, detail{})
	}
}

// misspeltRecords returns the lines that were meant to begin a record.
func misspeltRecords(f *File) (lines []int) {
	for _, d := range f.Diagnostics {
		if d.Code == findMisspeltRecord.code {
			lines = append(lines, d.Line)
		}
	}
	return lines
}

// isBetween reports whether one of the lines, in order, stands between two rules.
func isBetween(lines []int, a, b *Rule) bool {
	i, _ := slices.BinarySearch(lines, min(a.Line, b.Line))
	return i < len(lines) && lines[i] < max(a.Line, b.Line)
}

// removal says how a rule of a group is taken out so that nothing else changes: a record that
// keeps no rule would become one with the record below it.
func (l *linter) removal(g *Group) string {
	if l.gone[g] == len(g.Rules) {
		return `write "Disallow:" for it, so that its record keeps a rule`
	}
	return "delete the line"
}

// wholeSite tells of a default record that disallows everything, with what it allows or without.
func (l *linter) wholeSite() {
	b := l.policy.Default()
	if b == nil || b.Decide("/").Allowed() {
		return
	}
	for _, g := range b.Groups() {
		for _, r := range g.Rules {
			if r.Kind == Disallow && strings.Trim(r.Pattern(), "*") == "/" || r.Kind == Disallow && r.Pattern() == "*" {
				l.add(r.Line, findWholeSite, detail{})
				return
			}
		}
	}
}

// maxOlder is how many records of an older dialect are compared with one another.
const maxOlder = 200

// unreadRecords tells of records that no robot comes to, as one above takes all of theirs: in the
// older dialects the first record that fits binds (the 1996 draft, section 3.2.1).
func (l *linter) unreadRecords() {
	if l.file.Dialect == RFC9309 {
		return
	}
	var above []Token
	for _, g := range l.file.Groups {
		for _, t := range g.Tokens {
			if len(above) == maxOlder {
				return
			}
			i := slices.IndexFunc(above, func(a Token) bool { return l.takes(a.Value, t.Value) })
			if i >= 0 {
				f := findUnreadRecord
				if strings.EqualFold(above[i].Value, t.Value) {
					f = findSecondRecord
				}
				l.add(t.Line, f, detail{text: t.Value, field: above[i].Value, number: above[i].Line, fix: l.file.Dialect.String()})
				continue
			}
			above = append(above, t)
		}
	}
}

// takes reports whether every robot that the token below names is named by the one above.
func (l *linter) takes(above, below string) bool {
	above, below = fold(above), fold(below)
	if above == below {
		return true
	}
	return above != "*" && below != "*" && l.policy.tokens.match == MatchSubstring && !isCommonWord(above) && strings.Contains(below, above)
}

// memento tells of a record for clients of the Memento extensions that keeps nothing from them.
func (l *linter) memento() {
	b := l.policy.Named("memento")
	if b == nil || !l.isOpen(b.Groups()[0]) {
		return
	}
	star := l.policy.Default()
	if star != nil && !l.isOpen(star.Groups()[0]) {
		l.add(b.Line(), findMemento, detail{})
	}
}

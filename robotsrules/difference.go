package robotsrules

import (
	"cmp"
	"slices"
)

// maxDifferences bounds the list that an evil file can make us return.
const maxDifferences = 1000

// dialects is how many dialects there are.
const dialects = len(dialectNames)

// Difference is a target about which the dialects decide differently.
type Difference struct {
	// Token names a robot as the file does; "*" is one that no record names.
	Token string
	// Line is the rule that the example is taken from, or the User-agent line
	// when no pattern matches it.
	Line int
	// Example is the target.
	Example string
	// Decisions are what each Dialect decides, with its record and rule. The
	// records are without their Request-rates.
	Decisions [3]Decision
}

// Differences reads the text in every dialect and returns the targets about which they disagree,
// one Difference for each line, by line. It takes every token of the file for a robot. From every
// rule it takes two examples: the simplest target that the rule matches and a longer one, as each
// dialect reads it. It does not find a disagreement that concerns only other targets.
//
// Options.MaxBytes counts, Options.Dialect does not. As with Shadowed, the work is bounded; all is
// false if the bound was reached, or if the list would be longer than 1,000.
func Differences(text []byte, o Options, m Match) (found []Difference, all bool) {
	c := comparison{
		budget: newBudget(),
		seen:   make(map[[dialects]*record]bool),
		told:   make(map[int]bool),
	}
	var tokens []Token
	for d := range c.policies {
		o.Dialect = Dialect(d)
		file := Parse(text, o)
		c.policies[d] = Compile(file, m)
		if o.Dialect == RFC9309 { // the User-agent lines are the same in all
			for _, g := range file.Groups {
				tokens = append(tokens, g.Tokens...)
			}
		}
	}
	for _, t := range tokens {
		c.token(t)
		if c.stopped() {
			break
		}
	}
	slices.SortFunc(c.found, func(a, b Difference) int { return cmp.Compare(a.Line, b.Line) })
	return c.found, !c.stopped()
}

// comparison is the state between two tokens.
type comparison struct {
	*budget
	policies [dialects]*Policy
	seen     map[[dialects]*record]bool // what was compared for another token
	told     map[int]bool               // lines that have their Difference
	found    []Difference
	cut      bool
}

func (c *comparison) stopped() bool { return c.cut || c.spent() }

// token compares what the dialects decide for the robot that the token names.
func (c *comparison) token(t Token) {
	var bound [dialects]*Binding
	var key [dialects]*record
	for d, p := range c.policies {
		if bound[d] = p.Default(); t.Value != "*" {
			bound[d] = p.Bind(Robot{UserAgent: t.Value, Name: t.Value, Products: []string{t.Value}})
		}
		if bound[d] != nil {
			key[d] = bound[d].record
		}
	}
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	var tried []string
	line := 0
	for _, s := range c.rulesOf(bound) {
		if s.rule.Line != line {
			line, tried = s.rule.Line, tried[:0]
		}
		for _, example := range s.examples() {
			if c.told[line] || slices.Contains(tried, example) {
				continue
			}
			tried = append(tried, example)
			if decisions, disagree := c.decide(example, bound); disagree {
				c.keep(Difference{Token: t.Value, Line: line, Example: example, Decisions: decisions})
			}
			if c.stopped() {
				return
			}
		}
	}
	// A record of version 2 also decides about what none of its patterns matches.
	for _, example := range []string{"/", "/x"} {
		decisions, disagree := c.decide(example, bound)
		matched := slices.ContainsFunc(decisions[:], func(d Decision) bool { return d.Rule != nil && d.Rule.Pattern() != "" })
		if disagree && !matched && !c.told[t.Line] {
			c.keep(Difference{Token: t.Value, Line: t.Line, Example: example, Decisions: decisions})
		}
	}
}

// decide returns what each dialect decides, and whether they disagree.
func (c *comparison) decide(example string, bound [dialects]*Binding) (decisions [dialects]Decision, disagree bool) {
	for i, b := range bound {
		if b != nil && !c.payFor(b.record, b.record.reading.compared(example)) {
			return decisions, false
		}
		decisions[i] = b.Decide(example)
		disagree = disagree || decisions[i].Verdict != decisions[0].Verdict
	}
	return decisions, disagree
}

func (c *comparison) keep(d Difference) {
	if len(c.found) == maxDifferences {
		c.cut = true
		return
	}
	c.told[d.Line] = true
	c.found = append(c.found, d)
}

// source is a rule as a dialect reads it.
type source struct {
	rule    *Rule
	reading reading
}

// rulesOf returns the rules of the bindings by line, those of a line by dialect.
func (c *comparison) rulesOf(bound [dialects]*Binding) []source {
	var all []source
	for _, b := range bound {
		for _, g := range b.Groups() {
			if !c.pay(len(g.Rules) * costOfDecision) {
				return nil
			}
			for _, r := range g.Rules {
				if counts(r, b.record.reading) {
					all = append(all, source{r, b.record.reading})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b source) int { return cmp.Compare(a.rule.Line, b.rule.Line) })
	return all
}

// examples returns the plainest target that the rule matches, and a longer one.
func (s source) examples() []string {
	var all []string
	for _, p := range compilePattern(s.rule.Pattern(), s.reading).rooted() {
		plain := p.spell(sampleGaps[0], "")
		all = append(all, s.reading.asWritten(plain))
		if longer := p.spell(sampleGaps[0], sampleGaps[0]); longer != plain {
			all = append(all, s.reading.asWritten(longer))
		}
	}
	return all
}

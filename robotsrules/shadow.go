package robotsrules

import (
	"cmp"
	"slices"

	"github.com/caddy-robots/caddy-robots/robotsrules/internal/index"
)

// Shadow is a rule that never decides, as others go before it.
type Shadow struct {
	// Rule is the line that never decides.
	Rule *Rule
	// By is the rule that decides instead. It is nil when Rule matches only /robots.txt, which is
	// always allowed.
	By *Rule
	// Binding is a record in which By goes before Rule.
	Binding *Binding
	// Example is a target that Rule matches and Binding decides by By; "" when
	// no short one was found.
	Example string
	// Same says that both rules decide the same, so Rule is superfluous. (An Allow in a record of
	// version 2 still matters for targets that no rule matches.)
	Same bool
}

// Shadowed returns the rules that can decide about no target of any robot, in
// file order: because another rule matches all that they match and goes before
// them, by the length of its pattern, by its place, or as the record's dialect or
// version has it. One that decides in the record of one robot, and not in that of
// another, is not among them; nor are lines that are no rules (an empty pattern,
// or one that can match nothing), about which Parse has its diagnostics. Whether
// any robot can come to a record is not asked.
//
// What is returned is certain. Only a rule of which many others together leave
// nothing, one for each byte that could follow, is not found.
//
// The work is bounded, also for files made to be slow. If it was not enough for
// the whole file, all is false, and the rules from some line on were not looked
// at; which one depends on the file alone.
func (p *Policy) Shadowed() (shadows []Shadow, all bool) {
	b := newBudget()
	groups, bindings := p.readGroups()
	for _, g := range groups {
		for _, r := range g.Rules {
			if s := b.shadowOf(r, bindings[g]); s != nil {
				shadows = append(shadows, *s)
			}
			if b.spent() {
				return shadows, false
			}
		}
	}
	return shadows, true
}

// readGroups returns the records of the file that bind anybody, in file order,
// and for each the bindings it is part of, one for all that are the same.
func (p *Policy) readGroups() ([]*Group, map[*Group][]*Binding) {
	var groups []*Group
	bindings := make(map[*Group][]*Binding)
	seen := make(map[*record]bool)
	add := func(b *Binding) {
		if b == nil || seen[b.record] {
			return
		}
		seen[b.record] = true
		for _, g := range b.record.groups() {
			if bindings[g] == nil {
				groups = append(groups, g)
			}
			bindings[g] = append(bindings[g], b)
		}
	}
	if p != nil {
		for i := range p.bindings {
			add(&p.bindings[i])
		}
	}
	add(p.Default())
	slices.SortStableFunc(groups, func(a, b *Group) int { return cmp.Compare(a.Line, b.Line) })
	return groups, bindings
}

// shadowOf returns why the rule never decides in any of the bindings, nil when it
// does or the budget does not reach. A binding where the other rule decides
// otherwise is preferred: there something is lost.
func (b *budget) shadowOf(r *Rule, bindings []*Binding) *Shadow {
	reading := bindings[0].record.reading
	if !counts(r, reading) {
		return nil
	}
	var found, empty *Shadow
	var pattern pattern
	for _, p := range compilePattern(r.Pattern(), reading).rooted() {
		// The patterns of the older dialects are all open at their end, so that
		// the one that matches another's text matches all that begins with it.
		target := p.spell("", "")
		if reading.stars() {
			target = p.spell(index.Star, index.Star)
		}
		if reading.onlyRobotsTxt(target) {
			empty = &Shadow{Rule: r, Binding: bindings[0], Example: target, Same: r.Kind == Allow}
			continue
		}
		for _, binding := range bindings {
			s := b.shadowIn(r, target, binding)
			if s == nil {
				return nil
			}
			if found == nil || found.Same && !s.Same {
				found, pattern = s, p
			}
		}
	}
	if found == nil {
		return empty
	}
	found.Example = b.exampleOf(found, pattern)
	return found
}

// shadowIn returns nil when the rule decides about target, which it matches.
func (b *budget) shadowIn(r *Rule, target string, in *Binding) *Shadow {
	if !b.payFor(in.record, target) {
		return nil
	}
	by := in.record.find(target)
	if by == r {
		return nil
	}
	same := by.Kind == r.Kind && by != in.record.besides().everything
	return &Shadow{Rule: r, By: by, Binding: in, Same: same}
}

// exampleOf returns a target of the pattern about which s.By decides.
func (b *budget) exampleOf(s *Shadow, p pattern) string {
	for _, sample := range p.samples() {
		if !b.payFor(s.Binding.record, sample) {
			return ""
		}
		target := s.Binding.record.reading.asWritten(sample)
		if s.Binding.Decide(target).Rule == s.By {
			return target
		}
	}
	return ""
}

// onlyRobotsTxt reports whether a pattern matches nothing but /robots.txt. The target is the
// one that fewest other patterns match.
func (r reading) onlyRobotsTxt(target string) bool {
	return r.stars() && target == "/robots.txt" // in the older dialects a pattern is open at its end
}

// maxCost is how much work one look at a whole file may take. It is counted, not timed, so
// that the same file always gives the same answer; a unit is about a nanosecond. Ordinary
// files of 500 KiB need less than half of it.
const maxCost = 50_000_000

// costOfDecision is what a decision costs beside the search of the index.
const costOfDecision = 100

// budget is the cost that is left. It is for one goroutine.
type budget struct{ left int }

func newBudget() *budget { return &budget{left: maxCost} }

// spent reports whether something was too dear, so that not all was looked at.
func (b *budget) spent() bool { return b.left < 0 }

// pay takes the cost, and reports whether there was enough left. When there was not, there
// is nothing left for what is cheaper either.
func (b *budget) pay(cost int) bool {
	if cost > b.left {
		b.left = -1
		return false
	}
	b.left -= cost
	return true
}

// payFor pays for one search of the record for target, which is in the form that its
// reading compares.
func (b *budget) payFor(r *record, target string) bool {
	return b.pay(costOfDecision + r.shared.index.Cost(r.trees, target, b.left-costOfDecision))
}

package robotsrules

import "strings"

// maxEffort is how much work one look at a whole file may take. It is counted,
// not timed, so that the same file always gives the same answer; a unit is about
// a nanosecond. Ordinary files of 500 KiB need less than half of it.
const maxEffort = 50_000_000

// What the parts of a decision cost.
const (
	effortOfDecision = 100
	effortOfIndex    = 20
	effortOfTry      = 20
	effortOfSegment  = 10
)

// budget is the effort that is left. It is for one goroutine.
type budget struct{ left int }

func newBudget() *budget { return &budget{left: maxEffort} }

// spent reports whether something was too dear, so that not all was looked at.
func (b *budget) spent() bool { return b.left < 0 }

// pay takes the cost, and reports whether there was enough left. When there was
// not, there is nothing left for what is cheaper either.
func (b *budget) pay(cost int) bool {
	if cost > b.left {
		b.left = -1
		return false
	}
	b.left -= cost
	return true
}

// payFor pays for one search of the record for target, which is in the form that
// its reading compares.
func (b *budget) payFor(r *record, target string) bool {
	cost := effortOfDecision
	for _, tree := range r.book.rootsOf(r.trees) {
		cost += r.book.effort(tree, target, b.left-cost)
	}
	return b.pay(cost)
}

// effort returns at most what find costs for target, or anything above limit.
func (x *index) effort(tree uint32, target string, limit int) int {
	cost := effortOfIndex + len(target)
	for _, set := x.walk(tree, target); set != 0 && cost <= limit; {
		s := &x.sets[set]
		cost += x.setEffort(s, target[s.skip:], limit-cost)
		set = s.up
	}
	return cost
}

// setEffort is effort for one set: it looks into the drawers that find opens.
func (x *index) setEffort(s *wildcardSet, text string, limit int) int {
	if s.width == 0 {
		return x.tryEffort(s.from, s.to, text)
	}
	drawers := x.drawers[s.drawers:][:2+1<<s.width]
	cost := len(text) + x.tryEffort(drawers[1<<s.width], drawers[1+1<<s.width], text)
	var opened [1 << maxWidth / 64]uint64
	for i := 1; i < len(text) && cost <= limit; i++ {
		d := drawerOf(text[i-1], text[i], s.width)
		if opened[d/64]>>(d%64)&1 == 0 {
			opened[d/64] |= 1 << (d % 64)
			cost += x.tryEffort(drawers[d], drawers[d+1], text)
		}
	}
	return cost
}

// tryEffort is what it costs to try the patterns from one number to another.
func (x *index) tryEffort(from, to uint32, text string) int {
	cost := 0
	for _, w := range x.wilds[from:to] {
		cost += effortOfTry + effortOfSegment*strings.Count(w.rest, star) + len(text)/4
	}
	return cost
}

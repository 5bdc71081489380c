package compliance

import (
	"cmp"
	"slices"
	"strings"
)

// Exact counts every line and path that robots asked for, where a [Ledger] of bounded room estimates those of
// robots that asked for many. It is for a log that is read once, and takes more memory the more there are of
// them: about MaxExactBytes at most for what was against the rules, and as much for what was allowed. What does
// not fit is not counted, and the estimates stay.
//
// NewExact makes one. It is not safe for concurrent use.
type Exact struct {
	rows  map[key]int32
	kinds [2]exactCounts // against the rules, and allowed
}

// MaxExactBytes is about how much memory an [Exact] takes at most for each kind.
const MaxExactBytes = 64 << 20

// exactCounts counts the requests of one kind.
type exactCounts struct {
	counts map[thing]*exactCount
	room   int // bytes
}

// thing is a line or, with the number aPath, a path that a row asked for.
type thing struct {
	row, number int32
	text        string
}

const aPath = -1

// exactCount is how often there was one, and the line that decided about a path last.
type exactCount struct {
	n  uint64
	by int32
}

// NewExact returns an empty Exact.
func NewExact() *Exact {
	x := &Exact{rows: make(map[key]int32)}
	for i := range x.kinds {
		x.kinds[i] = exactCounts{make(map[thing]*exactCount), MaxExactBytes}
	}
	return x
}

// Note counts an event that a ledger notes too.
func (x *Exact) Note(e *Event) {
	v := e.Verdict.known()
	if e.RobotsTxt || v == Banned {
		return
	}
	kind := &x.kinds[1]
	if v.Disobedient() {
		kind = &x.kinds[0]
	}
	var k key
	k.set(e.Site, e.Robot, e.Class, e.Standing)
	row, found := x.rows[k]
	if !found {
		if !kind.take(len(k.site) + len(k.robot)) {
			return
		}
		k.site, k.robot = strings.Clone(k.site), strings.Clone(k.robot)
		row = int32(len(x.rows))
		x.rows[k] = row
	}
	line, rule := lineNumber(e.Line), cut(e.Rule, maxRule)
	if line == 0 && rule == "" || kind.count(thing{row, line, rule}, 0) {
		kind.count(thing{row, aPath, cut(e.keptPath(), maxPath)}, line)
	}
}

// count counts one more, if it is there or there is room for it, and reports whether it did.
func (k *exactCounts) count(one thing, by int32) bool {
	c := k.counts[one]
	if c == nil {
		if !k.take(len(one.text)) {
			return false
		}
		one.text = strings.Clone(one.text)
		c = new(exactCount)
		k.counts[one] = c
	}
	c.n, c.by = c.n+1, by
	return true
}

// take takes the room for an entry with a text this long, if there is as much.
func (k *exactCounts) take(text int) bool {
	const entry = 80 // with what the map takes besides
	if k.room < entry+text {
		return false
	}
	k.room -= entry + text
	return true
}

// Fill writes the lines and paths of the robots of a report with their exact counts, as many as it
// would have of estimates. A robot of which not all could be counted keeps the estimates.
func (x *Exact) Fill(r *Report) {
	robots := make([]*Robot, len(x.rows))
	for i := range r.Sites {
		for j := range r.Sites[i].Robots {
			robot := &r.Sites[i].Robots[j]
			var k key
			k.set(r.Sites[i].Site, robot.Robot, robot.Class, robot.Standing)
			if row, found := x.rows[k]; found && robot.Class != OtherRobots {
				robots[row] = robot
			}
		}
	}
	for row, s := range x.kinds[0].sums(len(robots)) {
		if robot := robots[row]; robot != nil && s.requests == robot.Disobedient {
			robot.Lines, robot.Paths, robot.OtherPaths, robot.OtherByRule = s.report()
		}
	}
	for row, s := range x.kinds[1].sums(len(robots)) {
		if robot := robots[row]; robot != nil && s.requests == robot.allowed() {
			_, robot.AllowedPaths, robot.OtherAllowed, robot.OtherAllowedByRule = s.report()
		}
	}
}

// exactSum is what there is of one row.
type exactSum struct {
	lines, paths []head
	requests     uint64 // of which each has one path
}

// sums returns what there is of each of so many rows.
func (k *exactCounts) sums(rows int) []exactSum {
	sums := make([]exactSum, rows)
	for one, c := range k.counts {
		s := &sums[one.row]
		if one.number == aPath {
			s.paths = append(s.paths, head{text: one.text, count: c.n, by: c.by})
			s.requests += c.n
		} else {
			s.lines = append(s.lines, head{text: one.text, count: c.n, number: one.number})
		}
	}
	return sums
}

// report returns what was counted, as reportable does. Of equal counts the order is that of the lines and texts.
func (s *exactSum) report() ([]Line, []Path, uint64, []Line) {
	for _, heads := range [][]head{s.lines, s.paths} {
		slices.SortFunc(heads, func(a, b head) int {
			return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
		})
	}
	return reportable(s.lines[:min(len(s.lines), mostLines)], s.paths, s.requests)
}

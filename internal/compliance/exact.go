package compliance

import (
	"cmp"
	"slices"
	"strings"
)

// Exact counts every line and path that robots disobeyed, where a [Ledger] of bounded room estimates
// those of robots that disobeyed many. It is for a log that is read once, and takes more memory the
// more there are of them: about MaxExactBytes at most. What does not fit is not counted, and the
// estimates stay.
//
// NewExact makes one. It is not safe for concurrent use.
type Exact struct {
	rows   map[key]int32
	counts map[offence]uint64
	room   int // bytes
}

// MaxExactBytes is about how much memory an [Exact] takes at most.
const MaxExactBytes = 64 << 20

// offence is a line or, with the number aPath, a path that a row disobeyed.
type offence struct {
	row, number int32
	text        string
}

const aPath = -1

// NewExact returns an empty Exact.
func NewExact() *Exact {
	return &Exact{rows: make(map[key]int32), counts: make(map[offence]uint64), room: MaxExactBytes}
}

// Note counts an event that a ledger notes too.
func (x *Exact) Note(e *Event) {
	if e.RobotsTxt || !e.Verdict.Disobedient() {
		return
	}
	var k key
	k.set(e.Site, e.Robot, e.Class, e.Standing)
	row, found := x.rows[k]
	if !found {
		if !x.take(len(k.site) + len(k.robot)) {
			return
		}
		k.site, k.robot = strings.Clone(k.site), strings.Clone(k.robot)
		row = int32(len(x.rows))
		x.rows[k] = row
	}
	line, rule := lineNumber(e.Line), cut(e.Rule, maxRule)
	if line == 0 && rule == "" || x.count(offence{row, line, rule}) {
		x.count(offence{row, aPath, cut(e.keptPath(), maxPath)})
	}
}

// count counts one more, if it is there or there is room for it, and reports whether it did.
func (x *Exact) count(o offence) bool {
	n, found := x.counts[o]
	if !found {
		if !x.take(len(o.text)) {
			return false
		}
		o.text = strings.Clone(o.text)
	}
	x.counts[o] = n + 1
	return true
}

// take takes the room for an entry with a text this long, if there is as much.
func (x *Exact) take(text int) bool {
	const entry = 64 // with what the map takes besides
	if x.room < entry+text {
		return false
	}
	x.room -= entry + text
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
	counted := make([]uint64, len(robots)) // requests for paths, of which each has one
	for o, n := range x.counts {
		if o.number == aPath {
			counted[o.row] += n
		}
	}
	for row, robot := range robots {
		if robot != nil && counted[row] == robot.Disobedient {
			robot.Lines, robot.Paths, robot.OtherPaths = []Line{}, []Path{}, 0
		} else {
			robots[row] = nil
		}
	}
	for o, n := range x.counts {
		switch robot := robots[o.row]; {
		case robot == nil:
		case o.number == aPath:
			robot.Paths = append(robot.Paths, Path{Path: o.text, Requests: n})
		default:
			robot.Lines = append(robot.Lines, Line{Line: int(o.number), Rule: o.text, Requests: n})
		}
	}
	for _, robot := range robots {
		if robot == nil {
			continue
		}
		slices.SortFunc(robot.Lines, func(a, b Line) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
		})
		slices.SortFunc(robot.Paths, func(a, b Path) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Path, b.Path))
		})
		robot.Lines = robot.Lines[:min(len(robot.Lines), mostLines)]
		for _, p := range robot.Paths[min(len(robot.Paths), shownPaths):] {
			robot.OtherPaths += p.Requests
		}
		robot.Paths = slices.Clone(robot.Paths[:min(len(robot.Paths), shownPaths)])
	}
}

package compliance

import (
	"cmp"
	"html/template"
	"slices"
)

// Known is what is known of the robots of a name, as from a catalogue. The zero Known is that of a name
// that nobody knows.
type Known struct {
	// Operator is who runs it, and Purpose what it fetches pages for.
	Operator, Purpose string

	// ReadsNoDelay says that its operator says that it reads no Crawl-delay.
	ReadsNoDelay bool
}

// Group sums up what the robots of one operator did, or those of one purpose.
type Group struct {
	// Name is that of the operator or the purpose, empty for all robots of which none is known.
	Name string `json:"name"`

	// Robots is how many robots these are. One that came to several sites counts once.
	Robots uint64 `json:"robots"`

	Tally
}

// MarkKnown fills in what is known of the robots by their names. Of an impostor, and of who was caught in a
// trap, it is not asked: whose they are is not known.
func (r *Report) MarkKnown(known func(robot string) Known) {
	for i := range r.Sites {
		for k := range r.Sites[i].Robots {
			robot := &r.Sites[i].Robots[k]
			var is Known
			if robot.Robot != "" && robot.Standing != "impostor" && robot.Class != Trapped {
				is = known(robot.Robot)
			}
			robot.Operator, robot.Purpose, robot.readsNoDelay = is.Operator, is.Purpose, is.ReadsNoDelay
			robot.UnreadDelay = is.ReadsNoDelay && robot.Of(TooFast).Requests > 0
		}
	}
	r.group()
}

// group fills in the sums by operator and by purpose.
func (r *Report) group() {
	r.Operators = r.groupBy(func(robot *Robot) string { return robot.Operator })
	r.Purposes = r.groupBy(func(robot *Robot) string { return robot.Purpose })
}

// groupBy returns the sums by what of names, those that took most of the back end first; nil where it names
// none. What there was
// in the period before is left out: of robots that came only then the report knows no more.
func (r *Report) groupBy(of func(*Robot) string) []Group {
	sums := make(map[string]*Group)
	seen := make(map[who]bool)
	for i := range r.Sites {
		for k := range r.Sites[i].Robots {
			robot := &r.Sites[i].Robots[k]
			name := of(robot)
			sum := sums[name]
			if sum == nil {
				sum = &Group{Name: name, Tally: newTally()}
				sums[name] = sum
			}
			sum.addAll(&robot.Tally)
			if w := robot.who(); robot.Class != OtherRobots && !seen[w] {
				seen[w] = true
				sum.Robots++
			}
		}
	}
	if len(sums) == 1 && sums[""] != nil {
		return nil
	}
	groups := make([]Group, 0, len(sums))
	for _, sum := range sums {
		sum.share()
		sum.Before = nil
		groups = append(groups, *sum)
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	return groups
}

// who is a robot on whatever site.
type who struct{ robot, class, standing string }

func (r *Robot) who() who { return who{r.Robot, r.Class, r.Standing} }

// groupsView is a table of groups on the page.
type groupsView struct {
	ID, Of string // what they are grouped by: operator, purpose
	Groups []groupRow
}

// groupRow is a group, or what those sum up to that are not shown.
type groupRow struct {
	Name                          string // empty: not known
	Target                        string // a link to its robots, if there is one
	Robots, Requests, Disobedient numberView
	Cost                          template.HTML // empty: not known
}

// shownGroups is how many operators are shown.
const shownGroups = 12

// newGroups returns the tables of a report; none where of no robot anything is known.
func newGroups(r *Report, chosen Selection, self links) (tables []groupsView) {
	for _, by := range []struct {
		of     string
		groups []Group
		field  func(*Selection) *string
	}{
		{"purpose", r.Purposes, func(q *Selection) *string { return &q.Purpose }},
		{"operator", r.Operators, func(q *Selection) *string { return &q.Operator }},
	} {
		if len(by.groups) == 0 {
			continue
		}
		view := groupsView{ID: by.of + "s", Of: by.of}
		rest := Group{Tally: newTally()}
		hidden := 0
		for i := range by.groups {
			g := &by.groups[i]
			if i >= shownGroups {
				hidden++
				rest.Robots += g.Robots
				rest.addAll(&g.Tally)
				continue
			}
			row := newGroupRow(g)
			if row.Name == "" {
				row.Name = "not known"
			}
			if self.path != "" {
				q := chosen
				*by.field(&q) = cmp.Or(g.Name, None)
				row.Target = self.to(q)
			}
			view.Groups = append(view.Groups, row)
		}
		if hidden > 0 {
			row := newGroupRow(&rest)
			row.Name = grouped(uint64(hidden)) + " others"
			view.Groups = append(view.Groups, row)
		}
		tables = append(tables, view)
	}
	return tables
}

func newGroupRow(g *Group) groupRow {
	return groupRow{
		Name: visible(g.Name), Robots: newNumber(g.Robots), Requests: newNumber(g.Requests), Disobedient: newNumber(g.Disobedient),
		Cost: newCost(&g.Cost),
	}
}

// newCost returns what was sent and the time it took, and nothing if they are not known.
func newCost(c *Cost) template.HTML {
	if c.Measured == 0 {
		return ""
	}
	return template.HTML(`<data value="` + number(c.Bytes) + `">` + byteText(c.Bytes) + `</data> <span class="soft">` + timeText(c.Seconds) + `</span>`)
}

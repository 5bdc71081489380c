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

// Group sums up what the robots of one operator did, or those of one purpose, or one robot on all sites.
type Group struct {
	// Name is that of the operator, the purpose or the robot, empty for all robots of which none is known.
	Name string `json:"name"`

	// Class and Standing are those of the robot, as in [Robot]. Those of an operator and a purpose are empty.
	Class    string `json:"class,omitempty"`
	Standing string `json:"standing,omitempty"`

	// Robots is how many robots these are. One that came to several sites counts once.
	Robots uint64 `json:"robots"`

	// Sites is how many sites they came to.
	Sites uint64 `json:"sites"`

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
	r.Operators = r.groupBy(func(robot *Robot) who { return who{name: robot.Operator} })
	r.Purposes = r.groupBy(func(robot *Robot) who { return who{name: robot.Purpose} })
}

// groupBy returns the sums by what of names, those that took most of the back end first; nil where it names
// none. What there was in the period before is left out: of robots that came only then the report knows no more.
func (r *Report) groupBy(of func(*Robot) who) []Group {
	type sum struct {
		Group
		last int // the site, from 1, that was counted last
	}
	sums := make(map[who]*sum)
	seen := make(map[who]bool)
	for i := range r.Sites {
		for k := range r.Sites[i].Robots {
			robot := &r.Sites[i].Robots[k]
			by := of(robot)
			s := sums[by]
			if s == nil {
				s = &sum{Group: Group{Name: by.name, Class: by.class, Standing: by.standing, Tally: newTally()}}
				sums[by] = s
			}
			s.addAll(&robot.Tally)
			if s.last != i+1 {
				s.last = i + 1
				s.Sites++
			}
			if w := robot.who(); robot.Class != OtherRobots && !seen[w] {
				seen[w] = true
				s.Robots++
			}
		}
	}
	if len(sums) == 1 && sums[who{}] != nil {
		return nil
	}
	groups := make([]Group, 0, len(sums))
	for _, sum := range sums {
		sum.share()
		sum.Before = nil
		groups = append(groups, sum.Group)
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Class, b.Class), cmp.Compare(a.Standing, b.Standing))
	})
	return groups
}

// who is a robot on whatever site.
type who struct{ name, class, standing string }

func (r *Robot) who() who { return who{r.Robot, r.Class, r.Standing} }

// groupsView is a table of groups on the page.
type groupsView struct {
	ID, Of string // what they are grouped by: operator, purpose, robot
	Groups []groupRow
}

// groupRow is a group, or what those sum up to that are not shown.
type groupRow struct {
	Name                  template.HTML // a link to its robots, where there is one
	Count                 numberView    // of its robots or, for a robot, of its sites
	Requests, Disobedient numberView
	Cost                  template.HTML // empty: not known
}

// shownGroups is how many rows a table of groups has.
const shownGroups = 12

// newGroups returns the tables of a report; none where of no robot anything is known.
func newGroups(r *Report, chosen Selection, self links) (tables []groupsView) {
	for _, by := range []struct {
		of     string
		groups []Group
		choose func(*Selection, *Group)
	}{
		{"purpose", r.Purposes, func(q *Selection, g *Group) { q.Purpose = cmp.Or(g.Name, None) }},
		{"operator", r.Operators, func(q *Selection, g *Group) { q.Operator = cmp.Or(g.Name, None) }},
		{"robot", r.Across, func(q *Selection, g *Group) {
			q.Robot, q.Class, q.Standing = cmp.Or(g.Name, None), g.Class, cmp.Or(g.Standing, None)
		}},
	} {
		if len(by.groups) == 0 {
			continue
		}
		view := groupsView{ID: by.of + "s", Of: by.of}
		shown := min(len(by.groups), shownGroups)
		for i := range by.groups[:shown] {
			g := &by.groups[i]
			target := ""
			if self.path != "" {
				q := chosen
				by.choose(&q, g)
				target = template.HTMLEscapeString(self.to(q))
			}
			view.Groups = append(view.Groups, newGroupRow(g, target))
		}
		if rest := by.groups[shown:]; len(rest) > 0 {
			sum := Group{Name: grouped(uint64(len(rest))) + " others", Tally: newTally()}
			for i := range rest {
				sum.Robots += rest[i].Robots
				sum.addAll(&rest[i].Tally)
			}
			row := newGroupRow(&sum, "")
			if by.of == "robot" {
				row.Count = numberView{} // one may have come to several of their sites
			}
			view.Groups = append(view.Groups, row)
		}
		tables = append(tables, view)
	}
	return tables
}

// newGroupRow returns the row of a group, with a link to its robots if there is a target, an attribute.
func newGroupRow(g *Group, target string) groupRow {
	row := groupRow{Requests: newNumber(g.Requests), Disobedient: newNumber(g.Disobedient), Cost: newCost(&g.Cost)}
	if g.Class != "" {
		row.Name = newName(&Robot{Robot: g.Name, Class: g.Class, Standing: g.Standing}, target)
		row.Count = newNumber(g.Sites)
		return row
	}
	row.Count = newNumber(g.Robots)
	row.Name = template.HTML(text(cmp.Or(g.Name, "not known")))
	if target != "" {
		row.Name = `<a href="` + template.HTML(target) + `">` + row.Name + `</a>`
	}
	return row
}

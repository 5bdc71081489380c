package compliance

import (
	"html/template"
	"strings"
	"time"
)

// robotView is a robot's row in the table.
type robotView struct {
	Name      template.HTML // with all that belongs to it
	Nameless  bool
	Requests  numberView
	Obedience string
	Kept      string // of a bar that is 100 long
	Spark     template.HTML
	Counts    template.HTML // a cell for each verdict against the rules
	Cost      template.HTML // empty: not known
	Operator  string        // empty: not known
	Purpose   string
	Worst     template.HTML // empty: it broke no line
	Fetched   template.HTML // empty: never
	Older     bool          // what it fetched last is not the text in force
	Last      template.HTML
}

// newRobot returns the row of a robot, of which there is more at target, if anywhere.
func newRobot(r *Robot, s *Site, target string, from *textView, now time.Time) robotView {
	v := robotView{
		Name: newName(r, target) + newRecord(r, now), Nameless: r.Robot == "",
		Requests:  newNumber(r.Requests),
		Obedience: percent(r.Obedience), Kept: decimal(100 * r.Obedience),
		Spark: newSpark(r.Hours, now), Counts: newCells(&r.Tally),
		Fetched: newStamp(r.Fetched, now), Last: newStamp(r.Last, now),
		Older: older(r, s), Cost: newCost(&r.Cost), Operator: visible(r.Operator), Purpose: visible(r.Purpose),
	}
	if len(r.Lines) > 0 {
		v.Worst = newRule(r.Lines[0].Line, r.Lines[0].Rule, from)
	}
	return v
}

// size returns about how many bytes of the page the row takes.
func (v *robotView) size() int {
	return 700 + len(v.Name) + len(v.Spark) + len(v.Counts) + len(v.Cost) + len(v.Worst) + len(v.Requests.HTML)
}

// older reports whether what a robot read last is not the text in force.
func older(r *Robot, s *Site) bool {
	return r.FetchedVersion != "" && s.Version != "" && r.FetchedVersion != s.Version
}

// wholeView is what is said of a robot on its own page, besides what is said of a site.
type wholeView struct {
	Name           template.HTML // with its marks
	Ban            template.HTML // empty: none is in force
	Record         string
	Class          string
	Operator       string // empty: not known
	Purpose        string
	First, Last    template.HTML
	Fetches        numberView
	Fetched        template.HTML // empty: never
	FetchedVersion string
	Older          bool
}

// newWhole returns what is said of the only robot of a site.
func newWhole(s *Site, now time.Time) *wholeView {
	r := &s.Robots[0]
	return &wholeView{
		Name: newName(r, ""), Ban: newBan(r, now), Record: visible(r.Record), Class: visible(r.Class),
		Operator: visible(r.Operator), Purpose: visible(r.Purpose),
		First: newStamp(r.First, now), Last: newStamp(r.Last, now),
		Fetches: newNumber(r.Fetches), Fetched: newStamp(r.Fetched, now), FetchedVersion: visible(r.FetchedVersion),
		Older: older(r, s),
	}
}

// robotName returns what a robot is called; those that give no name go by their class.
func robotName(r *Robot) string {
	switch {
	case r.Robot != "" && r.Class == Trapped:
		return visible(r.Robot) + ", caught in a trap"
	case r.Robot != "":
		return visible(r.Robot)
	case r.Class == OtherRobots:
		return "all others"
	case r.Class == Trapped:
		return "clients caught in a trap"
	case r.Class == "robot":
		return "robots without a name"
	case r.Class == "app":
		return "apps without a name"
	case r.Class == "service":
		return "services without a name"
	case r.Class == "browser":
		return "browsers"
	}
	return "no User-Agent stated"
}

// detailView is what is known of a robot's disobedience: items of lists, and rows of a table.
type detailView struct {
	ID, Name, Standing     string
	Disobedient            numberView
	Lines, Paths, Evidence template.HTML
}

// newDetail returns the details of a robot, at most so many of each kind and the first request.
func newDetail(r *Robot, from *textView, now time.Time, id string, most int) detailView {
	v := detailView{ID: id, Name: robotName(r), Standing: visible(r.Standing), Disobedient: newNumber(r.Disobedient)}
	var lines, paths, evidence strings.Builder
	for _, l := range r.Lines[:min(most, len(r.Lines))] {
		writeItem(&lines, l.Requests, l.About, newRule(l.Line, l.Rule, from))
	}
	for _, p := range r.Paths[:min(most, len(r.Paths))] {
		writeItem(&paths, p.Requests, p.About, template.HTML("<code>"+text(p.Path)+"</code>"))
	}
	if r.OtherPaths > 0 && len(r.Lines) > 0 {
		writeItem(&paths, r.OtherPaths, false, template.HTML("others, each of them rare, by rule "+known(r.Lines[0].Line)+" <code>"+text(r.Lines[0].Rule)+"</code>"+andMore(len(r.Lines)-1)))
	}
	for i := range r.Evidence {
		first := i > 0 && i == len(r.Evidence)-1
		if i < most || first {
			writeEvidence(&evidence, &r.Evidence[i], first, from, now)
		}
	}
	v.Lines, v.Paths, v.Evidence = template.HTML(lines.String()), template.HTML(paths.String()), template.HTML(evidence.String())
	return v
}

// andMore says that there were other rules besides.
func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return " and others"
}

// size returns about how many bytes of the page the details take.
func (v *detailView) size() int { return 1100 + len(v.Lines) + len(v.Paths) + len(v.Evidence) }

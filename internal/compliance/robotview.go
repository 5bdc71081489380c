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

// detailView is what is known of what a robot asked for: items of lists, and rows of a table.
type detailView struct {
	ID, Name, Standing     string
	Disobedient            numberView
	Lines, Paths, Evidence template.HTML
	Allowed                template.HTML
}

// newDetail returns the details of a robot, at most so many of each kind and the first request.
func newDetail(r *Robot, from *textView, now time.Time, id string, most int) detailView {
	v := detailView{ID: id, Name: robotName(r), Standing: visible(r.Standing), Disobedient: newNumber(r.Disobedient)}
	var lines, evidence strings.Builder
	for _, l := range r.Lines[:min(most, len(r.Lines))] {
		writeItem(&lines, l.Requests, l.About, newRule(l.Line, l.Rule, from))
	}
	for i := range r.Evidence {
		first := i > 0 && i == len(r.Evidence)-1
		if i < most || first {
			writeEvidence(&evidence, &r.Evidence[i], first, from, now)
		}
	}
	v.Lines, v.Evidence = template.HTML(lines.String()), template.HTML(evidence.String())
	v.Paths = newPaths(r.Paths, r.OtherPaths, r.OtherByRule, "other lines", most, from)
	v.Allowed = newPaths(r.AllowedPaths, r.OtherAllowed, r.OtherAllowedByRule, "no line", most, from)
	return v
}

// newPaths returns the items of a list of paths, at most so many, and how many requests were for others: by the
// lines that decided about them, the last of which is none that is known.
func newPaths(paths []Path, others uint64, byRule []Line, last string, most int, from *textView) template.HTML {
	var b strings.Builder
	for i, p := range paths {
		if i < most {
			writeItem(&b, p.Requests, p.About, template.HTML("<code>"+text(p.Path)+"</code>"))
		} else {
			others += p.Requests
		}
	}
	const rare = "others, each of them rare"
	switch {
	case others == 0:
	case len(byRule) == 0 || len(paths) > most:
		writeItem(&b, others, false, rare)
	default:
		for _, l := range byRule {
			by := template.HTML(last)
			if l.Line > 0 {
				by = newRule(l.Line, l.Rule, from)
			}
			writeItem(&b, l.Requests, l.About, rare+", by "+by)
		}
	}
	return template.HTML(b.String())
}

// size returns about how many bytes of the page the details take.
func (v *detailView) size() int {
	return 1100 + len(v.Lines) + len(v.Paths) + len(v.Evidence) + len(v.Allowed)
}

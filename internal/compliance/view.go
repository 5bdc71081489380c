package compliance

import (
	"cmp"
	"hash/fnv"
	"html/template"
	"io"
	"strconv"
	"time"
)

// The views are what the template shows: texts that it escapes, and fragments that are HTML
// already. It only arranges them.

// pageView is the whole page.
type pageView struct {
	Title, Source, Nonce string
	Tab                  string // what a browser calls the page
	CSS                  template.CSS
	JS                   template.JS
	Refresh              int
	At, Since            template.HTML
	Zone                 string
	Links                []Link
	All, Selected        string // where the whole report is, and what was selected of it; empty: this is all
	Glance               glanceView
	Sites                []siteView
	Rest                 []siteView // of which there are only the sums
	Several, Whole       bool       // sites, or else robots that are shown whole
	Hidden               string     // how many there are besides
}

// siteView is a site's part of the page, or a robot's whole page.
type siteView struct {
	ID, Name string
	Target   string // a link to it
	Glance   glanceView
	Days     daysView
	Heat     heatView
	Whole    *wholeView // not nil: this robot, instead of the table of robots
	Robots   []robotView
	Others   *robotView
	Hidden   string // how many robots are not shown
	Details  []detailView
	Text     textView
}

// A page shows so much unless it is told otherwise; octets are approximate. Of each robot a
// file shows all details until half of their room is taken, then a few, and in the end none.
const (
	shownRobots  = 500
	shownRows    = 900 << 10 // octets of the tables of robots
	shownDetails = 700 << 10
	shownFew     = 2
	shownText    = 200 << 10
	shownSites   = 24  // sites, or robots that are shown whole
	shownRest    = 256 // of which only the sums are
)

// room is what is left on a page.
type room struct{ robots, rows, details, text int }

// newPage returns the view of a report.
func newPage(r *Report, o *PageOptions) *pageView {
	zone := o.Zone
	if zone == nil {
		zone = time.Local
	}
	now := r.Time.In(zone)
	p := &pageView{
		Title: visible(o.Title), Source: visible(o.Source), Nonce: safeNonce(o.Nonce),
		CSS: template.CSS(pageCSS), JS: template.JS(pageJS),
		Refresh: max(o.RefreshSeconds, 0),
		At:      stampAs(now, "2 January 2006, 15:04"), Since: newStamp(r.Since, now), Zone: zoneName(now),
		Glance: newGlance(&r.Total, r.Sites...),
	}
	if p.Title == "" {
		p.Title = "What robots did"
	}
	for _, link := range o.Links {
		p.Links = append(p.Links, Link{visible(link.Text), link.Target})
	}
	self := newLinks(o.Self)
	if o.Selection != (Selection{}) {
		p.All, p.Selected = string(self), o.Selection.words()
	}
	p.Tab = p.Title
	if o.Selection.Robot != "" {
		p.Tab = visible(cut(o.Selection.Robot, maxRobot)) + " – " + p.Title
	}
	left := room{o.MaxRobots, shownRows, shownDetails, shownText}
	if left.robots <= 0 {
		left.robots = shownRobots
	}
	sites := r.Sites
	if p.Whole = o.Selection.Robot != ""; p.Whole {
		sites = robotsOf(sites)
	}
	p.Several = len(sites) > 1
	hidden := uint64(0)
	ids := make(map[string]bool)
	for i := range sites {
		s := &sites[i]
		q := Selection{Site: cmp.Or(s.Site, None)}
		if p.Whole {
			q = selectionOf(s.Site, &s.Robots[0])
		}
		v := siteView{ID: newID(q, ids), Name: siteName(s.Site), Glance: newGlance(&s.Tally, *s)}
		if p.Whole {
			v.Whole = newWhole(s, now)
		}
		switch {
		case i < shownSites:
			v.Target = "#" + v.ID
			lines := v.ID
			if !p.Several {
				lines = "" // #L7 is the seventh line
			}
			v.Text = newText(s, lines, &left)
			v.fill(s, now, self, &left)
			p.Sites = append(p.Sites, v)
		case len(p.Rest) < shownRest:
			if self != "" {
				v.Target = self.to(q)
			}
			p.Rest = append(p.Rest, v)
		default:
			hidden++
		}
	}
	if hidden > 0 {
		p.Hidden = grouped(hidden)
	}
	return p
}

// robotsOf returns each robot as if it was the only one of its site.
func robotsOf(sites []Site) []Site {
	var all []Site
	for i := range sites {
		for j := range sites[i].Robots {
			one, r := sites[i], &sites[i].Robots[j]
			one.Tally, one.Hours, one.Days = r.Tally, r.Hours, r.Days
			one.Robots = sites[i].Robots[j : j+1]
			all = append(all, one)
		}
	}
	return all
}

// newID returns an ID for what is selected, which is not among the used ones. It is the same at each refresh, wherever
// on the page that has come to stand: what a visitor made of it stays with it.
func newID(q Selection, used map[string]bool) string {
	h := fnv.New32a()
	io.WriteString(h, links("").to(q))
	id := "s" + strconv.FormatUint(uint64(h.Sum32()), 36)
	for used[id] {
		id += "-"
	}
	used[id] = true
	return id
}

// fill adds what is shown of a site besides its sums and text. It is taken from left.
func (v *siteView) fill(s *Site, now time.Time, self links, left *room) {
	v.Days, v.Heat = newDays(s.Days, now), newHeat(s.Hours, now)
	if v.Whole != nil {
		v.Details = []detailView{newDetail(&s.Robots[0], &v.Text, now, "", keptEvidence)}
		return
	}
	hidden := uint64(0)
	for j := range s.Robots {
		robot := &s.Robots[j]
		others := robot.Class == OtherRobots
		if !others && (left.robots <= 0 || left.rows <= 0) {
			hidden++
			continue
		}
		detail := ""
		if self == "" && len(robot.Evidence) > 0 && left.details > 0 {
			most := len(robot.Evidence)
			if left.details < shownDetails/2 {
				most = shownFew
			}
			detail = v.ID + "r" + strconv.Itoa(j+1)
			d := newDetail(robot, &v.Text, now, detail, most)
			left.details -= d.size()
			v.Details = append(v.Details, d)
		}
		row := newRobot(robot, s, self.robot(robot, s, detail), &v.Text, now)
		left.rows -= row.size()
		if others {
			v.Others = &row
		} else {
			left.robots--
			v.Robots = append(v.Robots, row)
		}
	}
	if hidden > 0 {
		v.Hidden = grouped(hidden)
	}
}

// siteName returns a site's name as it is shown.
func siteName(site string) string {
	switch site {
	case "":
		return "a site without a name"
	case OtherSites:
		return "all other sites"
	}
	return visible(site)
}

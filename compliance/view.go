package compliance

import (
	"html/template"
	"strconv"
	"time"
)

// The views are what the template shows: texts that it escapes, and fragments that are HTML
// already. It only arranges them.

// pageView is the whole page.
type pageView struct {
	Title, Source, Nonce string
	CSS                  template.CSS
	JS                   template.JS
	Refresh              int
	At, Since            template.HTML
	Links                []Link
	Glance               glanceView
	Sites                []siteView
	Several              bool // sites
}

// siteView is a site's part of the page.
type siteView struct {
	ID, Name string
	Glance   glanceView
	Days     daysView
	Heat     heatView
	Robots   []robotView
	Others   *robotView
	Hidden   string // how many robots are not shown
	Details  []detailView
	Text     textView
}

// A page shows so many robots unless it is told otherwise, and of details and of robots.txt about
// so many octets. Of each robot it shows all details until half of their room is taken,
// then a few, and in the end none.
const (
	shownRobots  = 500
	shownDetails = 900 << 10
	shownFew     = 2
	shownText    = 200 << 10
)

// room is what is left on a page.
type room struct{ robots, details, text int }

// newPage returns the view of a report.
func newPage(r *Report, o *PageOptions) *pageView {
	p := &pageView{
		Title: visible(o.Title), Source: visible(o.Source), Nonce: safeNonce(o.Nonce),
		CSS: template.CSS(pageCSS), JS: template.JS(pageJS),
		Refresh: max(o.RefreshSeconds, 0),
		At:      stampAs(r.Time, "2 January 2006, 15:04"), Since: newStamp(r.Since, r.Time),
		Several: len(r.Sites) > 1,
		Glance:  newGlance(&r.Total, r.Sites...),
	}
	if p.Title == "" {
		p.Title = "What robots did"
	}
	for _, link := range o.Links {
		p.Links = append(p.Links, Link{visible(link.Text), link.Target})
	}
	left := room{o.MaxRobots, shownDetails, shownText}
	if left.robots <= 0 {
		left.robots = shownRobots
	}
	for i := range r.Sites {
		p.Sites = append(p.Sites, newSite(&r.Sites[i], i, r.Time, &left))
	}
	return p
}

// newSite returns the view of a site, the i-th. What it shows is taken from left.
func newSite(s *Site, i int, now time.Time, left *room) siteView {
	v := siteView{
		ID: "s" + strconv.Itoa(i+1), Name: siteName(s.Site),
		Glance: newGlance(&s.Tally, *s),
		Days:   newDays(s.Days, now), Heat: newHeat(s.Hours, now),
		Text: newText(s, i, left),
	}
	hidden := uint64(0)
	for j := range s.Robots {
		robot := &s.Robots[j]
		others := robot.Class == OtherRobots
		if !others {
			if left.robots <= 0 {
				hidden++
				continue
			}
			left.robots--
		}
		detail := ""
		if len(robot.Evidence) > 0 && left.details > 0 {
			most := len(robot.Evidence)
			if left.details < shownDetails/2 {
				most = shownFew
			}
			detail = v.ID + "r" + strconv.Itoa(j+1)
			d := newDetail(robot, &v.Text, now, detail, most)
			left.details -= d.size()
			v.Details = append(v.Details, d)
		}
		row := newRobot(robot, s, detail, &v.Text, now)
		if others {
			v.Others = &row
		} else {
			v.Robots = append(v.Robots, row)
		}
	}
	if hidden > 0 {
		v.Hidden = grouped(hidden)
	}
	return v
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

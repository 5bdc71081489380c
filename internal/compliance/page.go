package compliance

import (
	"bufio"
	"cmp"
	_ "embed"
	"hash/fnv"
	"html/template"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// PageOptions say what a page shows besides its report. The zero PageOptions are those of a
// page that is written once and kept.
type PageOptions struct {
	// Title is the heading of the page. Default: "What robots did".
	Title string

	// Source says where the figures come from, such as "live" or "replay of access.log".
	Source string

	// RefreshSeconds has a browser that runs scripts fetch the page again that often. Zero or
	// less: never.
	RefreshSeconds int

	// Nonce is that of the Content-Security-Policy that the page is served with; see [CSP].
	// Each answer needs one of its own. Empty for a page that is kept as a file.
	Nonce string

	// Links are shown at the end, such as those to the same report as JSON and CSV.
	Links []Link

	// MaxRobots is how many robots are shown, on all sites together; those that were most
	// disobedient are. Zero or less means 500.
	MaxRobots int

	// Zone is that of times on the page; a browser that runs scripts shows them in its own. Nil means
	// time.Local, the server's.
	Zone *time.Location

	// Self is the path at which a live page is served, empty for a page that is kept as a file. Robots are
	// links to it, whose query is a [Selection] of the report. A file holds all itself.
	Self string

	// Selection is what was selected of the report. Where it names a robot, the page
	// shows each robot of the report whole instead of a table.
	Selection Selection
}

// Link is a link and what it says.
type Link struct{ Text, Target string }

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
)

// WritePage writes the report as one HTML document, which asks for nothing else and is
// complete without scripts. All that comes from robots and from robots.txt is taken for
// hostile. The Report is not changed.
func WritePage(w io.Writer, r *Report, o PageOptions) error {
	b := bufio.NewWriter(w)
	if err := pageTemplate.Execute(b, newPage(r, &o)); err != nil {
		return err
	}
	return b.Flush()
}

// CSP returns the Content-Security-Policy for a page with this nonce: nothing but its own
// style and script, which may fetch the page again.
func CSP(nonce string) string {
	source := "'nonce-" + safeNonce(nonce) + "'"
	return "default-src 'none'; style-src " + source + "; script-src " + source +
		"; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// safeNonce returns a nonce without anything that is not Base64: it must not be able to end
// what it stands in.
func safeNonce(nonce string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/-_=", r) {
			return r
		}
		return -1
	}, nonce)
}

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
	Summary              summaryView
	Observed             bool // nothing was refused, and something would have been
	Periods              []periodView
	Groups               []groupsView
	Advice               []adviceView
	Span                 string // what is selected of the time; empty: all of it
	Sites                []siteView
	Rest                 []siteView // of which there are only the sums
	Several, Whole       bool       // sites, or else robots that are shown whole
	Hidden               string     // how many there are besides
	Hosts                []hostView // to which no robot came
	HiddenHosts          string
}

// siteView is a site's part of the page, or a robot's whole page.
type siteView struct {
	ID, Name string
	Target   string // a link to it
	Summary  summaryView
	Refused  numberView // or, where all is only observed, what would have been
	Days     daysView
	Heat     heatView
	Host     *hostView  // how its robots.txt is; nil: not known
	Whole    *wholeView // not nil: this robot, instead of the table of robots
	Robots   []robotView
	Others   *robotView
	Hidden   string // how many robots are not shown
	Details  []detailView
	Text     textView
}

// A page shows so much unless it is told otherwise; bytes are approximate. Of each robot a
// file shows all details until half of their room is taken, then a few, and in the end none.
const (
	shownRobots  = 500
	shownRows    = 900 << 10 // bytes of the tables of robots
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
		Summary: newSummary(&r.Total, r.Sites...),
	}
	if p.Title == "" {
		p.Title = "What robots did"
	}
	for _, link := range o.Links {
		p.Links = append(p.Links, Link{visible(link.Text), link.Target})
	}
	self := newLinks(o.Self, o.Selection.Period)
	chosen := o.Selection
	chosen.Period = ""
	if chosen != (Selection{}) {
		p.Selected = chosen.words()
		if self.path != "" {
			p.All = self.to(Selection{})
		}
	}
	p.Advice = newAdvice(r)
	p.Observed = r.isObserved()
	p.Periods, p.Span = newPeriods(r, chosen, self, p.Observed), newSpanText(r, now)
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
	if !p.Whole {
		p.Groups = newGroups(r, chosen, self)
	}
	hidden := 0
	ids := make(map[string]bool)
	for i := range sites {
		s := &sites[i]
		q := Selection{Site: cmp.Or(s.Site, None)}
		if p.Whole {
			q = selectionOf(s.Site, &s.Robots[0])
		}
		v := siteView{ID: newID(q, ids), Name: siteName(s.Site), Summary: newSummary(&s.Tally, *s), Host: newHost(s.host, now)}
		v.Refused = v.Summary.Refused
		if p.Observed {
			v.Refused = v.Summary.Observed
		}
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
			if self.path != "" {
				v.Target = self.to(q)
			}
			p.Rest = append(p.Rest, v)
		default:
			hidden++
		}
	}
	p.Hidden = more(hidden)
	if !p.Whole {
		var hosts int
		p.Hosts, hosts = newHosts(r, now)
		p.HiddenHosts = more(hosts)
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
	io.WriteString(h, links{}.to(q))
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
		v.Details = []detailView{newDetail(&s.Robots[0], &v.Text, now, "", shownPaths)}
		return
	}
	hidden := 0
	for j := range s.Robots {
		robot := &s.Robots[j]
		others := robot.Class == OtherRobots
		if !others && (left.robots <= 0 || left.rows <= 0) {
			hidden++
			continue
		}
		detail := ""
		if self.path == "" && len(robot.Evidence)+len(robot.AllowedPaths) > 0 && left.details > 0 {
			most := keptEvidence
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
	v.Hidden = more(hidden)
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

// links makes the addresses of the other parts of a live page: its path, empty in a file, which has no
// others, and the period that is shown.
type links struct{ path, period string }

// newLinks returns the links to a path on the same server, whatever it is.
func newLinks(self, period string) links {
	if self == "" {
		return links{}
	}
	u := url.URL{Path: "/" + strings.TrimLeft(self, "/")}
	return links{u.EscapedPath(), period}
}

// to returns the address of a selection, in the period that is shown.
func (l links) to(q Selection) string {
	q.Period = l.period
	if q == (Selection{}) {
		return l.path
	}
	return l.path + "?" + q.Values().Encode()
}

// robot returns the address of a robot as an attribute: its own page or, in a file, its details. It is empty if
// there is neither.
func (l links) robot(r *Robot, s *Site, detail string) string {
	switch {
	case l.path != "":
		return template.HTMLEscapeString(l.to(selectionOf(s.Site, r)))
	case detail != "":
		return "#" + detail
	}
	return ""
}

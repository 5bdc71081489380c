package compliance

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
	"time"
)

// Host is how the robots.txt of a host is at the time of a report, on the Caddy that makes it.
type Host struct {
	// Host is its name. It is empty where one robots.txt holds for all hosts, and a pattern where it holds for
	// all that fit.
	Host string `json:"host"`

	// Status is loaded, waiting or failing, and Holds says whose rules are in force.
	Status string `json:"status"`
	Holds  string `json:"holds"`

	// Since is when the text in force was loaded first, Loaded when it was last read well.
	Since  time.Time `json:"since,omitzero"`
	Loaded time.Time `json:"loaded,omitzero"`

	// Errors and Warnings are how many lines of it do not do, or may not do, what they seem to. Failure is
	// why the last load did not go well.
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Failure  string `json:"failure,omitempty"`

	// Source is where its rules come from, as a Caddyfile has it; empty for what the site itself answers.
	Source string `json:"-"`

	// Unknown returns the records that name robots which nobody knows; nil where there is no text. It is
	// called of few hosts.
	Unknown func() []UnknownRecord `json:"-"`
}

// UnknownRecord is a record of robots.txt that names a robot which nobody knows, and the line that does.
type UnknownRecord struct {
	Token string
	Line  int
}

// failing is the Status of a host whose robots.txt could not be loaded.
const failing = "failing"

// maxHosts is how many hosts a report has, and maxMeant for how many names known ones are looked for.
const (
	maxHosts = 1000
	maxMeant = 200
)

// misspelt is a record that bound nobody for a long time, and the robot that may be meant. The zero value is none.
type misspelt struct {
	UnknownRecord
	meant string
}

// MarkHosts fills in how the robots.txt of each host is. Of more than 1000 hosts those are left out that are
// the best. Matches reports whether a pattern is that of a host, and meant returns the known robot that a name
// is much like; "" for none.
func (r *Report) MarkHosts(hosts []Host, matches func(pattern, host string) bool, meant func(name string) string) {
	r.Hosts = slices.Clone(hosts)
	bad := func(h *Host) (points int) {
		if h.Status == failing {
			points = 1 << 30
		}
		return points + h.Errors + h.Warnings
	}
	slices.SortStableFunc(r.Hosts, func(a, b Host) int {
		return cmp.Or(cmp.Compare(bad(&b), bad(&a)), cmp.Compare(a.Host, b.Host))
	})
	asked := 0 // looking for a name takes a while
	byName := make(map[string]*Host)
	var patterns []*Host
	for i := range r.Hosts {
		h := &r.Hosts[i]
		if byName[h.Host] == nil {
			byName[h.Host] = h
		}
		if strings.Contains(h.Host, "*") {
			patterns = append(patterns, h)
		}
	}
	for i := range r.Sites {
		s := &r.Sites[i]
		if s.Site == OtherSites {
			continue
		}
		s.host = byName[s.Site]
		for _, h := range patterns {
			if s.host == nil && matches(h.Host, s.Site) {
				s.host = h
			}
		}
		if s.host == nil {
			s.host = byName[""]
		}
		for _, u := range s.unmatched(r.Time) {
			if asked++; asked > maxMeant || s.misspelt.meant != "" {
				break
			}
			s.misspelt = misspelt{u, meant(u.Token)}
		}
	}
	r.Hosts = r.Hosts[:min(len(r.Hosts), maxHosts)]
}

// When a record is said to bind nobody: so long it must have been in force, and so many requests must have come.
const (
	unmatchedTime     = 14 * 24 * time.Hour
	unmatchedRequests = 1000
)

// unmatched returns the records of robots which nobody knows that bound nobody for a long time; none where it
// is not sure: where some robots have no row of their own.
func (s *Site) unmatched(now time.Time) (records []UnknownRecord) {
	if s.host == nil || s.host.Unknown == nil || s.host.Since.IsZero() || now.Sub(s.host.Since) < unmatchedTime || s.Requests < unmatchedRequests {
		return nil
	}
	bound, first := make(map[string]bool), now
	for i := range s.Robots {
		r := &s.Robots[i]
		if r.Class == OtherRobots {
			return nil
		}
		bound[strings.ToLower(r.Record)] = true
		if r.First.Before(first) {
			first = r.First
		}
	}
	if now.Sub(first) < unmatchedTime {
		return nil
	}
	for _, u := range s.host.Unknown() {
		if !bound[strings.ToLower(cut(u.Token, maxShort))] {
			records = append(records, u)
		}
	}
	return records
}

// adviseHost says what to do where rules could not be loaded. It returns no line where they could.
func adviseHost(s *Site) Advice {
	h := s.host
	if h == nil || h.Status != failing {
		return Advice{}
	}
	since := "since Caddy was started"
	if !h.Loaded.IsZero() {
		since = "since " + h.Loaded.UTC().Format("2 January, 15:04") + " UTC"
	}
	a := Advice{
		Text: "robots.txt could not be loaded " + since + ": " + visible(strings.TrimSuffix(h.Failure, ".")) + ". Until then this holds: " + h.Holds + ". Correct its source:",
		File: "Caddyfile", Line: "source " + visible(h.Source), weight: s.Requests,
	}
	if h.Source == "" {
		a.Text = strings.TrimSuffix(a.Text, "Correct its source:") + "Correct what answers it, or have the text in a file:"
		a.Line = "source file /path/to/robots.txt"
	}
	return a
}

// adviseUnmatched says what to do about a record that binds nobody.
func adviseUnmatched(s *Site) Advice {
	u := &s.misspelt
	if !isToken(u.meant) {
		return Advice{}
	}
	return Advice{
		Text: "The record for \"" + visible(u.Token) + "\", line " + known(u.Line) + " of robots.txt, has bound nobody for two weeks or more. Remove it, or if the name is misspelt, write:",
		File: "robots.txt", Line: "User-agent: " + u.meant, weight: s.Requests,
	}
}

// hostView is what is said of the robots.txt of a host.
type hostView struct {
	Name     string
	State    template.HTML
	Findings string
}

// newHost returns what is said of a host; nil of one of which nothing is known.
func newHost(h *Host, now time.Time) *hostView {
	if h == nil {
		return nil
	}
	v := &hostView{Name: visible(h.Host), Findings: findingsText(h)}
	if h.Host == "" {
		v.Name = "all hosts"
	}
	switch {
	case h.Status == failing && h.Loaded.IsZero():
		v.State = `<span class="mark bad">never loaded</span>`
	case h.Status == failing:
		v.State = template.HTML(`<span class="mark bad">failing</span> since `) + newStamp(h.Loaded, now)
	case h.Loaded.IsZero():
		v.State = "not loaded yet"
	default:
		v.State = template.HTML("loaded " + timeText(max(0, now.Sub(h.Loaded).Round(time.Second).Seconds())) + " ago")
	}
	return v
}

// findingsText says what lint finds in the text of a host.
func findingsText(h *Host) string {
	if h.Errors+h.Warnings == 0 {
		return "none"
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{h.Errors, "error"}, {h.Warnings, "warning"}} {
		switch {
		case c.n == 1:
			parts = append(parts, "1 "+c.what)
		case c.n > 1:
			parts = append(parts, grouped(uint64(c.n))+" "+c.what+"s")
		}
	}
	return strings.Join(parts, ", ")
}

// newHosts returns the hosts to which no robot came.
func newHosts(r *Report, now time.Time) (views []hostView, hidden int) {
	visited := make(map[string]bool)
	for i := range r.Sites {
		if h := r.Sites[i].host; h != nil {
			visited[h.Host] = true
		}
	}
	for i := range r.Hosts {
		h := &r.Hosts[i]
		switch {
		case visited[h.Host]:
		case len(views) < shownRest:
			views = append(views, *newHost(h, now))
		default:
			hidden++
		}
	}
	return views, hidden
}

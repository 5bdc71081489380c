package compliance

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// None, in a field of a [Selection], is for those that have no name, or of whose claim nothing can be
// said: "-", as access logs write what is not there.
const None = "-"

// Selection says which part of a [Report] is wanted. An empty field takes all; the others are
// compared without regard to case. The zero Selection takes everything.
type Selection struct {
	Site, Robot, Class, Standing string

	// Operator and Purpose are those of the robots of a name: see [Report.MarkKnown].
	Operator, Purpose string

	// Period is today, 7d, 30d or 90d; empty for all that the ledger holds.
	Period string
}

// fields are the fields by the names that they have in a query.
func (q Selection) fields() [7]struct{ name, value string } {
	return [...]struct{ name, value string }{
		{"site", q.Site}, {"robot", q.Robot}, {"class", q.Class}, {"standing", q.Standing},
		{"operator", q.Operator}, {"purpose", q.Purpose}, {"period", q.Period},
	}
}

// Values returns the selection as a query: site, robot, class, standing, operator, purpose and period, those that
// are not empty.
func (q Selection) Values() url.Values {
	values := make(url.Values)
	for _, f := range q.fields() {
		if f.value != "" {
			values.Set(f.name, f.value)
		}
	}
	return values
}

// words says what is selected; nothing if that is everything.
func (q Selection) words() string {
	var words []string
	for _, f := range q.fields() {
		if f.value != "" {
			words = append(words, f.name+" "+visible(f.value))
		}
	}
	return strings.Join(words, ", ")
}

// Check returns an error that says what to write instead if there is no such class, standing or period.
func (q Selection) Check() error {
	if q.Class != "" && !containsFold(classWords[:], q.Class) {
		return fmt.Errorf("unknown class %q: write one of %q", q.Class, classWords)
	}
	words := append([]string{None}, standingWords[1:]...)
	if q.Standing != "" && !containsFold(words, q.Standing) {
		return fmt.Errorf("unknown standing %q: write one of %q, the first for robots of which nothing can be checked", q.Standing, words)
	}
	return checkPeriod(q.Period)
}

func containsFold(words []string, word string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
}

// selectionOf returns the Selection that takes a robot and, but for the case of its name, no other.
func selectionOf(site string, r *Robot) Selection {
	return Selection{Site: cmp.Or(site, None), Robot: cmp.Or(r.Robot, None), Class: r.Class, Standing: cmp.Or(r.Standing, None)}
}

// fits reports whether one of the words that a robot goes by is the one that is wanted.
func fits(wanted, word string, most int) bool {
	return wanted == "" || strings.EqualFold(cut(wanted, most), word) || wanted == None && word == ""
}

func (q Selection) takes(r *Robot) bool {
	return fits(q.Robot, r.Robot, maxRobot) && fits(q.Class, r.Class, maxShort) && fits(q.Standing, r.Standing, maxShort) &&
		fits(q.Operator, r.Operator, maxShort) && fits(q.Purpose, r.Purpose, maxShort)
}

// Select returns the part of the report that fits, with the sums of what there is of it: r itself, if q is
// zero. Sites of which nothing fits are left out. It shares data with r, which is not changed.
func (r *Report) Select(q Selection) *Report {
	if q == (Selection{}) {
		return r
	}
	part := &Report{Time: r.Time, Sites: []Site{}}
	for _, s := range r.Sites {
		if fits(q.Site, s.Site, maxSite) && s.choose(q) {
			part.Sites = append(part.Sites, s)
		}
	}
	for _, h := range r.Hosts {
		if fits(q.Site, h.Host, maxSite) {
			part.Hosts = append(part.Hosts, h)
		}
	}
	if span, before := newSpan(q.Period, r.Time); span != nil {
		part.Since = r.Since
		part.within(span, before)
	}
	part.sum()
	part.group()
	return part
}

// choose leaves only the robots that fit in s, if there are any.
func (s *Site) choose(q Selection) bool {
	var robots []Robot
	for i := range s.Robots {
		if q.takes(&s.Robots[i]) {
			robots = append(robots, s.Robots[i])
		}
	}
	if len(robots) == len(s.Robots) {
		return len(robots) > 0
	}
	s.Robots = robots
	s.sum()
	return len(robots) > 0
}

package compliance

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// None, in a field of a [Selection], is for those that have no name, or of whose claim nothing can be
// said: "-", as access logs write what is not there.
const None = "-"

// Selection says which part of a [Report] is wanted. An empty field takes all; the others are
// compared without regard to case. The zero Selection takes everything.
type Selection struct{ Site, Robot, Class, Standing string }

// fields are the fields by the names that they have in a query.
func (q Selection) fields() [4]struct{ name, value string } {
	return [...]struct{ name, value string }{{"site", q.Site}, {"robot", q.Robot}, {"class", q.Class}, {"standing", q.Standing}}
}

// Values returns the selection as a query: site, robot, class and standing, those that are not empty.
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

// Check returns an error that says what to write instead if there is no such class or standing.
func (q Selection) Check() error {
	if q.Class != "" && !containsFold(classWords[:], q.Class) {
		return fmt.Errorf("unknown class %q: write one of %q", q.Class, classWords)
	}
	words := append([]string{None}, standingWords[1:]...)
	if q.Standing != "" && !containsFold(words, q.Standing) {
		return fmt.Errorf("unknown standing %q: write one of %q, the first for robots of which nothing can be checked", q.Standing, words)
	}
	return nil
}

func containsFold(words []string, word string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
}

// selectionOf returns the Selection that takes a robot and, but for the case of its name, no other.
func selectionOf(site string, r *Robot) Selection {
	return Selection{cmp.Or(site, None), cmp.Or(r.Robot, None), r.Class, cmp.Or(r.Standing, None)}
}

// fits reports whether one of the words that a robot goes by is the one that is wanted.
func fits(wanted, word string, most int) bool {
	return wanted == "" || strings.EqualFold(cut(wanted, most), word) || wanted == None && word == ""
}

func (q Selection) takes(r *Robot) bool {
	return fits(q.Robot, r.Robot, maxRobot) && fits(q.Class, r.Class, maxShort) && fits(q.Standing, r.Standing, maxShort)
}

// Select returns the part of the report that fits, with the sums of what there is of it. Sites of which
// nothing fits are left out. It shares data with r, which is not changed.
func (r *Report) Select(q Selection) *Report {
	part := &Report{Time: r.Time, Total: newTally(), Sites: []Site{}}
	for i := range r.Sites {
		s := r.Sites[i]
		if !fits(q.Site, s.Site, maxSite) || !s.choose(q) {
			continue
		}
		part.Sites = append(part.Sites, s)
		for v, c := range s.Verdicts {
			part.Total.add(v, c)
		}
		for j := range s.Robots {
			if first := s.Robots[j].First; part.Since.IsZero() || first.Before(part.Since) {
				part.Since = first
			}
		}
	}
	part.Total.share()
	part.sort()
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
	s.Robots, s.Tally = robots, newTally()
	hours, days := make(periodSums), make(periodSums)
	for i := range robots {
		for v, c := range robots[i].Verdicts {
			s.add(v, c)
		}
		hours.add(robots[i].Hours)
		days.add(robots[i].Days)
	}
	s.share()
	s.Hours, s.Days = hours.periods(), days.periods()
	return len(robots) > 0
}

// periodSums adds up periods that began at the same time.
type periodSums map[time.Time]Period

func (sums periodSums) add(periods []Period) {
	for _, p := range periods {
		sum := sums[p.Time]
		sums[p.Time] = Period{p.Time, sum.Requests + p.Requests, sum.Disobedient + p.Disobedient}
	}
}

// periods returns the sums in the order of time.
func (sums periodSums) periods() []Period {
	all := []Period{}
	for _, p := range sums {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Period) int { return a.Time.Compare(b.Time) })
	return all
}

package compliance

import (
	"fmt"
	"slices"
	"time"
)

// Span is a period that a report is of: days as UTC has them, the last of which may not be over.
type Span struct {
	Name string    `json:"name"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Earlier is what there was in the period before.
type Earlier struct {
	Requests    uint64  `json:"requests"`
	Disobedient uint64  `json:"disobedient"`
	Refused     uint64  `json:"refused"`
	Bytes       uint64  `json:"bytes"`
	Seconds     float64 `json:"seconds"`
}

// add adds what there was elsewhere.
func (e *Earlier) add(f *Earlier) {
	e.Requests += f.Requests
	e.Disobedient += f.Disobedient
	e.Refused += f.Refused
	e.Bytes += f.Bytes
	e.Seconds += f.Seconds
}

// addPeriod adds what there was in a period.
func (e *Earlier) addPeriod(p *Period) {
	e.add(&Earlier{p.Requests, p.Disobedient, p.Refused, p.Bytes, p.Seconds})
}

// periodDays are the periods that can be asked for, and how many days each has.
var periodDays = []struct {
	name string
	days int
}{{"today", 1}, {"7d", 7}, {"30d", 30}, {"90d", 90}}

// Periods are the names of the periods that can be asked for.
func Periods() (names []string) {
	for _, p := range periodDays {
		names = append(names, p.name)
	}
	return names
}

// checkPeriod returns an error that says what to write instead if there is no such period.
func checkPeriod(name string) error {
	if name == "" || slices.Contains(Periods(), name) {
		return nil
	}
	return fmt.Errorf("unknown period %q: write one of %q, or none for all that is kept", name, Periods())
}

// newSpan returns the period with this name at a time, and the one before; both nil for none.
func newSpan(name string, now time.Time) (span, before *Span) {
	for _, p := range periodDays {
		if p.name == name {
			from := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-p.days)
			earlier := from.AddDate(0, 0, -p.days)
			return &Span{name, from, now.UTC()}, &Span{name, earlier, from}
		}
	}
	return nil, nil
}

// isKeptSince reports whether a ledger that was begun then still holds all of the period.
func (s *Span) isKeptSince(since, now time.Time) bool {
	oldest := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-keptDays)
	return !s.From.Before(oldest) && !since.IsZero() && !since.Truncate(24*time.Hour).After(s.From)
}

// holds reports whether a period that began then is in it.
func (s *Span) holds(t time.Time) bool { return !t.Before(s.From) && t.Before(s.To) }

// within cuts the report to a period. Robots that did not come in it are left out, but count in the
// sums of the period before.
func (r *Report) within(span, before *Span) {
	r.Period = span
	if before.isKeptSince(r.Since, r.Time) {
		r.Before = before
	}
	for i := range r.Sites {
		s := &r.Sites[i]
		s.Robots = slices.Clone(s.Robots)
		for k := range s.Robots {
			s.Robots[k].within(span, r.Before)
		}
		s.estimate()
		s.sum()
		s.Robots = slices.DeleteFunc(s.Robots, func(robot Robot) bool { return robot.Requests == 0 && !span.holds(robot.Fetched) })
		sortRobots(s.Robots)
	}
	r.Sites = slices.DeleteFunc(r.Sites, func(s Site) bool { return len(s.Robots) == 0 && s.Before == nil })
}

// within cuts what a robot did to a period.
func (r *Robot) within(span, before *Span) {
	r.Tally = newTally()
	if before != nil {
		r.Before = new(Earlier)
	}
	for i := range r.Days {
		p := &r.Days[i]
		switch {
		case p.day == nil:
		case span.holds(p.Time):
			for v := range Verdict(verdicts) {
				r.add(v, p.day.of(v))
			}
			c := p.day.cost()
			r.spend(&c)
		case before != nil && before.holds(p.Time):
			r.Before.addPeriod(p)
		}
	}
	r.share()
	first := slices.IndexFunc(r.Evidence, func(e Evidence) bool { return e.Time.Before(span.From) })
	if first >= 0 {
		r.Evidence = r.Evidence[:first:first] // the newest stand first
	}
}

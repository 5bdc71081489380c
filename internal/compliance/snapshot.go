package compliance

import (
	"cmp"
	"slices"
	"time"
)

// Snapshot returns what the ledger holds as of now, of the sites that are named or, if none
// is, of all. Hours and days that begin after now are left out.
func (l *Ledger) Snapshot(now time.Time, sites ...string) *Report {
	s := snapshot{now: moment(now), since: never, total: newTally(), sites: make(map[string]*siteSums)}
	l.each(func(r *row) {
		if len(sites) == 0 || slices.Contains(sites, r.key.site) {
			s.add(r)
		}
	})
	return s.report()
}

// snapshot is a report in the making.
type snapshot struct {
	now, since int64
	total      Tally
	sites      map[string]*siteSums
}

// siteSums are the sums over a site's robots.
type siteSums struct {
	site  Site
	last  int64 // when the version was that
	hours [keptHours]period
	days  [keptDays]period
}

// add adds a row. Callers hold its lock.
func (s *snapshot) add(r *row) {
	sums := s.sites[r.key.site]
	if sums == nil {
		sums = &siteSums{site: Site{Site: r.key.site, Tally: newTally()}}
		s.sites[r.key.site] = sums
	}
	robot := s.robot(r)
	sums.site.Robots = append(sums.site.Robots, robot)
	for v, c := range robot.Verdicts {
		sums.site.add(v, c)
		s.total.add(v, c)
	}
	if r.version != "" && r.last >= sums.last {
		sums.last, sums.site.Version = r.last, r.version
	}
	s.since = min(s.since, r.first)
	sum := func(into, from ring, number int32) {
		for i, p := range from {
			if within(p, number, len(from)) {
				into[i].count(p.Number, p.Requests, p.Disobedient)
			}
		}
	}
	sum(sums.hours[:], r.hours[:], hourOf(s.now))
	sum(sums.days[:], r.days[:], dayOf(s.now))
}

// robot returns what is noted in a row.
func (s *snapshot) robot(r *row) Robot {
	robot := Robot{
		Robot: r.key.robot, Class: classWords[r.key.class], Standing: standingWords[r.key.standing], Record: r.record,
		Tally: newTally(),
		First: timeOf(r.first), Last: timeOf(r.last),
		Fetches: r.fetches, FetchedVersion: r.fetchedVersion,
		Hours: ring(r.hours[:]).periods(hourOf(s.now), hourLong),
		Days:  ring(r.days[:]).periods(dayOf(s.now), dayLong),
		Lines: []Line{}, Paths: []Path{}, Evidence: []Evidence{},
	}
	if r.fetches > 0 {
		robot.Fetched = timeOf(r.fetched)
	}
	for v, t := range r.tallies {
		robot.add(Verdict(v), Count{t.Requests, t.Refused})
	}
	robot.share()
	if r.offences != nil {
		r.offences.report(&robot)
	}
	return robot
}

// report adds what is kept of offences.
func (o *offences) report(robot *Robot) {
	for _, c := range o.lines.sorted() {
		robot.Lines = append(robot.Lines, Line{int(c.number), c.text(), c.count - c.over, c.over > 0})
	}
	for _, c := range o.paths.sorted() {
		robot.Paths = append(robot.Paths, Path{c.text(), c.count - c.over, c.over > 0})
	}
	for _, e := range o.all() {
		method, path, rule := e.texts()
		robot.Evidence = append(robot.Evidence, Evidence{
			Time: timeOf(e.at), Method: method, Path: path, Status: int(e.status), Verdict: e.verdict,
			Line: int(e.line), Rule: rule, Address: addressText(e.address),
		})
	}
}

// report returns the report.
func (s *snapshot) report() *Report {
	r := &Report{Time: timeOf(s.now), Total: s.total, Sites: []Site{}}
	if s.since != never {
		r.Since = timeOf(s.since)
	}
	r.Total.share()
	for _, sums := range s.sites {
		site := &sums.site
		site.share()
		site.Hours = ring(sums.hours[:]).periods(hourOf(s.now), hourLong)
		site.Days = ring(sums.days[:]).periods(dayOf(s.now), dayLong)
		slices.SortFunc(site.Robots, func(a, b Robot) int {
			return cmp.Or(a.Tally.compare(&b.Tally), cmp.Compare(a.Robot, b.Robot),
				cmp.Compare(a.Class, b.Class), cmp.Compare(a.Standing, b.Standing))
		})
		r.Sites = append(r.Sites, *site)
	}
	r.sort()
	return r
}

// sort puts those sites first on which most was disobedient.
func (r *Report) sort() {
	slices.SortFunc(r.Sites, func(a, b Site) int {
		return cmp.Or(a.Tally.compare(&b.Tally), cmp.Compare(a.Site, b.Site))
	})
}

// compare puts those first that were disobedient more often, and of these those that came
// more often.
func (t *Tally) compare(u *Tally) int {
	return cmp.Or(cmp.Compare(u.Disobedient, t.Disobedient), cmp.Compare(u.Requests, t.Requests))
}

// within reports whether a period is one of so many that end with the one of this number.
func within(p period, number int32, length int) bool {
	return p.Requests > 0 && p.Number <= number && p.Number > number-int32(length)
}

// periods returns the periods up to the one of this number, in their order.
func (r ring) periods(number int32, long int64) []Period {
	all := []Period{}
	for n := max(number-int32(len(r))+1, 0); n <= number; n++ {
		if p := r[int(n)%len(r)]; p.Number == n && p.Requests > 0 {
			all = append(all, Period{timeOf(int64(n) * long), uint64(p.Requests), uint64(p.Disobedient)})
		}
	}
	return all
}

package compliance

import (
	"cmp"
	"slices"
	"time"
)

// Report is what a ledger holds at a time, as plain data that shares nothing with it. Its
// JSON has the keys that the fields say; times are in UTC.
type Report struct {
	// Time is what the report was made for, and Since when the first request was.
	Time  time.Time `json:"time"`
	Since time.Time `json:"since,omitzero"`

	// Period is the one that the report is of, and Before the one before that; nil for all that the
	// ledger holds, and where it does not hold the period before. Lines and paths are of all times.
	Period *Span `json:"period,omitempty"`
	Before *Span `json:"period_before,omitempty"`

	// Advice is what the owner may want to do, at most five things. Advise fills it in.
	Advice []Advice `json:"advice,omitempty"`

	Total Tally `json:"total"`

	// Across are the sums by robot where there are several sites, those that took most of the back end first.
	Across []Group `json:"across_sites,omitempty"`

	// Operators and Purposes are the sums by who runs the robots and by what they come for, likewise.
	// MarkKnown fills them in.
	Operators []Group `json:"operators,omitempty"`
	Purposes  []Group `json:"purposes,omitempty"`

	// Hosts are how the robots.txt of each host is, the worst first: also of those to which no robot came.
	// MarkHosts fills them in.
	Hosts []Host `json:"hosts,omitempty"`

	// Sites are those on which most was disobedient first.
	Sites []Site `json:"sites"`
}

// Tally counts judged requests.
type Tally struct {
	// Requests are all that were judged, and Disobedient those among them that were against the
	// rules. What came during a ban is not: it was refused for what had been asked for before.
	Requests    uint64 `json:"requests"`
	Disobedient uint64 `json:"disobedient"`

	// Refused are the requests that were not served, Observed those that would have been refused, but
	// were served since the site only observes. What came during a ban is one or the other, too.
	Refused  uint64 `json:"refused"`
	Observed uint64 `json:"observed"`

	// Obedience is the share of the requests that kept the rules, those during a ban left out; 1 if
	// there were none.
	Obedience float64 `json:"obedience"`

	// Verdicts are the same by verdict, those that there were.
	Verdicts map[Verdict]Count `json:"verdicts"`

	Cost

	// Before is what there was in the period before, where that is known.
	Before *Earlier `json:"before,omitempty"`
}

// Count is how many requests had a verdict, and how many of them were refused.
type Count struct {
	Requests uint64 `json:"requests"`
	Refused  uint64 `json:"refused"`
}

// Site is what robots did on one site.
type Site struct {
	// Site is its name, [OtherSites] for all that have no place of their own.
	Site string `json:"site"`

	// Version is that of its robots.txt at the last request, if it is known. RobotsTxt is
	// the text itself; a ledger does not have it, so the caller fills it in.
	Version   string `json:"version,omitempty"`
	RobotsTxt string `json:"robots_txt,omitempty"`

	Tally

	// Hours of the last seven days, and Days of the last ninety.
	Hours []Period `json:"hours"`
	Days  []Period `json:"days"`

	// Robots are those that were most disobedient first.
	Robots []Robot `json:"robots"`

	host     *Host // nil: not known
	misspelt misspelt
}

// Robot is what one robot did on one site.
type Robot struct {
	// Robot is its name, empty for all that give none, which are told apart by Class: robot, app,
	// service, unstated, browser or trapped. The class [OtherRobots] is for all that have no row of their
	// own.
	Robot string `json:"robot"`
	Class string `json:"class"`

	// Standing is verified, unverified or impostor, or empty where nothing could be checked.
	Standing string `json:"standing,omitempty"`

	// Record is the User-agent value of the record that bound it last.
	Record string `json:"record,omitempty"`

	// Operator is who runs the robots of this name, and Purpose what they come for; empty where that is not
	// known. UnreadDelay says that it came too fast, and that its operator says that it reads no
	// Crawl-delay: see unpaced. MarkKnown fills them in.
	Operator     string `json:"operator,omitempty"`
	Purpose      string `json:"purpose,omitempty"`
	UnreadDelay  bool   `json:"unread_delay,omitempty"`
	readsNoDelay bool   // whether it came too fast or not

	// BannedUntil is when the last ban of it ends, zero where none is in force. BannedAddresses are those
	// from which it is banned; none if it is banned wherever it comes from. MarkBans fills them in.
	BannedUntil     time.Time `json:"banned_until,omitzero"`
	BannedAddresses []string  `json:"banned_addresses,omitempty"`

	Tally

	First time.Time `json:"first"`
	Last  time.Time `json:"last"`

	// Fetches is how often it read /robots.txt, Fetched when it last did, and FetchedVersion
	// what it then read.
	Fetches        uint64    `json:"robots_txt_fetches"`
	Fetched        time.Time `json:"robots_txt_fetched,omitzero"`
	FetchedVersion string    `json:"robots_txt_version,omitempty"`

	Hours []Period `json:"hours"`
	Days  []Period `json:"days"`

	// Lines and Paths are those where it was disobedient most often: at most ten lines and twenty paths.
	// OtherPaths are its disobedient requests for all other paths, and OtherByRule the same by the line that
	// they broke. The last one has no line, for those of other lines.
	Lines       []Line `json:"lines"`
	Paths       []Path `json:"paths"`
	OtherPaths  uint64 `json:"other_paths"`
	OtherByRule []Line `json:"other_paths_by_rule,omitempty"`

	// AllowedPaths are those that it was allowed to ask for and asked for most often, at most twenty, and
	// the rest is as above. Where no line says that they are allowed, the last of OtherAllowedByRule has them.
	AllowedPaths       []Path `json:"allowed_paths"`
	OtherAllowed       uint64 `json:"other_allowed_paths"`
	OtherAllowedByRule []Line `json:"other_allowed_by_rule,omitempty"`

	// Evidence is its last ten disobedient requests, the newest first, and behind them the first ever.
	Evidence []Evidence `json:"evidence"`
}

// Period is an hour or a day in which there were requests. What was refused and what the others cost is
// known of days.
type Period struct {
	Time        time.Time `json:"time"` // when it began
	Requests    uint64    `json:"requests"`
	Disobedient uint64    `json:"disobedient"`
	Refused     uint64    `json:"refused,omitempty"`
	Bytes       uint64    `json:"bytes,omitempty"`
	Seconds     float64   `json:"seconds,omitempty"`

	day *day // of a robot
}

// Line is a line of robots.txt and how often it was disobeyed; 0 and an explanation where no
// line of the file says it. About says that the count is an estimate: right within a
// tenth, as a rule.
type Line struct {
	Line     int    `json:"line"`
	Rule     string `json:"rule"`
	Requests uint64 `json:"requests"`
	About    bool   `json:"about,omitempty"`
}

// Path is a path and how often it was asked for. Line is that of robots.txt which decided about it last;
// 0 where none did. About says that the count is an estimate: right within a tenth, as a rule.
type Path struct {
	Path     string `json:"path"`
	Line     int    `json:"line,omitempty"`
	Requests uint64 `json:"requests"`
	About    bool   `json:"about,omitempty"`
}

// Evidence is one disobedient request. Path is cut to 200 bytes. Address is the network it
// came from, unless Event.WholeAddress asked for more.
type Evidence struct {
	Time    time.Time `json:"time"`
	Method  string    `json:"method"`
	Path    string    `json:"path"`
	Status  int       `json:"status"`
	Verdict Verdict   `json:"verdict"`
	Line    int       `json:"line,omitempty"`
	Rule    string    `json:"rule,omitempty"`
	Address string    `json:"address,omitempty"`
}

// newTally returns a Tally of nothing.
func newTally() Tally { return Tally{Verdicts: make(map[Verdict]Count)} }

// Of returns the count of a verdict.
func (t *Tally) Of(v Verdict) Count { return t.Verdicts[v] }

// add counts requests with a verdict.
func (t *Tally) add(v Verdict, c Count) {
	if c.Requests == 0 {
		return
	}
	was := t.Verdicts[v]
	t.Verdicts[v] = Count{was.Requests + c.Requests, was.Refused + c.Refused}
	t.Requests += c.Requests
	t.Refused += c.Refused
	if v.Disobedient() {
		t.Disobedient += c.Requests
	}
	if v.refusable() {
		t.Observed += c.Requests - c.Refused
	}
}

// addAll adds what another Tally counts.
func (t *Tally) addAll(u *Tally) {
	for v, c := range u.Verdicts {
		t.add(v, c)
	}
	t.Cost.add(&u.Cost)
	if u.Before != nil {
		if t.Before == nil {
			t.Before = new(Earlier)
		}
		t.Before.add(u.Before)
	}
}

// allowed returns how many requests were allowed.
func (t *Tally) allowed() uint64 { return t.Of(Allowed).Requests + t.Of(Exempt).Requests }

// share sets Obedience.
func (t *Tally) share() {
	t.Obedience = 1
	if judged := t.Requests - t.Of(Banned).Requests; judged > 0 {
		t.Obedience = 1 - float64(t.Disobedient)/float64(judged)
	}
}

// sum makes the sums of a site those of its robots.
func (s *Site) sum() {
	s.Tally = newTally()
	hours, days := make(periodSums), make(periodSums)
	for i := range s.Robots {
		robot := &s.Robots[i]
		s.addAll(&robot.Tally)
		hours.add(robot.Hours)
		days.add(robot.Days)
	}
	s.share()
	s.Hours, s.Days = hours.periods(), days.periods()
}

// sum makes the sums of a report those of its sites, of which it puts those first on which most was
// disobedient, and those of each robot.
func (r *Report) sum() {
	r.Total, r.Since = newTally(), time.Time{}
	for i := range r.Sites {
		s := &r.Sites[i]
		r.Total.addAll(&s.Tally)
		for j := range s.Robots {
			if first := s.Robots[j].First; r.Since.IsZero() || first.Before(r.Since) {
				r.Since = first
			}
		}
	}
	r.Total.share()
	slices.SortFunc(r.Sites, func(a, b Site) int {
		return cmp.Or(a.Tally.compare(&b.Tally), cmp.Compare(a.Site, b.Site))
	})
	r.Across = nil
	if len(r.Sites) > 1 {
		r.Across = r.groupBy((*Robot).who)
	}
}

// add adds what was in another hour or day.
func (p *Period) add(q Period) {
	p.Requests += q.Requests
	p.Disobedient += q.Disobedient
	p.Refused += q.Refused
	p.Bytes += q.Bytes
	p.Seconds += q.Seconds
}

// periodSums adds up periods by when they began, in seconds since 1970.
type periodSums map[int64]*Period

func (sums periodSums) add(periods []Period) {
	for _, p := range periods {
		if sum := sums[p.Time.Unix()]; sum != nil {
			sum.add(p)
		} else {
			p.day = nil
			sums[p.Time.Unix()] = &p
		}
	}
}

// periods returns the sums in the order of time.
func (sums periodSums) periods() []Period {
	all := make([]Period, 0, len(sums))
	for _, p := range sums {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b Period) int { return a.Time.Compare(b.Time) })
	return all
}

// Snapshot returns what the ledger holds as of now. Hours and days that begin after now are left
// out.
func (l *Ledger) Snapshot(now time.Time) *Report { return l.SnapshotOf(now, nil) }

// SnapshotOf is Snapshot of the sites of which shows says so; nil is all.
func (l *Ledger) SnapshotOf(now time.Time, shows func(site string) bool) *Report {
	s := snapshot{now: moment(now), sites: make(map[string]*snapshotSite)}
	l.each(func(r *row) {
		if shows == nil || shows(r.key.site) {
			s.add(r)
		}
	})
	report := &Report{Time: timeOf(s.now), Sites: []Site{}}
	for _, site := range s.sites {
		site.estimate()
		site.sum()
		sortRobots(site.Robots)
		report.Sites = append(report.Sites, site.Site)
	}
	report.sum()
	return report
}

// sortRobots puts those first that were most disobedient.
func sortRobots(robots []Robot) {
	slices.SortFunc(robots, func(a, b Robot) int {
		return cmp.Or(a.Tally.compare(&b.Tally), cmp.Compare(a.Robot, b.Robot),
			cmp.Compare(a.Class, b.Class), cmp.Compare(a.Standing, b.Standing))
	})
}

// snapshot is a report in the making.
type snapshot struct {
	now   int64
	sites map[string]*snapshotSite
}

type snapshotSite struct {
	Site
	last int64 // when the version was that
}

// add adds a row. Callers hold its lock.
func (s *snapshot) add(r *row) {
	site := s.sites[r.key.site]
	if site == nil {
		site = &snapshotSite{Site: Site{Site: r.key.site}}
		s.sites[r.key.site] = site
	}
	site.Robots = append(site.Robots, s.robot(r))
	if r.version != "" && r.last >= site.last {
		site.last, site.Version = r.last, r.version
	}
}

// robot returns what is noted in a row.
func (s *snapshot) robot(r *row) Robot {
	robot := Robot{
		Robot: r.key.robot, Class: classWords[r.key.class], Standing: standingWords[r.key.standing], Record: r.record,
		Tally: newTally(),
		First: timeOf(r.first), Last: timeOf(r.last),
		Fetches: r.fetches, FetchedVersion: r.fetchedVersion,
		Hours: []Period{}, Days: []Period{},
		Lines: []Line{}, Paths: []Path{}, Evidence: []Evidence{},
	}
	for _, h := range upTo(r.hours, hourOf(s.now), keptHours) {
		robot.Hours = append(robot.Hours, Period{Time: timeOf(int64(h.Number) * hourLong), Requests: uint64(h.Requests), Disobedient: uint64(h.Disobedient)})
	}
	days := upTo(r.days, dayOf(s.now), keptDays)
	for i := range days {
		robot.Days = append(robot.Days, days[i].period())
	}
	if r.fetches > 0 {
		robot.Fetched = timeOf(r.fetched)
	}
	for v, t := range r.tallies {
		robot.add(Verdict(v), Count{t.Requests, t.Refused})
	}
	robot.spend(&r.cost)
	robot.share()
	_, robot.AllowedPaths, robot.OtherAllowed, robot.OtherAllowedByRule = r.allowed.report(robot.allowed())
	if r.offences != nil {
		r.offences.report(&robot)
	}
	return robot
}

// report adds what is kept of offences.
func (o *offences) report(robot *Robot) {
	robot.Lines, robot.Paths, robot.OtherPaths, robot.OtherByRule = o.asked.report(robot.Disobedient)
	for _, e := range o.all() {
		method, path, rule := e.texts()
		robot.Evidence = append(robot.Evidence, Evidence{
			Time: timeOf(e.at), Method: method, Path: path, Status: int(e.status), Verdict: e.verdict,
			Line: int(e.line), Rule: rule, Address: addressText(e.address),
		})
	}
}

// compare puts those first that were disobedient more often, and of these those that came
// more often.
func (t *Tally) compare(u *Tally) int {
	return cmp.Or(cmp.Compare(u.Disobedient, t.Disobedient), cmp.Compare(u.Requests, t.Requests))
}

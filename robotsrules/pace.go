package robotsrules

import (
	"slices"
	"sort"
	"time"
)

// Pace is how fast, and when, the records of a Binding ask to be visited. It is
// immutable and safe for concurrent use. A nil Pace asks for nothing.
type Pace struct {
	// spans divide the day; each begins at its minute and ends where the next
	// one begins. There is one only when no rate has times.
	spans []span
	visit *VisitTime
}

// span is a part of the day with one rate.
type span struct {
	from int  // minutes after midnight GMT
	rate Rate // the zero value for none
}

// Rate is a pace: at most Documents requests in Period. A Crawl-delay is one
// document in its delay.
type Rate struct {
	Documents int
	Period    time.Duration
	// Line is the line that asks for it, from 1.
	Line int
	// Text is that line as written, without comment and outer blanks.
	Text string
}

// Interval returns the time between two requests at this pace, and 0 for the
// zero value.
func (r Rate) Interval() time.Duration {
	if r.Documents <= 0 {
		return 0
	}
	return r.Period / time.Duration(r.Documents)
}

// SlowerThan reports whether r asks for fewer documents per unit of time. The
// zero value, which asks for nothing, is the fastest.
func (r Rate) SlowerThan(other Rate) bool {
	if r.Documents <= 0 || other.Documents <= 0 {
		return r.Documents > 0
	}
	return float64(r.Period)*float64(other.Documents) > float64(other.Period)*float64(r.Documents)
}

// At returns the pace that holds at t, and false when none does.
func (p *Pace) At(t time.Time) (Rate, bool) {
	if p == nil || len(p.spans) == 0 {
		return Rate{}, false
	}
	last := 0
	if len(p.spans) > 1 {
		minute := minuteOf(t)
		last = sort.Search(len(p.spans), func(i int) bool { return p.spans[i].from > minute }) - 1
	}
	rate := p.spans[last].rate
	return rate, rate.Documents > 0
}

// Visit reports whether a visit at t is welcome. It also returns the first
// instant at or after t at which one is, and the number of the Visit-time line,
// 0 when there is none.
func (p *Pace) Visit(t time.Time) (open bool, opens time.Time, line int) {
	if p == nil || p.visit == nil {
		return true, t, 0
	}
	w := p.visit.Window
	return w.Contains(t), w.Opens(t), p.visit.Line
}

// VisitTime returns the Visit-time line, nil when there is none. The caller must not
// change it.
func (p *Pace) VisitTime() *VisitTime {
	if p == nil {
		return nil
	}
	return p.visit
}

// asks is what one record asks of the pace, the slowest where it says more than
// once how fast to come.
type asks struct {
	delay, always Rate
	timed         []RequestRate
	visit         *VisitTime
}

func asksOf(g *Group) asks {
	a := asks{visit: g.VisitTime()}
	for _, c := range g.CrawlDelays() {
		a.delay = slower(a.delay, Rate{Documents: 1, Period: c.Delay, Line: c.Line, Text: c.Text})
	}
	for _, r := range g.RequestRates() {
		if r.Window != nil {
			a.timed = append(a.timed, r)
		} else {
			a.always = slower(a.always, r.rate())
		}
	}
	return a
}

// join adds what a later record for the same robot asks. The timed rates of a
// have to be its own, as they are from the zero value on.
func (a asks) join(b asks) asks {
	a.delay, a.always = slower(a.delay, b.delay), slower(a.always, b.always)
	a.timed = append(a.timed, b.timed...)
	if a.visit == nil {
		a.visit = b.visit
	}
	return a
}

// paceOf returns what groups that bind a robot ask together, nil for nothing.
func paceOf(groups []*Group) *Pace {
	var a asks
	for _, g := range groups {
		a = a.join(asksOf(g))
	}
	return a.pace()
}

// pace returns nil when nothing is asked.
func (a asks) pace() *Pace {
	spans := a.spans()
	if spans == nil && a.visit == nil {
		return nil
	}
	return &Pace{spans: spans, visit: a.visit}
}

func (r RequestRate) rate() Rate {
	return Rate{Documents: r.Documents, Period: r.Period, Line: r.Line, Text: r.Text}
}

// slower returns the slower of two rates, and the first when they are equal.
func slower(a, b Rate) Rate {
	if b.SlowerThan(a) {
		return b
	}
	return a
}

// spans divides the day where the rate changes. Inside their times, rates with
// times replace the one without (the 1996 proposal 2.0.0); a Crawl-delay holds besides.
func (a asks) spans() []span {
	base := slower(a.always, a.delay)
	if len(a.timed) == 0 {
		if base.Documents <= 0 {
			return nil
		}
		return []span{{rate: base}}
	}
	var spans []span
	cuts := cutsOf(a.timed)
	for part, i := range slowestByPart(a.timed, cuts) {
		rate := base
		if i >= 0 {
			rate = slower(a.timed[i].rate(), a.delay)
		}
		if len(spans) == 0 || spans[len(spans)-1].rate != rate {
			spans = append(spans, span{from: cuts[part], rate: rate})
		}
	}
	return spans
}

// cutsOf returns the minutes that divide the day into parts in which no rate begins
// or ends, in order, midnight first.
func cutsOf(timed []RequestRate) []int {
	cuts := make([]int, 1, 1+2*len(timed))
	for i := range timed {
		w := *timed[i].Window
		cuts = append(cuts, max(w.From, 0)%dayMinutes, max(w.To, 0)%dayMinutes)
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// slowestByPart returns for each part of the day which of the rates is the slowest
// that holds in it, -1 for none. The slowest rate takes its parts first, and the next
// ones skip what is taken, so that many overlapping times cost no more than the day
// has parts.
func slowestByPart(timed []RequestRate, cuts []int) (owner []int) {
	order := make([]int, len(timed))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch a, b := timed[i].rate(), timed[j].rate(); {
		case a.SlowerThan(b):
			return -1
		case b.SlowerThan(a):
			return 1
		}
		return 0
	})
	free := make([]int, len(cuts)+1) // the first part from here on that nobody took
	for part := range free {
		free[part] = part
	}
	owner = make([]int, len(cuts))
	for part := range owner {
		owner[part] = -1
	}
	// partAt returns the part that begins at a minute, and the end of all for midnight.
	partAt := func(minute int) int {
		part, _ := slices.BinarySearch(cuts, minute)
		return part
	}
	for _, i := range order {
		w := *timed[i].Window
		from, to := max(w.From, 0)%dayMinutes, w.To
		if w.From >= w.To { // to midnight, and from midnight on
			take(owner, free, i, 0, partAt(w.To))
			to = dayMinutes
		}
		take(owner, free, i, partAt(from), partAt(min(to, dayMinutes)))
	}
	return owner
}

// take gives i the parts from one to another that nobody took.
func take(owner, free []int, i, from, to int) {
	next := func(part int) int {
		for free[part] != part {
			free[part] = free[free[part]]
			part = free[part]
		}
		return part
	}
	for part := next(from); part < to; part = next(part) {
		owner[part], free[part] = i, part+1
	}
}

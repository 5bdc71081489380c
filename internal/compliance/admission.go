package compliance

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// admission decides whether a newcomer replaces an entry of a full table. A newcomer's visits are
// remembered for a while; with more visits than the lightest entry weighs, it takes that entry's place.
// So a flood of made-up names that come once replaces only entries of weight zero, and a newcomer
// that comes often gets in after any flood. That a newcomer has to come again before it may replace
// others is the idea of 2Q (Johnson and Shasha, 1994).
//
// newAdmission makes one. Not safe for concurrent use.
type admission struct {
	strangers []bucket
	floor     uint64 // no entry weighed less in this hour; 0: not known
	hour      int32
}

// bucket holds the strangers whose fingerprints lead to it, the latest first.
type bucket [8]stranger

// stranger is the fingerprint of a newcomer, and how often it came.
type stranger struct {
	fingerprint uint64
	visits      uint32
}

// newAdmission returns an admission that remembers at least this many strangers.
func newAdmission(strangers int) admission {
	return admission{strangers: make([]bucket, strangers/len(bucket{})+1)}
}

// visit counts the visit of a stranger, and returns how often it came.
func (a *admission) visit(fingerprint uint64) uint64 {
	at, _ := bits.Mul64(fingerprint, uint64(len(a.strangers)))
	b := &a.strangers[at]
	i := 0
	for i < len(b)-1 && b[i].fingerprint != fingerprint {
		i++
	}
	s := stranger{fingerprint, 1}
	if b[i].fingerprint == fingerprint {
		s.visits = sum32(b[i].visits, 1)
	}
	copy(b[1:i+1], b[:i])
	b[0] = s
	return uint64(s.visits)
}

// admits reports whether a newcomer of this weight gets a place. lightest returns the weight of the lightest
// entry. Weights only sink with time, so it is called once an hour at most while nobody gets in.
func (a *admission) admits(weight uint64, at int64, lightest func() uint64) bool {
	if hour := hourOf(at); weight > a.floor || hour > a.hour {
		a.floor, a.hour = lightest(), hour
	}
	return weight > a.floor
}

// enter returns the row for the events of a key: its own, a new one, or that of its site's other robots.
func (l *Ledger) enter(k key, fingerprint uint64, at int64) *row {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rowOf(k, fingerprint, at, 1)
}

// absorb adds a row of another ledger.
func (l *Ledger) absorb(from *row) {
	fingerprint := l.fingerprint(&from.key)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rowOf(from.key, fingerprint, from.last, from.visits()).merge(from)
	l.makeRoom(from.last)
}

// shrink makes room again when rows have grown.
func (l *Ledger) shrink(at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.makeRoom(at)
}

// isFull reports whether there is no room for another row: the rest is for those that are there to grow.
func (l *Ledger) isFull() bool {
	return len(l.rows) >= l.options.MaxRobots || l.bytes.Load() > l.options.MaxBytes/16*15
}

// makeRoom lets the lightest robots and sites give way, if all rows together take too much, until there is some
// room again. Callers hold mu.
func (l *Ledger) makeRoom(at int64) {
	if l.bytes.Load() <= l.options.MaxBytes {
		return
	}
	type candidate struct {
		weight uint64
		site   *site
		row    *row // nil: all of the site
		first  int64
	}
	var all []candidate
	robots := l.weighSites(at)
	for _, r := range l.rows {
		// The only row of a site would take as much as that of its other robots.
		if r.site.others != nil || robots[r.site] > 1 {
			all = append(all, candidate{r.weight(at), r.site, r, r.entered})
		}
	}
	for _, s := range l.bySite {
		all = append(all, candidate{weight: s.weight, site: s})
	}
	// Of two that weigh the same the one that came later gives way.
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(b.first, a.first))
	})
	for _, c := range all {
		switch {
		case l.bytes.Load() <= l.options.MaxBytes/16*15:
			return
		case l.bySite[c.site.name] != c.site: // it has given way
		case c.row == nil:
			l.removeSite(c.site)
		default:
			l.remove(c.row, c.site)
		}
	}
}

// rowOf returns the row of a key that brings this many requests. Callers hold mu.
func (l *Ledger) rowOf(k key, fingerprint uint64, at int64, requests uint64) *row {
	s := l.siteOf(k.site, at, requests)
	if s.name != k.site {
		k.site = s.name
		fingerprint = l.fingerprint(&k)
	}
	if k.class == others {
		return l.othersOf(s)
	}
	if r := l.index.find(fingerprint, &k); r != nil {
		return r
	}
	if !l.isFull() {
		l.robots.floor = 0
		return l.add(s, k, fingerprint, at)
	}
	earlier := l.robots.visit(fingerprint) - 1
	var lightest *row
	admitted := l.robots.admits(earlier+requests, at, func() (weight uint64) {
		lightest, weight = l.lightestRow(at)
		return weight
	})
	if !admitted {
		return l.othersOf(s)
	}
	l.remove(lightest, lightest.site)
	r := l.add(s, k, fingerprint, at)
	r.earlier = earlier
	return r
}

// siteOf returns the site of this name, or the one that sums up all other sites. Callers hold mu.
func (l *Ledger) siteOf(name string, at int64, requests uint64) *site {
	if s := l.bySite[name]; s != nil {
		return s
	}
	if name == OtherSites {
		return l.elsewhere
	}
	earlier := uint64(0)
	if len(l.bySite) < l.options.MaxSites {
		l.hosts.floor = 0
	} else {
		earlier = l.hosts.visit(maphash.String(l.seed, name)) - 1
		var lightest *site
		admitted := l.hosts.admits(earlier+requests, at, func() (weight uint64) {
			lightest, weight = l.lightestSite(at)
			return weight
		})
		if !admitted {
			return l.elsewhere
		}
		l.removeSite(lightest)
	}
	s := &site{name: strings.Clone(name), earlier: earlier}
	l.bySite[s.name] = s
	return s
}

// othersOf returns the row of a site's robots that have none of their own. Callers hold mu.
func (l *Ledger) othersOf(s *site) *row {
	if s.others == nil {
		s.others = l.newRow(key{site: s.name, class: others})
	}
	return s.others
}

// lightestRow returns the row to replace first. Callers hold mu.
func (l *Ledger) lightestRow(at int64) (lightest *row, weight uint64) {
	weight = math.MaxUint64
	for _, r := range l.rows {
		if w := r.weight(at); w < weight {
			lightest, weight = r, w
		}
	}
	return lightest, weight
}

// lightestSite returns the site to replace first: the one whose rows weigh least together. Callers hold mu.
func (l *Ledger) lightestSite(at int64) (lightest *site, weight uint64) {
	l.weighSites(at)
	weight = math.MaxUint64
	for _, s := range l.bySite {
		if s.weight < weight {
			lightest, weight = s, s.weight
		}
	}
	return lightest, weight
}

// weighSites fills in the weights of all sites, and returns how many robots with a row each has. Callers hold mu.
func (l *Ledger) weighSites(at int64) (robots map[*site]int) {
	for _, s := range l.bySite {
		s.weight = s.earlier
		if s.others != nil {
			s.weight += s.others.weight(at)
		}
	}
	robots = make(map[*site]int)
	for _, r := range l.rows {
		r.site.weight += r.weight(at)
		robots[r.site]++
	}
	return robots
}

// remove removes a row. Its counts are added to the other robots of a site. Callers hold mu.
func (l *Ledger) remove(r *row, to *site) {
	l.index.remove(r)
	last := len(l.rows) - 1
	l.rows[r.place] = l.rows[last]
	l.rows[r.place].place = r.place
	l.rows[last] = nil
	l.rows = l.rows[:last]
	l.close(r, to)
}

// removeSite removes a site. Its counts are added to the other sites. Callers hold mu.
func (l *Ledger) removeSite(s *site) {
	for i := len(l.rows) - 1; i >= 0; i-- {
		if r := l.rows[i]; r.site == s {
			l.remove(r, l.elsewhere)
		}
	}
	if s.others != nil {
		l.close(s.others, l.elsewhere)
	}
	delete(l.bySite, s.name)
}

// close marks a row as gone and adds its counts to the other robots of a site. Callers hold mu.
func (l *Ledger) close(r *row, to *site) {
	r.mu.Lock()
	r.gone = true
	l.bytes.Add(-r.bytes)
	r.bytes, r.total = 0, nil
	r.mu.Unlock()
	l.othersOf(to).merge(r)
}

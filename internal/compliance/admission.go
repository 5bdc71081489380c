package compliance

import (
	"hash/maphash"
	"math"
	"math/bits"
	"strings"
)

// admission decides whether a stranger gets a place where all are taken. A stranger that comes
// once has no chance against anybody who weighs something, but its visit is remembered for a
// while; with more visits than the lightest inside weighs, it takes that one's place. So
// a flood of made-up names that come once drives out only what weighs nothing any more, and who
// comes often gets in after any flood. That a newcomer has to show itself again before it may drive
// out others is the idea of 2Q (Johnson and Shasha, 1994).
//
// newAdmission makes one. Not safe for concurrent use.
type admission struct {
	strangers []bucket
	floor     uint64 // none inside weighed less in this hour; 0: not known
	hour      int32
}

// bucket holds the strangers with fingerprints that are alike, the last one that came first.
type bucket [8]stranger

// stranger is somebody by its fingerprint, and how often it came.
type stranger struct {
	fingerprint uint64
	visits      uint32
}

// newAdmission returns an admission that remembers so many strangers, or a few more.
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

// admits reports whether somebody of this weight gets a place. lightest returns the weight of the lightest
// inside; it is asked where that may have come to be less than was found before, which is once an
// hour at most as long as nobody gets in.
func (a *admission) admits(weight uint64, at int64, lightest func() uint64) bool {
	if hour := hourOf(at); weight > a.floor || hour > a.hour {
		a.floor, a.hour = lightest(), hour
	}
	return weight > a.floor
}

// enter returns the row in which the events of a key are to be noted: that which it has, a
// new one, or the one of the others of its site.
func (l *Ledger) enter(k key, fingerprint uint64, at int64) *row {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rowOf(k, fingerprint, at, 1)
}

// absorb adds what is noted in a row of another ledger.
func (l *Ledger) absorb(from *row) {
	fingerprint := l.fingerprint(&from.key)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rowOf(from.key, fingerprint, from.last, from.visits()).merge(from)
}

// rowOf returns the row of a key that comes with so many requests. Callers hold mu.
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
	if len(l.rows) < l.options.MaxRobots {
		l.robots.floor = 0
		return l.add(s, k, fingerprint)
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
	r := l.add(s, k, fingerprint)
	r.earlier = earlier
	return r
}

// siteOf returns the site of this name, or the one for all that have no place. Callers
// hold mu.
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
		earlier = l.hosts.visit(maphash.String(l.sites, name)) - 1
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

// othersOf returns the row for a site's robots that have none of their own. Callers hold mu.
func (l *Ledger) othersOf(s *site) *row {
	if s.others == nil {
		s.others = newRow(key{site: s.name, class: others})
	}
	return s.others
}

// lightestRow returns the row that gives way first. Callers hold mu.
func (l *Ledger) lightestRow(at int64) (lightest *row, weight uint64) {
	weight = math.MaxUint64
	for _, r := range l.rows {
		if w := r.weight(at); w < weight {
			lightest, weight = r, w
		}
	}
	return lightest, weight
}

// lightestSite returns the site that gives way first: that whose rows weigh the least
// together. Callers hold mu.
func (l *Ledger) lightestSite(at int64) (lightest *site, weight uint64) {
	for _, s := range l.bySite {
		s.weight = s.earlier
		if s.others != nil {
			s.weight += s.others.weight(at)
		}
	}
	for _, r := range l.rows {
		r.site.weight += r.weight(at)
	}
	weight = math.MaxUint64
	for _, s := range l.bySite {
		if s.weight < weight {
			lightest, weight = s, s.weight
		}
	}
	return lightest, weight
}

// remove takes a row out. What was noted in it goes to the others of a site. Callers hold mu.
func (l *Ledger) remove(r *row, to *site) {
	l.index.remove(r)
	last := len(l.rows) - 1
	l.rows[r.place] = l.rows[last]
	l.rows[r.place].place = r.place
	l.rows[last] = nil
	l.rows = l.rows[:last]
	l.close(r, to)
}

// removeSite takes a site out. What was noted goes to all other sites. Callers hold mu.
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

// close ends a row: nothing is noted in it any more, and what was goes to the others of a
// site. Callers hold mu.
func (l *Ledger) close(r *row, to *site) {
	r.mu.Lock()
	r.gone = true
	r.mu.Unlock()
	l.othersOf(to).merge(r)
}

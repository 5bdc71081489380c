package compliance

import (
	"hash/maphash"
	"strings"
	"sync"
)

// Options say how much a [Ledger] keeps. The zero Options are the usual ones.
type Options struct {
	// MaxRobots is how many robots have a row of their own, on all sites together; a
	// robot that comes to two sites has two. Zero or less means 2000.
	MaxRobots int

	// MaxSites is how many sites are told apart. Zero or less means 256.
	MaxSites int

	// WholeAddresses keeps the addresses of disobedient requests as they are. Otherwise
	// only their networks are kept, /24 or, of IPv6, /48.
	WholeAddresses bool
}

// Ledger counts what each robot did on each site. It never takes more room than its
// Options allow: see the package's documentation for who has to give way.
//
// A Ledger is safe for concurrent use and must not be copied. The zero Ledger notes nothing.
type Ledger struct {
	options      Options
	sites, names maphash.Seed
	index        index

	mu        sync.Mutex // guards what follows, and who is in the index
	rows      []*row
	bySite    map[string]*site
	elsewhere *site // all sites that have no place
	robots    door
	hosts     door
}

// site is a site that robots came to.
type site struct {
	name    string
	others  *row   // its robots without a row of their own; nil: there were none
	earlier uint64 // requests before it had its place
	weight  uint64 // only of use to lightestSite
}

// NewLedger returns an empty Ledger.
func NewLedger(o Options) *Ledger {
	if o.MaxRobots <= 0 {
		o.MaxRobots = 2000
	}
	if o.MaxSites <= 0 {
		o.MaxSites = 256
	}
	return &Ledger{
		options: o,
		sites:   maphash.MakeSeed(), names: maphash.MakeSeed(),
		index:     newIndex(o.MaxRobots),
		bySite:    make(map[string]*site),
		elsewhere: &site{name: OtherSites},
		robots:    newDoor(4 * o.MaxRobots),
		hosts:     newDoor(4 * o.MaxSites),
	}
}

// Note notes an event. It keeps no reference to anything in e. For a robot that has a row,
// it locks nothing but that and, if the request was not disobedient, does not allocate.
func (l *Ledger) Note(e *Event) {
	if l.index.chains == nil || e.unbound() {
		return
	}
	var k key
	k.set(e)
	at := moment(e.Time)
	fingerprint := l.fingerprint(&k)
	r := l.index.find(fingerprint, &k)
	for r == nil || !r.note(e, at, l.options.WholeAddresses) {
		r = l.enter(k, fingerprint, at)
	}
}

// Merge adds what another ledger holds: those of a fleet's nodes become one in an empty
// ledger that they are all added to. Other may be in use.
func (l *Ledger) Merge(other *Ledger) {
	if l.index.chains == nil {
		return
	}
	var rows []*row
	other.each(func(r *row) { rows = append(rows, r.copy()) })
	for _, r := range rows {
		l.absorb(r)
	}
}

// each calls do with every row in which something was noted, those of other robots
// included, in no order. It holds both the ledger's lock and the row's: nothing is
// seen twice while one row gives way to another.
func (l *Ledger) each(do func(*row)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.rows {
		r.use(do)
	}
	for _, s := range l.bySite {
		s.others.use(do)
	}
	if l.elsewhere != nil {
		l.elsewhere.others.use(do)
	}
}

// fingerprint returns a hash of a key, with seeds drawn at random so that nobody can aim
// at another's.
func (l *Ledger) fingerprint(k *key) uint64 {
	h := maphash.String(l.sites, k.site) ^ maphash.String(l.names, k.robot)
	kind := uint64(k.class)<<8 | uint64(k.standing)
	return h + kind*0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
}

// add adds a row for a key. Callers hold mu.
func (l *Ledger) add(s *site, k key, fingerprint uint64) *row {
	k.site, k.robot = s.name, strings.Clone(k.robot)
	r := newRow(k)
	r.fingerprint, r.site, r.place = fingerprint, s, len(l.rows)
	l.rows = append(l.rows, r)
	l.index.add(r)
	return r
}

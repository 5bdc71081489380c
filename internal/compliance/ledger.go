package compliance

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how much a [Ledger] keeps. The zero Options are the usual ones.
type Options struct {
	// MaxRobots is how many robots have a row of their own, on all sites together; a
	// robot that comes to two sites has two. Zero or less means 8000.
	MaxRobots int

	// MaxSites is how many sites are told apart. Zero or less means 1000.
	MaxSites int

	// MaxBytes is how much memory all rows take, the lightest of which give way where that is not
	// enough. Zero or less means 56 MiB: 1500 robots that did all that can be counted, and many times as
	// many that came seldom.
	MaxBytes int64
}

// Ledger counts what each robot did on each site. It never takes more room than its
// Options allow: the package's documentation says which rows are replaced.
//
// A Ledger is safe for concurrent use and must not be copied. The zero Ledger notes nothing.
type Ledger struct {
	options Options
	seed    maphash.Seed // drawn at random, so that nobody can aim at another's fingerprint
	index   index
	bytes   atomic.Int64 // that rows take

	mu        sync.Mutex // guards what follows, and who is in the index
	rows      []*row
	bySite    map[string]*site
	elsewhere *site // sums up all sites that have no place
	robots    admission
	hosts     admission
}

// site is a site with a place of its own in the ledger.
type site struct {
	name    string
	others  *row   // sums up its robots without a row of their own; nil: there were none
	earlier uint64 // requests before it had its place
	weight  uint64 // scratch space of lightestSite
}

// NewLedger returns an empty Ledger.
func NewLedger(o Options) *Ledger {
	if o.MaxRobots <= 0 {
		o.MaxRobots = 8000
	}
	if o.MaxSites <= 0 {
		o.MaxSites = 1000
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 56 << 20
	}
	return &Ledger{
		options:   o,
		seed:      maphash.MakeSeed(),
		index:     newIndex(o.MaxRobots),
		bySite:    make(map[string]*site),
		elsewhere: &site{name: OtherSites},
		robots:    newAdmission(4 * o.MaxRobots),
		hosts:     newAdmission(4 * o.MaxSites),
	}
}

// Note counts an event. It keeps no reference to anything in e. For a robot that has a row,
// it locks only that row and does not allocate.
func (l *Ledger) Note(e *Event) {
	if l.index.chains == nil || e.unbound() {
		return
	}
	var k key
	k.set(e.Site, e.Robot, e.Class, e.Standing)
	at := moment(e.Time)
	fingerprint := l.fingerprint(&k)
	r := l.index.find(fingerprint, &k)
	for {
		if r != nil {
			if noted, grew := r.note(e, at); noted {
				if grew && l.bytes.Load() > l.options.MaxBytes {
					l.shrink(at)
				}
				return
			}
		}
		r = l.enter(k, fingerprint, at)
	}
}

// Merge adds what another ledger holds. To see a fleet as one, merge the ledgers of all nodes into an
// empty one. Other may be in use.
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

// Fetched returns when a robot last read robots.txt, and the version that it then read: both zero if it
// never did or has no row. The arguments are those of an [Event]. It locks only the row and
// does not allocate.
func (l *Ledger) Fetched(site, robot, class, standing string) (at time.Time, version string) {
	if l.index.chains == nil {
		return time.Time{}, ""
	}
	var k key
	k.set(site, robot, class, standing)
	r := l.index.find(l.fingerprint(&k), &k)
	if r == nil {
		return time.Time{}, ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fetches == 0 {
		return time.Time{}, ""
	}
	return timeOf(r.fetched), r.fetchedVersion
}

// Rows returns how many robots have a row of their own, on all sites together, and how many
// sites a place.
func (l *Ledger) Rows() (robots, sites int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.rows), len(l.bySite)
}

// each calls do with every row that is not empty, the rows of other robots first. It holds the row's lock
// and, for those first rows, the ledger's. It visits the remaining rows one by one, so that newcomers need
// not wait. A row that is replaced meanwhile is still visited as it was, and the row that its
// counts were added to has been visited before: so nothing is counted twice.
func (l *Ledger) each(do func(*row)) {
	for _, r := range l.rowsAfterOthers(do) {
		r.use(do)
	}
}

// rowsAfterOthers calls do with the rows of other robots, and returns all remaining rows.
func (l *Ledger) rowsAfterOthers(do func(*row)) []*row {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.bySite {
		s.others.use(do)
	}
	if l.elsewhere != nil {
		l.elsewhere.others.use(do)
	}
	return slices.Clone(l.rows)
}

// fingerprint returns a hash of a key.
func (l *Ledger) fingerprint(k *key) uint64 { return maphash.Comparable(l.seed, *k) }

// add adds a row for a key. Callers hold mu.
func (l *Ledger) add(s *site, k key, fingerprint uint64, at int64) *row {
	k.site, k.robot = s.name, strings.Clone(k.robot)
	r := l.newRow(k)
	r.fingerprint, r.site, r.place, r.entered = fingerprint, s, len(l.rows), at
	l.rows = append(l.rows, r)
	l.index.add(r)
	return r
}

// newRow returns an empty row that is counted for what it takes.
func (l *Ledger) newRow(k key) *row {
	r := newRow(k)
	r.total = &l.bytes
	r.account()
	return r
}

// index finds rows by their keys. Readers need no lock; writers hold the ledger's. A reader
// may miss a row that is being added, and find one that has just been removed.
type index struct {
	chains []atomic.Pointer[row] // their number is a power of two
}

// newIndex returns an index for about this many rows.
func newIndex(rows int) index {
	chains := 1
	for chains < 2*rows {
		chains *= 2
	}
	return index{make([]atomic.Pointer[row], chains)}
}

// find returns the row of a key, or nil.
func (x *index) find(fingerprint uint64, k *key) *row {
	for r := x.chain(fingerprint).Load(); r != nil; r = r.next.Load() {
		if r.fingerprint == fingerprint && r.key == *k {
			return r
		}
	}
	return nil
}

// add adds a row that is not there.
func (x *index) add(r *row) {
	chain := x.chain(r.fingerprint)
	r.next.Store(chain.Load())
	chain.Store(r)
}

// remove removes a row. Its next pointer stays, for readers that are on it.
func (x *index) remove(r *row) {
	at := x.chain(r.fingerprint)
	for at.Load() != r {
		at = &at.Load().next
	}
	at.Store(r.next.Load())
}

func (x *index) chain(fingerprint uint64) *atomic.Pointer[row] {
	return &x.chains[fingerprint&uint64(len(x.chains)-1)]
}

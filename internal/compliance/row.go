package compliance

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// tally counts the requests with one verdict, and how many of them were refused.
type tally struct {
	_                 struct{} `cbor:",toarray"` // as it is stored
	Requests, Refused uint64
}

// row is what one robot did on one site. newRow makes one.
type row struct {
	next        atomic.Pointer[row] // in the index
	fingerprint uint64
	key         key
	site        *site
	place       int      // in Ledger.rows; this and the next two are guarded by the ledger's lock
	earlier     uint64   // requests before it had its row
	entered     int64    // when it got its row
	_           [64]byte // keeps the lock off the cache line that every lookup reads

	mu             sync.Mutex // guards all below
	gone           bool       // the row was replaced, and events noted in it would be lost
	grew           bool       // it takes more room than was counted last
	bytes          int64      // that it was counted for in total
	total          *atomic.Int64
	first, last    int64
	version        string // of robots.txt, at the last request
	record         string // that bound it then
	fetched        int64  // when it read robots.txt; 0: never
	fetchedVersion string
	fetches        uint64
	tallies        [verdicts]tally
	cost           cost
	allowed        asked     // of what it was allowed to ask for
	offences       *offences // nil: none
	hours          []period
	days           []day
}

// never is the time when an empty row was first seen.
const never = math.MaxInt64

// newRow returns an empty row.
func newRow(k key) *row { return &row{key: k, first: never} }

// note counts an event. It returns false if the row was replaced by another, and whether it takes more room.
func (r *row) note(e *Event, at int64) (noted, grew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return false, false
	}
	r.first, r.last = min(r.first, at), at
	renew(&r.version, e.Version)
	renew(&r.record, e.Record)
	if e.RobotsTxt {
		r.fetches = sum(r.fetches, 1)
		r.fetched, r.fetchedVersion = at, r.version
		return true, false
	}
	v, disobedient := e.Verdict.known(), uint32(0)
	refused := e.Refused && v.refusable()
	t := &r.tallies[v]
	t.Requests = sum(t.Requests, 1)
	if refused {
		t.Refused = sum(t.Refused, 1)
	}
	if v.Disobedient() {
		disobedient = 1
		if r.offences == nil {
			r.offences = new(offences)
		}
		r.grew = r.offences.add(e, at) || r.grew
	} else if v != Banned {
		r.grew = r.allowed.add(lineNumber(e.Line), cut(e.Rule, maxRule), cut(e.keptPath(), maxPath)) || r.grew
	}
	r.hour(hourOf(at)).count(1, disobedient)
	d := r.day(dayOf(at))
	d.count(v, refused)
	r.spend(d, e)
	if !r.grew {
		return true, false
	}
	r.account()
	return true, true
}

// hour returns the hour with this number.
func (r *row) hour(n int32) *period {
	if k := len(r.hours) - 1; k < 0 || r.hours[k].Number != n {
		r.hours, r.grew = recent(r.hours, n, keptHours), true
	}
	return &r.hours[len(r.hours)-1]
}

// day returns the day with this number.
func (r *row) day(n int32) *day {
	if k := len(r.days) - 1; k < 0 || r.days[k].Number != n {
		r.days, r.grew = recent(r.days, n, keptDays), true
	}
	return &r.days[len(r.days)-1]
}

// account counts the row for what it takes now. Callers hold mu.
func (r *row) account() {
	r.grew = false
	if r.total != nil {
		n := r.size()
		r.total.Add(n - r.bytes)
		r.bytes = n
	}
}

// size returns how many bytes the row takes, a sixteenth more than it has, for what the heap rounds up.
func (r *row) size() int64 {
	n := int(unsafe.Sizeof(row{})) + 4*maxShort + cap(r.hours)*int(unsafe.Sizeof(period{})) + cap(r.days)*int(unsafe.Sizeof(day{})) + r.allowed.size()
	if o := r.offences; o != nil {
		n += int(unsafe.Sizeof(offences{})) + cap(o.ring)*int(unsafe.Sizeof(evidence{})) + o.asked.size()
	}
	return int64(n + n/16)
}

// spend adds what an event of a day cost.
func (r *row) spend(d *day, e *Event) {
	if class := uint(e.Status)/100 - 2; class < statuses {
		d.Statuses[class] = sum32(d.Statuses[class], 1)
		r.cost.Statuses[class] = sum(r.cost.Statuses[class], 1)
	}
	if !e.Measured || e.Refused {
		return
	}
	bytes, micros := min(uint64(max(e.Bytes, 0)), maxCount), min(uint64(max(e.Took, 0)/time.Microsecond), maxCount)
	d.Measured = sum32(d.Measured, 1)
	d.Bytes, d.Micros = sum(d.Bytes, bytes), sum(d.Micros, micros)
	r.cost.Measured = sum(r.cost.Measured, 1)
	r.cost.Bytes, r.cost.Micros = sum(r.cost.Bytes, bytes), sum(r.cost.Micros, micros)
}

// renew sets kept to a copy of s, unless it is equal already.
func renew(kept *string, s string) {
	if s = cut(s, maxShort); s != *kept {
		*kept = strings.Clone(s)
	}
}

// visits returns how many requests were noted, those for robots.txt included. Callers hold mu.
func (r *row) visits() uint64 {
	n := r.fetches
	for _, t := range r.tallies {
		n = sum(n, t.Requests)
	}
	return n
}

// weight returns how much speaks for keeping the row: the lightest is replaced first. It is the number
// of requests, halved for every week since the last.
func (r *row) weight(at int64) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	idle := max(at-r.last, 0) / (7 * dayLong)
	return sum(r.visits(), r.earlier) >> idle
}

// merge adds the counts of another row, which nobody changes meanwhile.
func (r *row) merge(from *row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if from.last >= r.last {
		r.version, r.record = from.version, from.record
	}
	r.first, r.last = min(r.first, from.first), max(r.last, from.last)
	if from.fetched >= r.fetched {
		r.fetched, r.fetchedVersion = from.fetched, from.fetchedVersion
	}
	r.fetches = sum(r.fetches, from.fetches)
	for v := range r.tallies {
		t, f := &r.tallies[v], from.tallies[v]
		t.Requests, t.Refused = sum(t.Requests, f.Requests), sum(t.Refused, f.Refused)
	}
	r.allowed.merge(&from.allowed)
	if from.offences != nil {
		if r.offences == nil {
			r.offences = new(offences)
		}
		r.offences.merge(from.offences)
	}
	r.cost.add(&from.cost)
	r.hours = mergeRecent(r.hours, from.hours, keptHours, (*period).add)
	r.days = mergeRecent(r.days, from.days, keptDays, (*day).add)
	r.account()
}

// use calls do with the row, locked, unless the row is empty or nil.
func (r *row) use(do func(*row)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first != never {
		do(r)
	}
}

// copy returns a copy of what the row counts. Callers hold mu.
func (r *row) copy() *row {
	c := newRow(r.key)
	c.merge(r)
	return c
}

// How far back hours and days are kept, and how long they are in milliseconds.
const (
	keptHours = 7 * 24
	keptDays  = 90
	hourLong  = 60 * 60 * 1000
	dayLong   = 24 * hourLong
)

// period counts the requests of one hour. Its number counts from 1970, so that no list of periods needs any
// sweeping: the number shows which periods are too old.
type period struct {
	_                     struct{} `cbor:",toarray"` // as it is stored
	Number                int32
	Requests, Disobedient uint32
}

// count adds requests.
func (p *period) count(requests, disobedient uint32) {
	p.Requests, p.Disobedient = sum32(p.Requests, requests), sum32(p.Disobedient, disobedient)
}

// add adds the requests of the same hour elsewhere.
func (p *period) add(q *period) { p.count(q.Requests, q.Disobedient) }

func (p *period) num() *int32   { return &p.Number }
func (p *period) isEmpty() bool { return p.Requests == 0 }

// hourOf and dayOf return the number of the period that a moment is in.
func hourOf(at int64) int32 { return int32(at / hourLong) }
func dayOf(at int64) int32  { return int32(at / dayLong) }

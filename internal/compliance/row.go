package compliance

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"
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
	place       int      // in Ledger.rows; this and earlier are guarded by the ledger's lock
	earlier     uint64   // requests before it had its row
	_           [64]byte // keeps the lock off the cache line that every lookup reads

	mu             sync.Mutex // guards all below
	gone           bool       // the row was replaced, and events noted in it would be lost
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
	hours          [keptHours]period
	days           days
}

// never is the time when an empty row was first seen.
const never = math.MaxInt64

// newRow returns an empty row.
func newRow(k key) *row { return &row{key: k, first: never} }

// note counts an event. It returns false if the row was replaced by another.
func (r *row) note(e *Event, at int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return false
	}
	r.first, r.last = min(r.first, at), at
	renew(&r.version, e.Version)
	renew(&r.record, e.Record)
	if e.RobotsTxt {
		r.fetches = sum(r.fetches, 1)
		r.fetched, r.fetchedVersion = at, r.version
		return true
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
		r.offences.add(e, at)
	} else if v != Banned {
		r.allowed.add(lineNumber(e.Line), cut(e.Rule, maxRule), cut(e.keptPath(), maxPath))
	}
	hour, day := hourOf(at), dayOf(at)
	r.hours[hour%keptHours].count(hour, 1, disobedient)
	d := &r.days[day%keptDays]
	d.renew(day)
	d.count(v, refused)
	r.spend(d, e)
	return true
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
	ring(r.hours[:]).merge(from.hours[:])
	r.days.merge(from.days[:])
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

// period counts the requests of one hour. Its number counts from 1970, so that a ring of
// periods needs no sweeping: the number shows which periods are too old.
//
// The period that was noted last has the place in the ring. When a clock that was ahead is set
// back, the periods from the future are overwritten in turn.
type period struct {
	_                     struct{} `cbor:",toarray"` // as it is stored
	Number                int32
	Requests, Disobedient uint32
}

// count adds requests of the period with this number.
func (p *period) count(number int32, requests, disobedient uint32) {
	if p.Number != number {
		*p = period{Number: number}
	}
	p.Requests = sum32(p.Requests, requests)
	p.Disobedient = sum32(p.Disobedient, disobedient)
}

// ring is the last periods, each in the place that its number has modulo the length.
type ring []period

// merge adds the periods of a ring as long as this one. Of two that have the same
// place the later one stays.
func (r ring) merge(from ring) {
	for i, p := range from {
		if p.Requests > 0 && p.Number >= r[i].Number {
			r[i].count(p.Number, p.Requests, p.Disobedient)
		}
	}
}

// read adds periods that were stored, with numbers that are at most last.
func (r ring) read(stored []period, last int32) {
	for _, p := range stored {
		p.Number = min(max(p.Number, 0), last)
		r[int(p.Number)%len(r)].count(p.Number, p.Requests, min(p.Disobedient, p.Requests))
	}
}

// used returns the periods in which there were requests.
func (r ring) used() []period {
	used := make([]period, 0, len(r))
	for _, p := range r {
		if p.Requests > 0 {
			used = append(used, p)
		}
	}
	return used
}

// hourOf and dayOf return the number of the period that a moment is in.
func hourOf(at int64) int32 { return int32(at / hourLong) }
func dayOf(at int64) int32  { return int32(at / dayLong) }

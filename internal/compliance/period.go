package compliance

// How far back hours and days are kept, and how long they are in milliseconds.
const (
	keptHours = 7 * 24
	keptDays  = 90
	hourLong  = 60 * 60 * 1000
	dayLong   = 24 * hourLong
)

// period counts the requests of one hour or day. It bears its number, counted from 1970, so
// that a ring of periods needs no sweeping: after a silence, what is too old is told by
// its number.
//
// The period that was noted last has the place in the ring. When a clock that was ahead for
// a while is set back, what it left is overwritten in turn.
type period struct {
	_                     struct{} `cbor:",toarray"` // as it is stored
	Number                int32
	Requests, Disobedient uint32
}

// count adds what happened in the period of this number.
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

package ratelimit

import "container/list"

const (
	// maxOffenders is how many clients' offences are remembered, and maxOffences
	// for how many of them there is room in all.
	maxOffenders = 1 << 16
	maxOffences  = 1 << 20
)

// offences are those of clients that are not banned. If there are too many, the
// client whose last offence is longest ago is forgotten. Each client has a time for each
// offence, not a count, so that the offence that brings a ban is exactly the last of so
// many within the time. The zero value is of no use; newOffences makes one. Not
// safe for concurrent use.
type offences struct {
	of    map[uint64]*list.Element // by client
	order *list.List               // of *offender, the last one to offend in front
	room  int                      // that is taken by times
}

// offender is a client and when it offended.
type offender struct {
	client uint64
	times  []int64 // nanoseconds since 1970
}

func newOffences() offences {
	return offences{of: make(map[uint64]*list.Element), order: list.New()}
}

// add counts an offence of a client now, and returns how many there were in the time
// within before now, this one included. Fewer than MaxOffences must have been.
func (o *offences) add(client uint64, now, within int64) int {
	at := o.of[client]
	if at == nil {
		at = o.order.PushFront(&offender{client: client})
		o.of[client] = at
	}
	o.order.MoveToFront(at)
	who := at.Value.(*offender)
	o.room -= cap(who.times)
	who.offend(now, within)
	o.room += cap(who.times)
	for len(o.of) > maxOffenders || o.room > maxOffences {
		o.forget(o.order.Back().Value.(*offender).client)
	}
	return len(who.times)
}

// offend adds an offence now and forgets those that are too long ago. One that is still to
// come is taken to be of now: the clock stepped back, or requests overtook one another.
func (who *offender) offend(now, within int64) {
	recent := who.times[:0]
	for _, t := range who.times {
		if t = min(t, now); now-t < within {
			recent = append(recent, t)
		}
	}
	who.times = append(recent, now)
}

// forget forgets the offences of a client.
func (o *offences) forget(client uint64) {
	if at := o.of[client]; at != nil {
		o.room -= cap(at.Value.(*offender).times)
		o.order.Remove(at)
		delete(o.of, client)
	}
}

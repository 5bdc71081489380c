package compliance

// day counts the requests of one day, as period does those of an hour, and what they cost.
type day struct {
	_        struct{} `cbor:",toarray"` // as it is stored
	Number   int32
	Counts   [slots]uint32    // by slot
	Statuses [statuses]uint32 // by class, from 2xx on
	Measured uint32           // requests that were served, and of which Bytes and Micros are known
	Bytes    uint64           // of what they were answered
	Micros   uint64           // that the back end took for it, in microseconds
}

// A verdict has one slot, or two where its requests may be refused: for what was served, and for what
// was refused.
const (
	slots    = verdicts + 5
	statuses = 4 // 2xx to 5xx
)

var slotOf = [verdicts][2]int{
	Allowed: {0, 0}, Exempt: {1, 1}, Disallowed: {2, 3}, TooFast: {4, 5}, OffHours: {6, 7}, Impostor: {8, 9}, Banned: {10, 11},
}

// cost is what requests cost that were served: how many there were, what was sent, and the time of the
// back end in microseconds.
type cost struct {
	_                       struct{} `cbor:",toarray"` // as it is stored
	Measured, Bytes, Micros uint64
	Statuses                [statuses]uint64 // of these and of refused ones
}

// add adds what other requests cost.
func (c *cost) add(d *cost) {
	c.Measured, c.Bytes, c.Micros = sum(c.Measured, d.Measured), sum(c.Bytes, d.Bytes), sum(c.Micros, d.Micros)
	for i := range c.Statuses {
		c.Statuses[i] = sum(c.Statuses[i], d.Statuses[i])
	}
}

// within returns c within the bounds of a ledger.
func (c *cost) within() cost {
	var kept cost
	kept.add(c)
	return kept
}

// count counts a request.
func (d *day) count(v Verdict, refused bool) {
	slot := &d.Counts[slotOf[v][0]]
	if refused {
		slot = &d.Counts[slotOf[v][1]]
	}
	*slot = sum32(*slot, 1)
}

// spend adds what requests cost.
func (d *day) spend(c *cost) {
	d.Measured = sum32(d.Measured, uint32(c.Measured))
	d.Bytes, d.Micros = sum(d.Bytes, c.Bytes), sum(d.Micros, c.Micros)
	for i, n := range c.Statuses {
		d.Statuses[i] = sum32(d.Statuses[i], uint32(n))
	}
}

// cost returns what the requests of the day cost.
func (d *day) cost() cost {
	c := cost{Measured: uint64(d.Measured), Bytes: d.Bytes, Micros: d.Micros}
	for i, n := range d.Statuses {
		c.Statuses[i] = uint64(n)
	}
	return c
}

// of returns how many requests had a verdict.
func (d *day) of(v Verdict) Count {
	c := Count{Requests: uint64(d.Counts[slotOf[v][0]])}
	if v.refusable() {
		c.Refused = uint64(d.Counts[slotOf[v][1]])
		c.Requests += c.Refused
	}
	return c
}

// isEmpty reports whether there was no request.
func (d *day) isEmpty() bool { return d.Counts == [slots]uint32{} }

// add adds what was on the same day elsewhere.
func (d *day) add(f *day) {
	for k, n := range f.Counts {
		d.Counts[k] = sum32(d.Counts[k], n)
	}
	c := f.cost()
	d.spend(&c)
}

func (d *day) num() *int32 { return &d.Number }

// period returns the day as a report has it.
func (d *day) period() Period {
	p := Period{Time: timeOf(int64(d.Number) * dayLong), Bytes: d.Bytes, Seconds: seconds(d.Micros), day: d}
	for v := range Verdict(verdicts) {
		c := d.of(v)
		p.Requests += c.Requests
		p.Refused += c.Refused
		if v.Disobedient() {
			p.Disobedient += c.Requests
		}
	}
	return p
}

// seconds returns microseconds as seconds.
func seconds(micros uint64) float64 { return float64(micros) / 1e6 }

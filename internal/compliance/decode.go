package compliance

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
)

// decoder reads what is stored. After an error it reads only zeros, so that an error has
// to be looked for once. Whatever it reads is within the bounds of a ledger.
type decoder struct {
	data []byte // what is left
	err  error
}

// fail keeps the first error.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
	d.data = nil
}

// number reads a number that is at most so large.
func (d *decoder) number(most uint64, what string) uint64 {
	n, size := binary.Uvarint(d.data)
	if size <= 0 {
		d.fail("it ends, or is no number, where the %s should be", what)
		return 0
	}
	if n > most {
		d.fail("the %s is %d, and %d is the most", what, n, most)
		return 0
	}
	d.data = d.data[size:]
	return n
}

// octet reads a single octet that is at most so large.
func (d *decoder) octet(most byte, what string) byte {
	if len(d.data) == 0 || d.data[0] > most {
		d.fail("it ends, or is above %d, where the %s should be", most, what)
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return b
}

// text reads a text of at most so many octets.
func (d *decoder) text(most int, what string) string {
	n := int(d.number(uint64(most), "length of the "+what))
	if n > len(d.data) {
		d.fail("it ends within the %s", what)
		return ""
	}
	s := string(d.data[:n])
	d.data = d.data[n:]
	return s
}

// part reads a number that is at most so large, of which another one is a part.
func (d *decoder) part(most uint64, whole, part string) (n, of uint64) {
	n = d.number(most, whole)
	return n, d.number(n, part)
}

func (d *decoder) moment(what string) int64 { return int64(d.number(lastMoment, what)) }

// row reads a row.
func (d *decoder) row() *row {
	r := newRow(key{
		site: d.text(maxSite, "site"), robot: d.text(maxRobot, "robot"),
		class: class(d.octet(byte(others), "class")), standing: standing(d.octet(byte(len(standingWords)-1), "standing")),
	})
	if k := r.key; k.class == others && (k.robot != "" || k.standing != 0) {
		d.fail("the row for other robots bears the name %q", k.robot)
	}
	r.first, r.last, r.fetched = d.moment("first time"), d.moment("last time"), d.moment("time of robots.txt")
	r.fetches = d.number(maxCount, "number of readings of robots.txt")
	r.version, r.record, r.fetchedVersion = d.text(maxShort, "version"), d.text(maxShort, "record"), d.text(maxShort, "version read")
	for v := range r.tallies {
		t := &r.tallies[v]
		t.requests, t.refused = d.part(maxCount, "number of requests", "number of refusals")
		if t.refused > 0 && !Verdict(v).Disobedient() {
			d.fail("%d requests that are %v were refused", t.refused, Verdict(v))
		}
	}
	d.ring(r.hours[:], lastMoment/hourLong, "hour")
	d.ring(r.days[:], lastMoment/dayLong, "day")
	if d.octet(1, "mark for offences") == 1 {
		r.offences = d.offences()
	}
	return r
}

// ring reads periods whose numbers are at most so large.
func (d *decoder) ring(into ring, most uint64, what string) {
	for range d.number(uint64(len(into)), "number of "+what+"s") {
		n := int32(d.number(most, what))
		requests, disobedient := d.part(math.MaxUint32, "requests of an "+what, "disobedience of an "+what)
		into[int(n)%len(into)].count(n, uint32(requests), uint32(disobedient))
	}
}

func (d *decoder) offences() *offences {
	o := new(offences)
	for range d.number(mostFrequent, "number of lines") {
		var c counted
		c.set(int32(d.number(maxLine, "line")), d.text(maxRule, "rule"))
		c.count, c.over = d.part(maxCount, "count of a line", "excess of a line")
		o.lines = append(o.lines, c)
	}
	for range d.number(mostFrequent, "number of paths") {
		var c counted
		c.set(0, d.text(maxPath, "path"))
		c.count, c.over = d.part(maxCount, "count of a path", "excess of a path")
		o.paths = append(o.paths, c)
	}
	o.first = d.evidence()
	var latest []*evidence
	for range d.number(keptEvidence, "number of requests kept") {
		one := d.evidence()
		latest = append(latest, &one)
	}
	o.keep(latest)
	return o
}

func (d *decoder) evidence() evidence {
	e := evidence{verdict: Verdict(d.octet(byte(Banned), "verdict"))}
	e.at = d.moment("time of a request")
	e.line = int32(d.number(maxLine, "line of a request"))
	e.status = uint16(d.number(999, "status"))
	e.write(d.text(maxMethod, "method"), d.text(maxPath, "path"), d.text(maxRule, "rule"))
	if address := d.text(16, "address"); address != "" {
		a, ok := netip.AddrFromSlice([]byte(address))
		if !ok || a.Is4In6() {
			d.fail("an address of %d octets", len(address))
			return e
		}
		e.address = netip.PrefixFrom(a, int(d.octet(byte(a.BitLen()), "length of a network"))).Masked()
	}
	return e
}

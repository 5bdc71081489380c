package compliance

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
)

// keptEvidence is how many of a robot's disobedient requests are kept besides the first.
const keptEvidence = 10

// evidence is a disobedient request. It holds its texts itself, so that the next request can be written
// over it without allocating.
type evidence struct {
	at      int64
	line    int32
	status  uint16
	verdict Verdict
	lengths [3]uint8                            // of method, path and rule,
	buf     [maxMethod + maxPath + maxRule]byte // which are here, one behind the other
	address netip.Prefix
}

// offences is what is kept of a robot's disobedience besides its counts.
type offences struct {
	asked
	first evidence
	noted uint64     // requests ever kept in ring
	ring  []evidence // the latest, at most keptEvidence
}

// add keeps a disobedient request. It reports whether it takes more room, or less.
func (o *offences) add(e *Event, at int64) (changed bool) {
	path, rule := cut(e.keptPath(), maxPath), cut(e.Rule, maxRule)
	one := o.next()
	one.at, one.line, one.status, one.verdict = at, lineNumber(e.Line), uint16(min(max(e.Status, 0), 999)), e.Verdict
	one.address = maskedAddress(e.Address, e.WholeAddress)
	one.write(cut(e.Method, maxMethod), path, rule)
	if o.noted == 1 {
		o.first = *one
	}
	return o.asked.add(one.line, rule, path) || o.noted <= keptEvidence
}

// next returns the place in the ring for one request more.
func (o *offences) next() *evidence {
	if o.noted < keptEvidence {
		o.ring = append(grown(o.ring, keptEvidence), evidence{})
	}
	place := &o.ring[o.noted%keptEvidence]
	o.noted++
	return place
}

// merge adds what was kept elsewhere.
func (o *offences) merge(from *offences) {
	o.asked.merge(&from.asked)
	if from.noted == 0 {
		return
	}
	if o.noted == 0 || from.first.at < o.first.at {
		o.first = from.first
	}
	o.keep(newestFirst(append(o.latest(), from.latest()...)))
}

// latest returns the requests that are kept, the one noted last first.
func (o *offences) latest() []*evidence {
	all := make([]*evidence, 0, 2*keptEvidence) // with room for those of another
	for i := range min(o.noted, keptEvidence) {
		all = append(all, &o.ring[(o.noted-1-i)%keptEvidence])
	}
	return all
}

// keep keeps the first ones of these requests, which become those that latest returns.
func (o *offences) keep(latest []*evidence) {
	var kept offences
	for _, one := range slices.Backward(latest[:min(len(latest), keptEvidence)]) {
		*kept.next() = *one
	}
	o.noted, o.ring = kept.noted, kept.ring
}

// all returns all that is kept, the newest first, the first last.
func (o *offences) all() []*evidence {
	all := newestFirst(o.latest())
	if !slices.ContainsFunc(all, o.first.same) {
		all = append(all, &o.first)
	}
	return all
}

// newestFirst sorts requests by their times, as they may come slightly out of that order.
func newestFirst(all []*evidence) []*evidence {
	slices.SortStableFunc(all, func(a, b *evidence) int { return cmp.Compare(b.at, a.at) })
	return all
}

// same reports whether all that is kept of two requests is the same.
func (e *evidence) same(f *evidence) bool {
	return e.at == f.at && e.line == f.line && e.status == f.status && e.verdict == f.verdict && e.address == f.address &&
		e.lengths == f.lengths && bytes.Equal(e.text(), f.text())
}

// write writes the texts, of which there is room for maxMethod, maxPath and maxRule bytes.
func (e *evidence) write(method, path, rule string) {
	at := 0
	for i, text := range [...]string{method, path, rule} {
		n := copy(e.buf[at:], text)
		e.lengths[i] = uint8(n)
		at += n
	}
}

// texts returns the texts in memory of their own.
func (e *evidence) texts() (method, path, rule string) {
	m, p := int(e.lengths[0]), int(e.lengths[1])
	all := string(e.text())
	return all[:m], all[m : m+p], all[m+p:]
}

// text returns all texts where they stand.
func (e *evidence) text() []byte {
	return e.buf[:int(e.lengths[0])+int(e.lengths[1])+int(e.lengths[2])]
}

// maxLine bounds the number of a line; no robots.txt has as many.
const maxLine = 1 << 30

func lineNumber(n int) int32 { return int32(min(max(n, 0), maxLine)) }

// maskedAddress returns the network that an address is in, /24 or /48, or if whole the
// address. A port is dropped; what is no address becomes the zero Prefix.
func maskedAddress(s string, whole bool) netip.Prefix {
	a, err := netip.ParseAddr(s)
	if err != nil {
		p, err := netip.ParseAddrPort(s)
		if err != nil {
			return netip.Prefix{}
		}
		a = p.Addr()
	}
	a = a.Unmap()
	bits := 48
	switch {
	case whole:
		bits = a.BitLen()
	case a.Is4():
		bits = 24
	}
	network, _ := a.Prefix(bits)
	return network
}

// addressText returns an address as it is shown: 192.0.2.0/24, or a whole one without its
// length.
func addressText(p netip.Prefix) string {
	if !p.IsValid() {
		return ""
	}
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

package compliance

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// keptEvidence is how many of a robot's disobedient requests are kept as they were, besides
// the first.
const keptEvidence = 10

// evidence is a disobedient request.
type evidence struct {
	at      int64
	line    int32
	status  uint16
	verdict Verdict
	method  string
	path    string
	rule    string
	address netip.Prefix
}

// line is a line of robots.txt, its number and its text.
type line struct {
	number int32
	rule   string
}

// offences is what is kept of a robot's disobedience besides its counts.
type offences struct {
	lines  frequent[line]
	paths  frequent[string]
	first  evidence
	newest []evidence // the newest first
}

// add keeps a disobedient request. The rule of a ban is what was disobeyed before it, so that
// requests during the ban count for no line and no path.
func (o *offences) add(e *Event, at int64, whole bool) {
	one := evidence{
		at: at, line: lineNumber(e.Line), status: uint16(min(max(e.Status, 0), 999)),
		verdict: e.Verdict, method: methodOf(e.Method), address: maskedAddress(e.Address, whole),
	}
	path, rule := cut(e.Path, maxPath), line{one.line, cut(e.Rule, maxRule)}
	if e.Verdict == Banned {
		one.path, one.rule = strings.Clone(path), strings.Clone(rule.rule)
	} else {
		one.path = o.paths.add(path, strings.Clone)
		if rule != (line{}) {
			one.rule = o.lines.add(rule, line.clone).rule
		}
	}
	if o.newest == nil {
		o.first, o.newest = one, make([]evidence, 0, keptEvidence)
	}
	o.newest = o.newest[:min(len(o.newest)+1, keptEvidence)]
	copy(o.newest[1:], o.newest)
	o.newest[0] = one
}

// merge adds what was kept elsewhere.
func (o *offences) merge(from *offences) {
	o.lines.merge(from.lines)
	o.paths.merge(from.paths)
	if len(from.newest) == 0 {
		return
	}
	if len(o.newest) == 0 || from.first.at < o.first.at {
		o.first = from.first
	}
	all := newestFirst(o.newest, from.newest)
	o.newest = append(make([]evidence, 0, keptEvidence), all[:min(len(all), keptEvidence)]...)
}

// all returns all that is kept, the newest first, the first last.
func (o *offences) all() []evidence {
	all := newestFirst(o.newest)
	if !slices.Contains(all, o.first) {
		all = append(all, o.first)
	}
	return all
}

// newestFirst returns all of the lists in the order of time: requests may come slightly out
// of it.
func newestFirst(lists ...[]evidence) []evidence {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b evidence) int { return cmp.Compare(b.at, a.at) })
	return all
}

// clone returns a line that shares no text with l.
func (l line) clone() line { return line{l.number, strings.Clone(l.rule)} }

// maxLine bounds the number of a line; no robots.txt has as many.
const maxLine = 1 << 30

func lineNumber(n int) int32 { return int32(min(max(n, 0), maxLine)) }

var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND"}

// methodOf returns m in a string of its own, which for the usual ones costs nothing.
func methodOf(m string) string {
	if i := slices.Index(methods, m); i >= 0 {
		return methods[i]
	}
	return strings.Clone(cut(m, maxMethod))
}

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
	a = a.Unmap().WithZone("")
	return masked(netip.PrefixFrom(a, a.BitLen()), whole)
}

// masked returns p, or unless whole the network that it is in.
func masked(p netip.Prefix, whole bool) netip.Prefix {
	most := 48
	if p.Addr().Is4() {
		most = 24
	}
	if whole || p.Bits() <= most {
		return p
	}
	return netip.PrefixFrom(p.Addr(), most).Masked()
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

// mask keeps of all addresses only the networks. The offences may be nil.
func (o *offences) mask() {
	if o == nil {
		return
	}
	o.first.address = masked(o.first.address, false)
	for i := range o.newest {
		o.newest[i].address = masked(o.newest[i].address, false)
	}
}

// Package ipranges knows sets of address ranges, the forms in which operators publish those of
// their robots, and which addresses are public ones.
package ipranges

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/gaissmai/bart"
)

const (
	maxRanges    = 100_000
	shortestIPv4 = 8 // bits of the broadest range that is believed
	shortestIPv6 = 16
	writeRange   = "write an address or a CIDR, such as 192.0.2.0/24"
)

var (
	errNoRanges = errors.New("no address range in it: a list must name at least one, such as 192.0.2.0/24")
	errTooMany  = fmt.Errorf("more than %d ranges, too many for one robot: check that this is its list", maxRanges)
)

// Set is a set of address ranges, such as those that an operator publishes for its robot.
// It is immutable, and safe for concurrent use. nil and the zero value contain nothing.
type Set struct {
	listed int
	table  bart.Lite // IPv4-mapped ranges as IPv4
}

// New returns the set of these ranges, in any order; they may overlap, and bits after a
// prefix's length mean nothing. It is an error if there are none or more than 100,000, or if
// one is invalid or shorter than a /8 (IPv4) or a /16 (IPv6).
func New(prefixes []netip.Prefix) (*Set, error) {
	if len(prefixes) == 0 {
		return nil, errNoRanges
	}
	if len(prefixes) > maxRanges {
		return nil, errTooMany
	}
	s := &Set{listed: len(prefixes)}
	for i, p := range prefixes {
		if !p.IsValid() {
			return nil, fmt.Errorf("range %d of %d is not valid: %s", i+1, len(prefixes), writeRange)
		}
		p = unmapped(p).Masked()
		if err := checkBreadth(p); err != nil {
			return nil, err
		}
		s.table.Insert(p)
	}
	return s, nil
}

// Contains reports whether addr is in one of the ranges. An IPv4-mapped address is its IPv4
// address; a zone means nothing; an invalid address is in none. It does not allocate.
func (s *Set) Contains(addr netip.Addr) bool {
	return s != nil && s.table.Contains(addr.Unmap())
}

// Len returns how many ranges were listed, those that others contain among them. Of nil it is 0.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return s.listed
}

// unmapped returns an IPv4-mapped range as the IPv4 range that it is.
func unmapped(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

// allIPv4 is the range of the IPv4-mapped addresses, as which IPv4 is kept.
var allIPv4 = netip.MustParsePrefix("::ffff:0:0/96")

// checkBreadth refuses a range so broad that being in it proves nothing.
func checkBreadth(p netip.Prefix) error {
	shortest, family := shortestIPv6, "IPv6"
	if p.Addr().Is4() {
		shortest, family = shortestIPv4, "IPv4"
	}
	if p.Bits() < shortest {
		return fmt.Errorf("%s is too broad to identify a robot: the shortest %s range is a /%d, so write those that the robot really uses",
			p, family, shortest)
	}
	if p.Contains(allIPv4.Addr()) {
		return fmt.Errorf("%s is too broad to identify a robot: it holds all of IPv4, mapped into IPv6", p)
	}
	return nil
}

package verify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"strings"
)

const (
	maxRanges       = 100_000
	maxRangesText   = 8 << 20 // octets
	shortestIPv4    = 8       // bits of the broadest range that is believed
	shortestIPv6    = 16
	writeRange      = "write an address or a CIDR, such as 192.0.2.0/24"
	maxQuotedLength = 60
)

var errNoRanges = errors.New("no address range in it: a list must name at least one, such as 192.0.2.0/24")

// Ranges is a set of address ranges, such as those that an operator publishes for its robot.
// It is immutable, and safe for concurrent use. nil and the zero value contain nothing.
type Ranges struct {
	listed int
	// From first[i] to last[i], in order and apart, IPv4 as the IPv4-mapped part of IPv6.
	// Two slices, since a search reads only one.
	first, last []uint128
}

// ParseRanges reads a list of ranges in any of the forms in which operators publish them:
//
//   - JSON such as {"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]}
//     (Google, Bing, Apple, OpenAI, Anthropic, Perplexity, Common Crawl), and its relatives:
//     under any nesting, members named for what they hold (ip_prefix, ip_address, ipv4_cidr,
//     cidr), and lists of strings whose key is named so or whose first string is a range.
//     Everything else in it means nothing;
//   - text with one range on a line, where # starts a comment;
//   - CSV whose first column is a range (geofeeds, RFC 8805), with or without a header.
//
// A range is a CIDR or a single address. A list that cannot be trusted whole is refused: HTML,
// JSON that is cut short, an entry that is no range, no range at all, more than 100,000 of them,
// more than 8 MiB, and what NewRanges refuses. The error names the line or the key, and says
// what to write instead.
func ParseRanges(text []byte) (*Ranges, error) {
	if len(text) > maxRangesText {
		return nil, fmt.Errorf("%d octets are too many for a list of ranges: the most is %d", len(text), maxRangesText)
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	var prefixes []netip.Prefix
	var err error
	switch {
	case len(text) == 0:
		return nil, errNoRanges
	case text[0] == '<':
		return nil, errors.New("an HTML or XML page, not a list of ranges: give the address of the JSON or text file itself")
	case text[0] == '{' || text[0] == '[':
		prefixes, err = prefixesInJSON(text)
	default:
		prefixes, err = prefixesInLines(text)
	}
	if err != nil {
		return nil, err
	}
	return NewRanges(prefixes)
}

// prefixesInLines reads what stands first on each line.
func prefixesInLines(text []byte) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	number := 0
	for line := range bytes.Lines(text) {
		number++
		content, _, _ := bytes.Cut(line, []byte("#"))
		first, _, csv := bytes.Cut(content, []byte(","))
		entry := strings.Trim(string(bytes.TrimSpace(first)), `"`)
		header := csv && len(prefixes) == 0 && namesAddresses(entry)
		if entry == "" && !csv || header {
			continue
		}
		prefix, err := parseRange(entry)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(prefixes) == maxRanges {
			return nil, fmt.Errorf("line %d: %w", number, errTooMany)
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}

var errTooMany = fmt.Errorf("more than %d ranges, too many for one robot: check that this is its list", maxRanges)

// parseRange reads a CIDR or an address, and refuses one that is too broad.
func parseRange(entry string) (netip.Prefix, error) {
	var prefix netip.Prefix
	var err error
	if strings.Contains(entry, "/") {
		prefix, err = netip.ParsePrefix(entry)
	} else {
		var addr netip.Addr
		if addr, err = netip.ParseAddr(entry); err == nil {
			prefix, err = addr.Prefix(addr.BitLen())
		}
	}
	if err != nil || strings.Contains(entry, "%") {
		return prefix, fmt.Errorf("%s is not an address range: %s", quoted(entry), writeRange)
	}
	prefix = unmapped(prefix)
	return prefix, checkBreadth(prefix)
}

// quoted is text from a list, short enough for a message.
func quoted(text string) string {
	if len(text) > maxQuotedLength {
		return fmt.Sprintf("%q...", text[:maxQuotedLength])
	}
	return fmt.Sprintf("%q", text)
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
		return fmt.Errorf("%s is too broad to tell a robot by: the shortest %s range is a /%d, so write those that the robot really uses",
			p, family, shortest)
	}
	if p.Contains(allIPv4.Addr()) {
		return fmt.Errorf("%s is too broad to tell a robot by: it holds all of IPv4, mapped into IPv6", p)
	}
	return nil
}

// NewRanges returns the set of these ranges, in any order; they may overlap, and bits after a
// prefix's length mean nothing. It is an error if there are none or more than 100,000, or if
// one is invalid or shorter than a /8 (IPv4) or a /16 (IPv6).
func NewRanges(prefixes []netip.Prefix) (*Ranges, error) {
	if len(prefixes) == 0 {
		return nil, errNoRanges
	}
	if len(prefixes) > maxRanges {
		return nil, errTooMany
	}
	spans := make([]span, len(prefixes))
	for i, p := range prefixes {
		if !p.IsValid() {
			return nil, fmt.Errorf("range %d of %d is not valid: %s", i+1, len(prefixes), writeRange)
		}
		p = unmapped(p).Masked()
		if err := checkBreadth(p); err != nil {
			return nil, err
		}
		spans[i] = spanOf(p)
	}
	r := &Ranges{listed: len(prefixes)}
	r.merge(spans)
	return r, nil
}

// merge keeps the spans that lie in no other one: CIDRs either nest or lie apart.
func (r *Ranges) merge(spans []span) {
	slices.SortFunc(spans, func(a, b span) int {
		if order := a.first.compare(b.first); order != 0 {
			return order
		}
		return b.last.compare(a.last) // the broader one first
	})
	for _, s := range spans {
		if n := len(r.last); n == 0 || r.last[n-1].compare(s.first) < 0 {
			r.first, r.last = append(r.first, s.first), append(r.last, s.last)
		}
	}
	r.first, r.last = slices.Clip(r.first), slices.Clip(r.last)
}

// Contains tells whether addr is in one of the ranges. An IPv4-mapped address is its IPv4
// address; a zone means nothing; an invalid address is in none. It does not allocate.
func (r *Ranges) Contains(addr netip.Addr) bool {
	if r == nil || len(r.last) == 0 || !addr.IsValid() {
		return false
	}
	a := toUint128(addr)
	// The first span that ends at a or after it, without a branch on what is compared: no
	// processor could foresee it, and a wrong guess costs more than the comparison.
	at, last := 0, r.last
	for n := len(last); n > 1; {
		half := n / 2
		at += half & -last[at+half-1].isLess(a) // all bits of half, or none
		n -= half
	}
	return a.isLess(r.first[at]) == 0 && last[at].isLess(a) == 0
}

// Len returns how many ranges were listed, those that others contain among them. Of nil it is 0.
func (r *Ranges) Len() int {
	if r == nil {
		return 0
	}
	return r.listed
}

// A span is the first and the last address of a range.
type span struct{ first, last uint128 }

func spanOf(p netip.Prefix) span {
	first := toUint128(p.Addr())
	host := p.Addr().BitLen() - p.Bits() // how many bits are free
	last := uint128{first.high, first.low | (1<<host - 1)}
	if host > 64 {
		last = uint128{first.high | (1<<(host-64) - 1), ^uint64(0)}
	}
	return span{first, last}
}

// A uint128 is an address as a number.
type uint128 struct{ high, low uint64 }

// toUint128 takes an IPv4 address as an IPv4-mapped one.
func toUint128(a netip.Addr) uint128 {
	octets := a.As16()
	return uint128{binary.BigEndian.Uint64(octets[:8]), binary.BigEndian.Uint64(octets[8:])}
}

// isLess returns 1 if a < b, else 0: the borrow of a - b.
func (a uint128) isLess(b uint128) int {
	_, borrow := bits.Sub64(a.low, b.low, 0)
	_, borrow = bits.Sub64(a.high, b.high, borrow)
	return int(borrow)
}

func (a uint128) compare(b uint128) int {
	return b.isLess(a) - a.isLess(b)
}

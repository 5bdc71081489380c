package ipranges

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

const (
	// MaxSize is how many bytes of a list are read.
	MaxSize = 8 << 20

	maxQuotedLength = 60
)

// Parse reads a list of ranges in any of the forms in which operators publish them:
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
// more than 8 MiB, and what New refuses. The error names the line or the key, and says
// what to write instead.
func Parse(text []byte) (*Set, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%d bytes are too many for a list of ranges: the most is %d", len(text), MaxSize)
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
	return New(prefixes)
}

// prefixesInLines reads the first field of each line.
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
		prefix, err := ParseRange(entry)
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

// ParseRange reads a CIDR or an address. One that is too broad comes with an error; the range is
// not valid if it cannot be read.
func ParseRange(entry string) (netip.Prefix, error) {
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

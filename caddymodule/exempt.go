package caddymodule

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/crawler"
)

// exemptions are the clients that are left alone. The zero value exempts nobody. It is
// immutable and safe for concurrent use.
type exemptions struct {
	ranges []netip.Prefix
	texts  []string
}

// parseExemptions reads the values of the exempt option: an address, a CIDR range, the
// word private_ranges, or any other text, which is looked for in the User-Agent.
func parseExemptions(values []string) (exemptions, error) {
	var e exemptions
	for _, value := range values {
		if value == "private_ranges" {
			inner, err := parseExemptions(caddyhttp.PrivateRangesCIDR())
			if err != nil {
				return exemptions{}, err
			}
			e.ranges = append(e.ranges, inner.ranges...)
			continue
		}
		if strings.Trim(value, "0123456789abcdefABCDEF:./") == "" && strings.ContainsAny(value, ".:/") {
			prefix, err := parseRange(value)
			if err != nil {
				return exemptions{}, fmt.Errorf("exempt: %q is not an address or CIDR range; "+
					"write one such as 192.0.2.0/24, private_ranges, or a text of the User-Agent", value)
			}
			e.ranges = append(e.ranges, prefix)
			continue
		}
		if strings.TrimSpace(value) == "" {
			return exemptions{}, fmt.Errorf("exempt: %q would exempt every client; "+
				"write an address, a CIDR range, private_ranges, or a text of the User-Agent", value)
		}
		e.texts = append(e.texts, value)
	}
	return e, nil
}

func parseRange(value string) (netip.Prefix, error) {
	if strings.Contains(value, "/") {
		prefix, err := netip.ParsePrefix(value)
		return prefix.Masked(), err
	}
	addr, err := netip.ParseAddr(value)
	if err != nil {
		return netip.Prefix{}, err
	}
	return addr.Prefix(addr.BitLen())
}

// covers tells whether the client of r is exempt.
func (e exemptions) covers(r *http.Request) bool {
	return len(e.texts) > 0 && e.coversText(userAgent(r)) || len(e.ranges) > 0 && e.coversAddress(r)
}

func (e exemptions) coversText(userAgent string) bool {
	userAgent = userAgent[:min(len(userAgent), crawler.MaxLength)]
	return slices.ContainsFunc(e.texts, func(text string) bool { return containsFold(userAgent, text) })
}

// containsFold tells whether text occurs in s in any case of letters.
func containsFold(s, text string) bool {
	for i := 0; i+len(text) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(text)], text) {
			return true
		}
	}
	return false
}

func (e exemptions) coversAddress(r *http.Request) bool {
	if r.TLS != nil && !r.TLS.HandshakeComplete {
		return false // 0-RTT data: the address is not proved yet
	}
	addr, err := netip.ParseAddr(clientAddress(r))
	if err != nil {
		return false
	}
	addr = addr.Unmap().WithZone("")
	for _, prefix := range e.ranges {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// clientAddress returns the client's address as Caddy knows it, trusted_proxies honoured.
func clientAddress(r *http.Request) string {
	address, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	return address
}

// userAgent returns the first User-Agent header of r, "" if there is none.
func userAgent(r *http.Request) string {
	if values := r.Header["User-Agent"]; len(values) > 0 {
		return values[0]
	}
	return ""
}

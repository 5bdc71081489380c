package policies

import (
	"net"
	"net/netip"
	"strings"
	"unicode/utf8"
)

// Host returns the host of an authority, such as a Host header, without port and in lower case.
// Hosts that Caddy's host matcher tells apart stay apart, also those that differ by a final dot.
// What is neither a name nor an address in brackets is kept as it came. It allocates only for
// hosts that are written in another way than they are returned.
func Host(authority string) string {
	for _, c := range []byte(authority) {
		if !inPlainHost[c] {
			return plainHost(authority)
		}
	}
	return authority
}

// inPlainHost has the bytes of a host that is a name in small letters without a port.
var inPlainHost = func() (t [256]bool) {
	for c := range utf8.RuneSelf {
		t[c] = !strings.ContainsRune(":[]", rune(c)) && (c < 'A' || c > 'Z')
	}
	return t
}()

// plainHost is Host for one that is written in another way.
func plainHost(written string) string {
	host := written
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.IndexByte(host[i:], ']') < 0 {
		host = host[:i]
	}
	if isOdd(host) {
		host = written
	}
	return strings.ToLower(host)
}

// isOdd reports whether a host without port is neither a name nor an address in brackets.
func isOdd(host string) bool {
	if !strings.ContainsAny(host, "[]:") {
		return false
	}
	inner, isOpen := strings.CutPrefix(host, "[")
	inner, isClosed := strings.CutSuffix(inner, "]")
	_, err := netip.ParseAddr(inner)
	return !isOpen || !isClosed || err != nil
}

// placeName returns the one name of all hosts that name the same site, to Caddy's host matcher or
// to the DNS.
func placeName(host string) string {
	if isOdd(host) {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	return strings.TrimSuffix(host, ".")
}

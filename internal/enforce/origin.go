package enforce

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Origin is where a request came from, and what that proves. The zero Origin proves nothing and
// names nobody. It is a plain value.
type Origin struct {
	Kind      OriginKind
	Address   string     // as the server takes it for the client's; "" where there is none
	Addr      netip.Addr // the same
	Peer      string     // the address at the other end of the connection
	Forwarded string     // what headers say of the client, as sent; empty where the address is known
}

// OriginKind says what the address of a request proves. The zero value is Proxied.
type OriginKind uint8

// The kinds of origin.
const (
	// Proxied: the address is that of some proxy, or none. It is private, loopback or link-local,
	// or a trusted proxy's that does not say for whom it asks. It proves nothing but that the
	// request came from there.
	Proxied OriginKind = iota

	// Known: the address is the client's. It is that of the peer, or a trusted proxy has told it.
	Known

	// Doubtful: the address is that of a public peer which is not trusted but forwards for
	// somebody: a CDN that the owner did not name, or a client that has added a header. It proves
	// who has it, and is no evidence against anybody.
	Doubtful

	// Forgeable: a trusted proxy has passed on several addresses, and the server takes the first,
	// which the client may have written.
	Forgeable
)

// OriginAt returns the origin of a client of which only the address is known.
func OriginAt(address string) Origin {
	c := Connection{Peer: address, Client: address}
	return c.Origin()
}

// Connection is what a server knows of who sends a request.
type Connection struct {
	Peer    string              // the other end, with or without port
	Client  string              // the address that the server takes for the client's
	Trusted bool                // the peer is a proxy that the owner trusts
	Strict  bool                // of several addresses, the last one that is no trusted proxy's counts
	Told    []string            // the headers in which a trusted proxy tells the client's address
	Header  map[string][]string // by canonical names; may be nil
}

// Origin returns where the request came from.
func (c *Connection) Origin() Origin {
	o := Origin{Address: c.Client, Peer: c.peer(), Addr: c.addr()}
	switch {
	case !o.Addr.IsValid() || isPrivate(o.Addr) || c.Trusted && c.Client == o.Peer:
		o.Kind = Proxied
	case c.Trusted && !c.Strict && c.tellsSeveral():
		o.Kind = Forgeable
	case !c.Trusted && c.forwards():
		o.Kind = Doubtful
	default:
		o.Kind = Known
		return o
	}
	o.Forwarded = c.forwarded()
	return o
}

// IsFrom reports whether the request is from one of these ranges: whether the client's own address
// is in one, as far as that is known, and not that of a proxy before it.
func (c *Connection) IsFrom(ranges []netip.Prefix) bool {
	switch {
	case !c.Trusted && c.forwards(), c.Trusted && c.Client == c.peer(), c.Trusted && !c.Strict && c.tellsSeveral():
		return false
	}
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(c.addr()) })
}

// peer returns the address of the other end.
func (c *Connection) peer() string {
	if host, _, err := net.SplitHostPort(c.Peer); err == nil {
		return host
	}
	return c.Peer
}

// addr returns the address that the server takes for the client's, the zero Addr if that is none.
func (c *Connection) addr() netip.Addr {
	addr, err := netip.ParseAddr(c.Client)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

// sharedAddresses are those between a provider's clients and its own gateway (RFC 6598), which
// clusters use as private ones.
var sharedAddresses = netip.MustParsePrefix("100.64.0.0/10")

// isPrivate reports whether an address can be that of many machines, each in a network of its own.
func isPrivate(addr netip.Addr) bool {
	return addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsUnspecified() || sharedAddresses.Contains(addr)
}

// tellsSeveral reports whether the header that the server goes by has several values.
func (c *Connection) tellsSeveral() bool {
	for _, name := range c.Told {
		if values := c.Header[name]; len(values) > 0 {
			return len(values) > 1 || strings.Contains(values[0], ",")
		}
	}
	return false
}

// tellsClient reports whether proxies tell the client's address in the header with this canonical
// name: Forwarded (RFC 7239), X-Forwarded-For, X-Real-IP, CF-Connecting-IP, True-Client-IP and the
// like.
func tellsClient(name string) bool {
	for _, end := range []string{"-Ip", "-Ipv6", "Clientip", "-Addr", "-Address", "Forwarded", "Forwarded-For"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// forwards reports whether a header says that the request is another one's.
func (c *Connection) forwards() bool {
	for name := range c.Header {
		if tellsClient(name) {
			return true
		}
	}
	return false
}

// maxForwarded bounds how many bytes are looked at of what headers say of a client.
const maxForwarded = 2048

// forwarded returns what the headers say of the client, as sent.
func (c *Connection) forwarded() string {
	var names []string
	for name := range c.Header {
		if tellsClient(name) || slices.Contains(c.Told, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var values []string
	for _, name := range names {
		values = append(values, c.Header[name]...)
	}
	all := strings.Join(values, ", ")
	return all[:min(len(all), maxForwarded)]
}

// hasPublicAddress reports whether an address that is not private stands in what headers say of
// a client, in any of their forms: alone, with a port, or as RFC 7239 has it.
func hasPublicAddress(forwarded string) bool {
	isOther := func(c rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF.:", c) }
	for word := range strings.FieldsFuncSeq(forwarded, isOther) {
		addr, err := netip.ParseAddr(word)
		if err != nil {
			var withPort netip.AddrPort
			withPort, err = netip.ParseAddrPort(word)
			addr = withPort.Addr()
		}
		if err == nil && !isPrivate(addr.Unmap()) {
			return true
		}
	}
	return false
}

// namesSomebody reports whether the origin tells one client from another. A private proxy that
// says nothing of its client, or names a private address again, asks for everybody.
func (o *Origin) namesSomebody() bool {
	switch o.Kind {
	case Known:
		return true
	case Proxied:
		return hasPublicAddress(o.Forwarded)
	default:
		return o.Forwarded != ""
	}
}

package enforce

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strings"

	"github.com/caddy-robots/caddy-robots/crawler"
)

// ClientPrefix is how many bits of an address are one client's. A bit count of 0 is the default:
// 32 of IPv4 and 64 of IPv6, since whoever has a /64 has 2^64 addresses.
type ClientPrefix struct{ V4, V6 int }

// network returns the network of an address.
func (p ClientPrefix) network(addr netip.Addr) netip.Prefix {
	bits := p.V6
	if addr.Is4() {
		bits = p.V4
		if bits == 0 {
			bits = 32
		}
	}
	if bits == 0 {
		bits = 64
	}
	network, _ := addr.Prefix(bits) // the zero Prefix for bits that no address has
	return network
}

// site is whose paces, bans and traps count.
func (r *Request) site() string { return cmp.Or(r.Site, r.Host) }

// Evidence returns the address that speaks for the client: it has it. It is not valid where that
// is not known or, as with early data, not proved yet.
func (r *Request) Evidence() netip.Addr {
	if r.EarlyData || r.Origin.Kind == Proxied || r.Origin.Kind == Forgeable {
		return netip.Addr{}
	}
	return r.Origin.Addr
}

// OwnEvidence is Evidence for ranges that the owner wrote: on an intranet a private address is
// the client's, unless a proxy there asks for somebody outside.
func (r *Request) OwnEvidence() netip.Addr {
	if !r.EarlyData && r.Origin.Kind == Proxied && !r.Origin.namesSomebody() {
		return r.Origin.Addr
	}
	return r.Evidence()
}

// Client is whom traps, bans and the budgets of clients without a name go by. Where the address
// is known it is a network. Elsewhere the peer, what it forwards and the User-Agent make it up
// together. The zero Client is nobody: it is not trapped, not banned and not paced.
type Client struct {
	network netip.Prefix
	address string // the same, as it came, where it is one of IPv4

	peer, forwarded, userAgent string
}

// Client returns who sent the request. In early data it is nobody, since a sender has not shown
// yet that the address is its own.
func (r *Request) Client(p ClientPrefix) Client {
	if r.EarlyData {
		return Client{}
	}
	return r.presumedClient(p)
}

// presumedClient is Client in early data too: who it is if the address is its own.
func (r *Request) presumedClient(p ClientPrefix) Client {
	o := &r.Origin
	switch {
	case !o.namesSomebody():
		return Client{}
	case o.Kind == Known:
		c := Client{network: p.network(o.Addr)}
		if c.network.IsSingleIP() && !strings.Contains(o.Address, ":") {
			c.address = o.Address
		}
		return c
	}
	return Client{peer: o.Peer, forwarded: o.Forwarded, userAgent: r.UserAgent[:min(len(r.UserAgent), crawler.MaxLength)]}
}

// IsNobody reports whether nobody can be told from others.
func (c *Client) IsNobody() bool { return *c == Client{} }

// String names the client, in ASCII: an address, a network, or "10.0.0.2 for 203.0.113.9 #" and a
// hash of what the proxy at 10.0.0.2 has forwarded and of the User-Agent; "" for nobody.
func (c *Client) String() string {
	switch {
	case c.IsNobody():
		return ""
	case c.address != "":
		return c.address // without an allocation
	case c.network.IsSingleIP():
		return c.network.Addr().String()
	case c.network.IsValid():
		return c.network.String()
	}
	sum := sha256.Sum256([]byte(c.forwarded + "\x00" + c.userAgent))
	name := c.peer
	if addr, err := netip.ParseAddr(c.forwarded); err == nil {
		name += forClient + addr.WithZone("").String()
	}
	return name + " #" + hex.EncodeToString(sum[:8])
}

// forClient stands between a proxy and the client for which it asks.
const forClient = " for "

// IsOf reports whether the client with this name has an address, or is called just so.
func IsOf(client, address string) bool {
	if strings.EqualFold(client, address) {
		return true
	}
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	addr = addr.Unmap()
	if network, err := netip.ParsePrefix(client); err == nil {
		return network.Contains(addr)
	}
	name, _, _ := strings.Cut(client, " #")
	peer, forwarded, _ := strings.Cut(name, forClient)
	return peer == addr.String() || forwarded == addr.String()
}

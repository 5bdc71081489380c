package dns

import (
	"context"
	"net"
	"net/netip"
	"strings"
)

// A Resolver answers questions of the DNS. It is the part of net.Resolver that is needed,
// whose methods say what the results mean. An implementation must be safe for concurrent
// use and must return soon after its context is done.
type Resolver interface {
	// LookupAddr returns the names that the address claims to have (PTR).
	LookupAddr(ctx context.Context, addr string) (names []string, err error)
	// LookupNetIP returns the addresses of a host; network is "ip4" or "ip6". An error that
	// is a *net.DNSError with IsNotFound set says that there are none; any other says that
	// nothing is known.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// NewResolver returns a Resolver that asks the DNS server at address and no other, over UDP
// and, for long answers, TCP. The address is a host or "host:port"; the port is 53 if none is
// given. An empty address is the system's own resolver. As with that one, what the machine's
// hosts file says goes before the DNS.
func NewResolver(address string) Resolver {
	if address == "" {
		return net.DefaultResolver
	}
	server := serverAddress(address)
	return &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, server)
		},
	}
}

// serverAddress adds the port where there is none: to "192.0.2.1", "2001:db8::1" and
// "[2001:db8::1]".
func serverAddress(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil {
		if port == "" {
			port = "53"
		}
		return net.JoinHostPort(host, port)
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), "53")
}

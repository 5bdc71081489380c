package ipranges

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// ErrNotPublic is what RefusePrivate returns.
var ErrNotPublic = errors.New("its address is not a public one")

// RefusePrivate is a net.Dialer's Control that connects to public addresses only. It sees the
// address that a name resolved to, so that no name can point a fetch into this server's own
// network.
func RefusePrivate(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !IsPublic(ap.Addr()) {
		return ErrNotPublic
	}
	return nil
}

// notPublic are the networks that the methods of netip.Addr do not know as special (the IANA
// special-purpose address registries, and one address that no registry has).
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),    // carrier-grade NAT
	netip.MustParsePrefix("168.63.129.16/32"), // what Azure serves to its own machines
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/23"), // Teredo and other protocols
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), // 6to4
	netip.MustParsePrefix("3fff::/20"),
}

var (
	globalIPv6 = netip.MustParsePrefix("2000::/3")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
)

// IsPublic reports whether an address is reached over the public internet (the IANA
// special-purpose address registries). An IPv4 address behind the well-known NAT64 prefix
// counts as what it stands for. The zero Addr is not public.
func IsPublic(addr netip.Addr) bool {
	addr = addr.WithZone("").Unmap()
	if nat64.Contains(addr) {
		b := addr.As16()
		addr = netip.AddrFrom4([4]byte(b[12:]))
	}
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || (addr.Is6() && !globalIPv6.Contains(addr)) {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(addr) {
			return false
		}
	}
	return true
}

// privateNames are the ends of names that no public server has: of RFC 6761, 6762 and 8375, the one
// that ICANN keeps for private use, and those in use that it does not give out.
var privateNames = []string{
	".localhost", ".local", ".internal", ".home.arpa", ".lan", ".intranet", ".private", ".corp", ".home",
}

// IsPublicHost reports whether a host, as in a URL and without its port, may be one of the public
// internet: an address that is public, or a name that is not known to be of a private network. An
// IPv4 address in another form than four decimal numbers is none of these.
func IsPublicHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if addr, err := netip.ParseAddr(host); err == nil {
		return IsPublic(addr)
	}
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 || '0' <= host[dot+1] && host[dot+1] <= '9' { // what browsers read as numbers ends in one
		return false
	}
	return !slices.ContainsFunc(privateNames, func(end string) bool { return strings.HasSuffix(host, end) })
}

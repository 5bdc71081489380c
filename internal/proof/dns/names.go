package dns

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

const (
	maxNames      = 8 // of one address; honest robots have one
	maxNameLength = 253
)

// An outcome is what looking up an address brought. It does not depend on which robot the
// address claimed to be, and is never changed.
type outcome struct {
	names   []string // confirmed; in lower case, without a final dot
	certain bool     // no name was left untried, and no question without an answer
	alone   bool     // the look-up failed while that of another address was answered
	proved  []string // names that were confirmed before the look-up failed
}

// hasFailed reports whether nothing was found out.
func (o *outcome) hasFailed() bool { return len(o.names) == 0 && !o.certain }

var (
	nameless = &outcome{certain: true}
	failed   = &outcome{}
)

// lookUpNames finds the names of addr and keeps those that have addr as their address.
func lookUpNames(ctx context.Context, r Resolver, addr netip.Addr) *outcome {
	names, err := r.LookupAddr(ctx, addr.String())
	if len(names) == 0 { // with some, the error is about others that are not well-formed
		if err != nil && !isNotFound(err) {
			return failed
		}
		return nameless
	}
	o := &outcome{certain: len(names) <= maxNames}
	for _, name := range names[:min(len(names), maxNames)] {
		name, ok := cleanName(name)
		if !ok {
			continue
		}
		switch confirmed, err := confirms(ctx, r, name, addr); {
		case confirmed:
			o.names = append(o.names, name)
		case err != nil:
			o.certain = false
		}
	}
	return o
}

// confirms reports whether host has the address addr.
func confirms(ctx context.Context, r Resolver, host string, addr netip.Addr) (bool, error) {
	network := "ip6"
	if addr.Is4() {
		network = "ip4"
	}
	// The final dot keeps the machine's own search domains out of it.
	addrs, err := r.LookupNetIP(ctx, network, host+".")
	if err != nil && isNotFound(err) {
		err = nil
	}
	return slices.ContainsFunc(addrs, func(a netip.Addr) bool { return a.Unmap() == addr }), err
}

func isNotFound(err error) bool {
	var dnsError *net.DNSError
	return errors.As(err, &dnsError) && dnsError.IsNotFound
}

// cleanName returns the name of a host in lower case and without its final dot; not ok is one
// that cannot be a host's. The names are copied, since they may be parts of a large answer.
func cleanName(name string) (clean string, ok bool) {
	name = strings.TrimSuffix(name, ".")
	if name == "" || len(name) > maxNameLength {
		return "", false
	}
	lower := []byte(name)
	for i, c := range lower {
		if c <= ' ' || c >= 0x7f {
			return "", false
		}
		lower[i] = lowerASCII(c)
	}
	return string(lower), true
}

// standing judges the outcome for a robot whose hosts are under the suffixes.
func (o *outcome) standing(suffixes []string) enforce.Standing {
	for _, name := range o.names {
		for _, suffix := range suffixes {
			if isUnder(name, suffix) {
				return enforce.Verified
			}
		}
	}
	if o.certain {
		return enforce.Impostor
	}
	return enforce.Unverified
}

// lifetime is how long the outcome counts.
func (o *outcome) lifetime() time.Duration {
	switch {
	case len(o.names) > 0 && o.certain:
		return 24 * time.Hour
	case len(o.names) > 0 || o.certain:
		return time.Hour
	default:
		return 30 * time.Second
	}
}

// isUnder reports whether name, in lower case and without a final dot, is suffix or ends in it
// after a dot. Nothing is under an empty suffix. Only ASCII letters have case here: with
// Unicode's, a Kelvin sign would pass for a k.
func isUnder(name, suffix string) bool {
	suffix = strings.TrimPrefix(strings.TrimSuffix(suffix, "."), ".")
	rest := len(name) - len(suffix)
	if suffix == "" || rest < 0 || rest > 0 && name[rest-1] != '.' {
		return false
	}
	for i := range len(suffix) {
		if name[rest+i] != lowerASCII(suffix[i]) {
			return false
		}
	}
	return true
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

package dns

import (
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/caddy-robots/caddy-robots/internal/testutil"
)

// A dnsZone is what a dnsServer knows. Names are absolute and in lower case.
type dnsZone struct {
	ptr      map[string][]string // by address
	host     map[string][]string // addresses by name
	cname    map[string]string
	servfail map[string]bool            // by name or address
	held     map[string]<-chan struct{} // answered once the channel is closed; by address
}

// A dnsServer answers from a zone over UDP and TCP on a loopback port.
type dnsServer struct{ *testutil.DNSServer }

func startDNSServer(t *testing.T, zone dnsZone) dnsServer {
	t.Helper()
	z := testutil.DNSZone{Records: make(map[string][]string), Held: zone.held}
	for address, names := range zone.ptr {
		z.Records[address] = names
	}
	for name, addresses := range zone.host {
		z.Records[name] = addresses
	}
	for name, alias := range zone.cname {
		z.Records[name] = []string{alias}
	}
	for key := range zone.servfail {
		z.Failing = append(z.Failing, key)
	}
	return dnsServer{testutil.StartDNS(t, z)}
}

// dns returns a Verifier that asks s and is patient, so that what is tested is the answer.
func (s dnsServer) dns(t *testing.T) *Verifier {
	d := New(Options{Resolver: NewResolver(s.Address), Patience: 2 * lookupTimeout})
	t.Cleanup(d.Close)
	return d
}

func (s dnsServer) count(kind dnsmessage.Type) int { return s.AskedFor(uint16(kind)) }
func (s dnsServer) countTCP() int                  { return s.AskedOverTCP() }

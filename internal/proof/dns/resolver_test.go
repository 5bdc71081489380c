package dns

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

var google = []string{"googlebot.com"}

var realDNS = []struct {
	name string
	addr string
	zone dnsZone
	want enforce.Standing
}{
	{"IPv4 name and address confirm each other", "192.0.2.1", dnsZone{
		ptr:  map[string][]string{"192.0.2.1": {"crawl-192-0-2-1.googlebot.com."}},
		host: map[string][]string{"crawl-192-0-2-1.googlebot.com.": {"192.0.2.9", "192.0.2.1"}},
	}, enforce.Verified},
	{"IPv6 name and address confirm each other", "2001:db8::1", dnsZone{
		ptr:  map[string][]string{"2001:db8::1": {"crawl-6.googlebot.com."}},
		host: map[string][]string{"crawl-6.googlebot.com.": {"192.0.2.1", "2001:db8::1"}},
	}, enforce.Verified},
	{"the name is an alias of a host with the address", "192.0.2.2", dnsZone{
		ptr:   map[string][]string{"192.0.2.2": {"a.googlebot.com."}},
		cname: map[string]string{"a.googlebot.com.": "b.googlebot.com."},
		host:  map[string][]string{"b.googlebot.com.": {"192.0.2.2"}},
	}, enforce.Verified},
	{"the name lies, it has another address", "192.0.2.3", dnsZone{
		ptr:  map[string][]string{"192.0.2.3": {"crawl-3.googlebot.com."}},
		host: map[string][]string{"crawl-3.googlebot.com.": {"192.0.2.33"}},
	}, enforce.Impostor},
	{"the name lies, it does not exist", "192.0.2.4", dnsZone{
		ptr: map[string][]string{"192.0.2.4": {"crawl-4.googlebot.com."}},
	}, enforce.Impostor},
	{"the name is honest, and another operator's", "192.0.2.5", dnsZone{
		ptr:  map[string][]string{"192.0.2.5": {"googlebot.com.evil.example."}},
		host: map[string][]string{"googlebot.com.evil.example.": {"192.0.2.5"}},
	}, enforce.Impostor},
	{"no name", "192.0.2.6", dnsZone{}, enforce.Impostor},
	{"the second name confirms", "192.0.2.7", dnsZone{
		ptr: map[string][]string{"192.0.2.7": {"host.example.", "crawl-7.googlebot.com."}},
		host: map[string][]string{
			"host.example.": {"192.0.2.7"}, "crawl-7.googlebot.com.": {"192.0.2.7"},
		},
	}, enforce.Verified},
	{"the server fails for the address", "192.0.2.8", dnsZone{
		servfail: map[string]bool{"192.0.2.8": true},
	}, enforce.Unverified},
	{"the server fails for the name", "192.0.2.9", dnsZone{
		ptr:      map[string][]string{"192.0.2.9": {"crawl-9.googlebot.com."}},
		servfail: map[string]bool{"crawl-9.googlebot.com.": true},
	}, enforce.Unverified},
	{"the name is an alias of itself, through another", "192.0.2.10", dnsZone{
		ptr:   map[string][]string{"192.0.2.10": {"a.googlebot.com."}},
		cname: map[string]string{"a.googlebot.com.": "b.googlebot.com.", "b.googlebot.com.": "a.googlebot.com."},
	}, enforce.Impostor},
}

func TestCheckByRealDNS(t *testing.T) {
	for _, test := range realDNS {
		t.Run(test.name, func(t *testing.T) {
			s := startDNSServer(t, test.zone)
			got := s.dns(t).Check(context.Background(), netip.MustParseAddr(test.addr), google)
			if got != test.want {
				t.Errorf("Check(%s, %q) = %v, want %v", test.addr, google, got, test.want)
			}
			if s.count(dnsmessage.TypePTR) == 0 {
				t.Errorf("the server was not asked for a name of %s", test.addr)
			}
		})
	}
}

func TestASlowDNSServerIsUnverifiedFirstAndVerifiedLater(t *testing.T) {
	answering := make(chan struct{})
	s := startDNSServer(t, dnsZone{
		ptr:  map[string][]string{"192.0.2.1": {"crawl.googlebot.com."}},
		host: map[string][]string{"crawl.googlebot.com.": {"192.0.2.1"}},
		held: map[string]<-chan struct{}{"192.0.2.1": answering},
	})
	d, addr := s.dns(t), netip.MustParseAddr("192.0.2.1")
	leaving, leave := context.WithCancel(context.Background())
	leave()
	if got := d.Check(leaving, addr, google); got != enforce.Unverified {
		t.Errorf("Check before the server answers = %v, want %v", got, enforce.Unverified)
	}
	close(answering)
	if got := d.Check(context.Background(), addr, google); got != enforce.Verified {
		t.Errorf("Check after the server answered = %v, want %v", got, enforce.Verified)
	}
	if got := s.count(dnsmessage.TypePTR); got != 1 {
		t.Errorf("the server was asked %d times for the name, want 1", got)
	}
}

func TestAnAnswerTooLongForUDPIsReadOverTCP(t *testing.T) {
	names := []string{"crawl.googlebot.com."}
	for i := range maxNames - 1 {
		names = append(names, fmt.Sprintf("%063d.%063d.%063d.example.", i, i, i))
	}
	s := startDNSServer(t, dnsZone{
		ptr:  map[string][]string{"192.0.2.1": names},
		host: map[string][]string{"crawl.googlebot.com.": {"192.0.2.1"}},
	})
	if got := s.dns(t).Check(context.Background(), netip.MustParseAddr("192.0.2.1"), google); got != enforce.Verified {
		t.Errorf("Check of an address with %d long names = %v, want %v", len(names), got, enforce.Verified)
	}
	if s.countTCP() == 0 {
		t.Error("the server was not asked over TCP")
	}
}

func TestOfThousandsOfNamesOnlyAFewAreTried(t *testing.T) {
	var names []string
	for i := range 2500 {
		names = append(names, fmt.Sprintf("c%d.googlebot.com.", i))
	}
	s := startDNSServer(t, dnsZone{ptr: map[string][]string{"192.0.2.1": names}})
	got := s.dns(t).Check(context.Background(), netip.MustParseAddr("192.0.2.1"), google)
	if got != enforce.Unverified {
		t.Errorf("Check of an address with %d names = %v, want %v, since not all were tried", len(names), got, enforce.Unverified)
	}
	if s.countTCP() == 0 {
		t.Error("the names were not read: nothing came over TCP")
	}
	if got := s.count(dnsmessage.TypeA); got != maxNames {
		t.Errorf("%d names were tried, want %d", got, maxNames)
	}
}

func TestAServerThatIsNotThereIsUnverified(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	d := New(Options{Resolver: NewResolver(listener.Addr().String()), Patience: 2 * lookupTimeout})
	defer d.Close()
	if got := d.Check(context.Background(), netip.MustParseAddr("192.0.2.1"), google); got != enforce.Unverified {
		t.Errorf("Check by a server at %s that is not there = %v, want %v", listener.Addr(), got, enforce.Unverified)
	}
}

func TestNoServerIsTheSystemsResolver(t *testing.T) {
	if got := NewResolver(""); got != Resolver(net.DefaultResolver) {
		t.Errorf("NewResolver(%q) = %v, want net.DefaultResolver", "", got)
	}
}

func TestServerAddress(t *testing.T) {
	tests := []struct{ address, want string }{
		{"127.0.0.1:5353", "127.0.0.1:5353"},
		{"127.0.0.1", "127.0.0.1:53"},
		{"127.0.0.1:", "127.0.0.1:53"},
		{"2001:db8::1", "[2001:db8::1]:53"},
		{"[2001:db8::1]", "[2001:db8::1]:53"},
		{"[2001:db8::1]:5353", "[2001:db8::1]:5353"},
		{"dns.example", "dns.example:53"},
	}
	for _, test := range tests {
		if got := serverAddress(test.address); got != test.want {
			t.Errorf("serverAddress(%q) = %q, want %q", test.address, got, test.want)
		}
	}
}

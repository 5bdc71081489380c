package enforce

import (
	"strings"
	"testing"
)

// clientOf names the client of a request with an origin.
func clientOf(c Connection, agent string, p ClientPrefix) string {
	r := Request{Origin: c.Origin(), UserAgent: agent}
	client := r.Client(p)
	return client.String()
}

func TestAClientIsItsNetworkWhereItsAddressIsKnown(t *testing.T) {
	for _, test := range []struct {
		address string
		p       ClientPrefix
		want    string
	}{
		{"203.0.113.7", ClientPrefix{}, "203.0.113.7"},
		{"::ffff:203.0.113.7", ClientPrefix{}, "203.0.113.7"},
		{"2001:db8:1:2::1", ClientPrefix{}, "2001:db8:1:2::/64"},
		{"2001:db8:1:2:3::4", ClientPrefix{}, "2001:db8:1:2::/64"},
		{"2001:db8:1:2::1", ClientPrefix{24, 56}, "2001:db8:1::/56"},
		{"203.0.113.7", ClientPrefix{24, 56}, "203.0.113.0/24"},
		{"2001:db8:1:2::1", ClientPrefix{32, 128}, "2001:db8:1:2::1"},
		{"127.0.0.1", ClientPrefix{}, ""},
		{"", ClientPrefix{}, ""},
	} {
		if got := clientOf(Connection{Peer: test.address, Client: test.address}, "bot", test.p); got != test.want {
			t.Errorf("%s, %v: got %q, want %q", test.address, test.p, got, test.want)
		}
	}
}

func TestBehindAProxyAClientIsAllThatIsKnownOfIt(t *testing.T) {
	proxy := func(address, forwarded string) Connection {
		c := Connection{Peer: address + ":1", Client: address}
		if forwarded != "" {
			c.Header = forwardedFor(forwarded)
		}
		return c
	}
	one := clientOf(proxy("10.0.0.2", "203.0.113.9"), chrome, ClientPrefix{})
	if !strings.HasPrefix(one, "10.0.0.2 for 203.0.113.9 #") {
		t.Errorf("got %q", one)
	}
	for what, other := range map[string]string{
		"another peer":       clientOf(proxy("10.0.0.3", "203.0.113.9"), chrome, ClientPrefix{}),
		"another client":     clientOf(proxy("10.0.0.2", "203.0.113.10"), chrome, ClientPrefix{}),
		"another User-Agent": clientOf(proxy("10.0.0.2", "203.0.113.9"), "bot", ClientPrefix{}),
		"a public peer":      clientOf(proxy("198.51.100.2", "203.0.113.9"), chrome, ClientPrefix{}),
	} {
		if other == one || other == "" {
			t.Errorf("%s: got %q, as for the first", what, other)
		}
	}
	for _, nobody := range []Connection{proxy("10.0.0.2", ""), proxy("10.0.0.2", "172.17.0.1"), proxy("127.0.0.1", "unknown")} {
		if got := clientOf(nobody, chrome, ClientPrefix{}); got != "" {
			t.Errorf("%+v: got %q, want nobody", nobody, got)
		}
	}
}

func TestTheOwnersRangesHoldOnAnIntranet(t *testing.T) {
	for _, test := range []struct{ address, forwarded, own, other string }{
		{"10.0.0.9", "", "10.0.0.9", "invalid IP"},
		{"10.0.0.9", "203.0.113.9", "invalid IP", "invalid IP"}, // a proxy asks for somebody outside
		{"10.0.0.9", "10.0.0.3", "10.0.0.9", "invalid IP"},
		{"203.0.113.9", "", "203.0.113.9", "203.0.113.9"},
		{"203.0.113.9", "66.249.66.1", "203.0.113.9", "203.0.113.9"},
	} {
		c := Connection{Peer: test.address + ":1", Client: test.address}
		if test.forwarded != "" {
			c.Header = forwardedFor(test.forwarded)
		}
		r := Request{Origin: c.Origin()}
		if own, other := r.OwnEvidence().String(), r.Evidence().String(); own != test.own || other != test.other {
			t.Errorf("%s for %q: got %s to the owner's ranges and %s to others; want %s, %s", test.address, test.forwarded, own, other, test.own, test.other)
		}
	}
}

func TestAClientIsFoundByItsAddress(t *testing.T) {
	for _, test := range []struct {
		client, address string
		want            bool
	}{
		{"203.0.113.7", "203.0.113.7", true}, {"203.0.113.7", "203.0.113.8", false},
		{"2001:db8:1:2::/64", "2001:db8:1:2::99", true}, {"2001:db8:1:2::/64", "2001:DB8:1:2::/64", true}, {"2001:db8:1:2::/64", "2001:db8:1:3::1", false},
		{"10.0.0.2 for 203.0.113.9 #0011223344556677", "203.0.113.9", true}, {"10.0.0.2 for 203.0.113.9 #0011223344556677", "10.0.0.2", true},
		{"10.0.0.2 for 203.0.113.9 #0011223344556677", "203.0.113.90", false}, {"10.0.0.2 #0011223344556677", "10.0.0.2", true},
		{"10.0.0.2 #0011223344556677", "10.0.0.2 #0011223344556677", true}, {"", "203.0.113.7", false},
	} {
		if got := IsOf(test.client, test.address); got != test.want {
			t.Errorf("%q, %q: got %t, want %t", test.client, test.address, got, test.want)
		}
	}
}

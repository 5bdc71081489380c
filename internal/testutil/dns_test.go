package testutil

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// resolverOf returns a resolver that asks a server.
func resolverOf(s *DNSServer) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, s.Address)
	}}
}

func TestTheDNSServerAnswersFromItsZone(t *testing.T) {
	s := StartDNS(t, DNSZone{
		Records: map[string][]string{
			"192.0.2.1": {"a.example."}, "2001:db8::1": {"a.example.", "b.example."},
			"a.example.": {"192.0.2.1", "2001:db8::1"}, "alias.example.": {"alias2.example."}, "alias2.example.": {"a.example."},
			"circle.example.": {"circle2.example."}, "circle2.example.": {"circle.example."},
		},
		Failing: []string{"192.0.2.9", "broken.example."},
	})
	r := resolverOf(s)
	for _, c := range []struct{ key, want string }{
		{"192.0.2.1", "a.example."}, {"2001:db8::1", "a.example. b.example."}, {"192.0.2.2", "not found"}, {"192.0.2.9", "failed"},
		{"a.example.", "192.0.2.1 2001:db8::1"}, {"A.EXAMPLE.", "192.0.2.1 2001:db8::1"}, {"alias.example.", "192.0.2.1 2001:db8::1"},
		{"circle.example.", "not found"}, {"nobody.example.", "not found"}, {"broken.example.", "failed"},
	} {
		lookUp := r.LookupHost
		if net.ParseIP(c.key) != nil {
			lookUp = r.LookupAddr
		}
		values, err := lookUp(t.Context(), c.key)
		slices.Sort(values)
		got := strings.Join(values, " ")
		var failure *net.DNSError
		if errors.As(err, &failure) {
			got = map[bool]string{true: "not found", false: "failed"}[failure.IsNotFound]
		}
		if got != c.want {
			t.Errorf("%s: got %q (%v), want %q", c.key, got, err, c.want)
		}
	}
	if a, b, c := s.Asked("192.0.2.1"), s.Asked("a.example."), s.Asked("unheard.example."); a != 1 || b < 2 || c != 0 {
		t.Errorf("Asked: got %d, %d and %d, want 1, at least 2 and 0", a, b, c)
	}
	if got := s.AskedFor(dns.TypePTR); got < 4 {
		t.Errorf("AskedFor PTR: got %d, want at least 4", got)
	}
	if got := s.AskedOverTCP(); got != 0 {
		t.Errorf("AskedOverTCP: got %d, want 0", got)
	}
}

func TestLongAnswersOfTheDNSServerComeOverTCP(t *testing.T) {
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("%s%d.example.", strings.Repeat("x", 50), i))
	}
	s := StartDNS(t, DNSZone{Records: map[string][]string{"192.0.2.1": names}})
	if got, err := resolverOf(s).LookupAddr(t.Context(), "192.0.2.1"); err != nil || len(got) != len(names) {
		t.Errorf("got %d names, error %v, want %d", len(got), err, len(names))
	}
	if s.AskedOverTCP() == 0 {
		t.Error("nothing was asked over TCP")
	}
}

func TestTheDNSServerHoldsItsAnswer(t *testing.T) {
	until := make(chan struct{})
	s := StartDNS(t, DNSZone{
		Records: map[string][]string{"192.0.2.1": {"a.example."}},
		Held:    map[string]<-chan struct{}{"192.0.2.1": until, "192.0.2.2": nil},
	})
	client, err := dns.Dial("udp", s.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.WriteMsg(new(dns.Msg).SetQuestion(queryName("192.0.2.2"), dns.TypePTR)); err != nil { // held until the server stops
		t.Fatal(err)
	}
	got := make(chan []string)
	go func() {
		names, _ := resolverOf(s).LookupAddr(t.Context(), "192.0.2.1")
		got <- names
	}()
	for s.Asked("192.0.2.1") == 0 || s.Asked("192.0.2.2") == 0 {
		select {
		case names := <-got:
			t.Fatalf("got %v before the answer was due", names)
		default:
		}
	}
	close(until)
	if names := <-got; !slices.Equal(names, []string{"a.example."}) {
		t.Errorf("got %v, want a.example.", names)
	}
}

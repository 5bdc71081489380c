package proof

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/proof/dns"
	"github.com/caddy-robots/caddy-robots/internal/proof/webbotauth"
)

// googleDNS knows one host of Google's, at 192.0.2.1.
type googleDNS struct{ fails bool }

func (g googleDNS) LookupAddr(_ context.Context, addr string) ([]string, error) {
	switch {
	case g.fails:
		return nil, context.DeadlineExceeded
	case addr == "192.0.2.1":
		return []string{"crawl.googlebot.com."}, nil
	}
	return nil, &net.DNSError{IsNotFound: true}
}

func (googleDNS) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
}

// signer says of each signed message what is set.
type signer struct {
	id       string
	standing enforce.Standing
	reason   string
	asked    *webbotauth.Message
}

func (s signer) Verify(_ context.Context, m webbotauth.Message, _ webbotauth.Signers) (string, enforce.Standing, string) {
	*s.asked = m
	return s.id, s.standing, s.reason
}

func testProver(t *testing.T, resolver dns.Resolver, signatures Signatures, claims ...Claim) *Prover {
	t.Helper()
	names := dns.New(dns.Options{Resolver: resolver, Patience: time.Minute})
	t.Cleanup(names.Close)
	lists, _ := testLists(nil, memory{})
	signers := webbotauth.Signers{"agent": {Token: "AgentBot"}, "google": {Token: "googlebot"}, "openai": {Token: "ChatGPT-User"}}
	return New(Options{Claims: claims, DNS: names, Lists: lists, Signatures: signatures, Signers: signers})
}

func TestARobotIsProvedByNameAndAddress(t *testing.T) {
	byDNS, byRange := Claim{Token: "Googlebot", DNS: []string{"googlebot.com"}}, Claim{Token: "Googlebot", Ranges: []string{"192.0.2.0/24"}}
	either := Claim{Token: "googlebot", DNS: byDNS.DNS, Ranges: []string{"198.51.100.1"}}
	lost := Claim{Token: "Googlebot", Ranges: []string{"/nonexistent/list.json"}}
	robot := &crawler.Identity{Class: crawler.Robot, Name: "Googlebot-Image", Text: "Googlebot-Image/1.0", Products: []string{"Googlebot-Image"}, Hash: 7}
	for _, test := range []struct {
		name     string
		claim    Claim
		resolver googleDNS
		address  string
		want     string
	}{
		{"its host", byDNS, googleDNS{}, "192.0.2.1", "Googlebot verified"},
		{"mapped into IPv6", byDNS, googleDNS{}, "::ffff:192.0.2.1", "Googlebot verified"},
		{"another host", byDNS, googleDNS{}, "192.0.2.2", "Googlebot impostor claims to be Googlebot, but its address is not one of that robot's"},
		{"the name server fails", byDNS, googleDNS{fails: true}, "192.0.2.1", "Googlebot unverified"},
		{"no address", byDNS, googleDNS{}, "", "Googlebot unverified claims to be Googlebot, which nothing shows: its address is not known, as it comes through a proxy"},
		{"in its range", byRange, googleDNS{}, "192.0.2.9", "Googlebot verified"},
		{"out of its range", byRange, googleDNS{}, "192.0.3.9", "Googlebot impostor claims to be Googlebot, but its address is not one of that robot's"},
		{"in the range, not by name", either, googleDNS{}, "198.51.100.1", "googlebot verified"},
		{"by name, out of the range", either, googleDNS{}, "192.0.2.1", "googlebot verified"},
		{"out of both", either, googleDNS{}, "203.0.113.1", "googlebot impostor claims to be googlebot, but its address is not one of that robot's"},
		{"out of the range, the name server fails", either, googleDNS{fails: true}, "203.0.113.1", "googlebot impostor claims to be googlebot, but its address is not one of that robot's"},
		{"a list that cannot be read", lost, googleDNS{}, "203.0.113.1", "Googlebot unverified"},
		{"another robot's claim", Claim{Token: "bingbot", DNS: byDNS.DNS}, googleDNS{}, "192.0.2.1", ""},
	} {
		p := testProver(t, test.resolver, nil, test.claim)
		for range 2 { // the second time, the claim is remembered
			got := describe(p.Prove(t.Context(), enforce.Request{Origin: enforce.OriginAt(test.address)}, robot))
			if got != test.want {
				t.Errorf("%s: Prove = %q, want %q", test.name, got, test.want)
			}
		}
	}
}

func describe(p enforce.Proof) string {
	if p == (enforce.Proof{}) {
		return ""
	}
	text := p.Claimed + " " + p.Standing.String()
	if p.Signed {
		text = "signed " + text
	}
	return strings.TrimSpace(text + " " + p.Reason)
}

func TestARobotWithoutAClaimIsProvedByItsSignature(t *testing.T) {
	robot := &crawler.Identity{Class: crawler.Robot, Name: "bot", Text: "bot/1.0", Products: []string{"bot"}}
	signed := enforce.Request{
		Method: "GET", Scheme: "https", Authority: "www.example.org", Target: "/a%20b?c=d?e",
		Header: map[string][]string{"Signature-Agent": {"x"}, "Signature": {"y"}},
	}
	var asked webbotauth.Message
	for _, test := range []struct {
		by   signer
		want string
	}{
		{signer{"agent", enforce.Verified, "", &asked}, "signed AgentBot verified"},
		{signer{"agent", enforce.Impostor, "the signature has expired", &asked},
			"signed AgentBot impostor signs as AgentBot, but the signature has expired"},
		{signer{"agent", enforce.Unverified, "late", &asked}, ""},
	} {
		p := testProver(t, googleDNS{}, test.by, Claim{Token: "Googlebot", DNS: []string{"googlebot.com"}})
		if got := describe(p.Prove(t.Context(), signed, robot)); got != test.want {
			t.Errorf("Prove = %q, want %q", got, test.want)
		}
	}
	if asked.Method != "GET" || asked.Scheme != "https" || asked.Authority != "www.example.org" || asked.Path != "/a%20b" || asked.RawQuery != "c=d?e" {
		t.Errorf("the message is %+v, want the request", asked)
	}
	asked = webbotauth.Message{}
	unsigned := enforce.Request{Method: "GET", Header: map[string][]string{"Signature": {"y"}}}
	if got := testProver(t, googleDNS{}, signer{standing: enforce.Verified, asked: &asked}).Signer(t.Context(), unsigned); got != (enforce.Proof{}) || asked.Method != "" {
		t.Errorf("Signer without Signature-Agent = %+v, asked for %+v, want neither", got, asked)
	}
}

// A signature proves its signer's token. It is no proof of another name, be it one of the same
// operator, and does not clear who claims one that he has not.
func TestASignatureVouchesForNoOtherName(t *testing.T) {
	signed := enforce.Request{Origin: enforce.OriginAt("203.0.113.1"), Header: map[string][]string{"Signature-Agent": {"x"}, "Signature": {"y"}}}
	for _, test := range []struct{ signs, calls, want string }{
		{"google", "Googlebot", "signed googlebot verified"},
		{"agent", "Googlebot", "Googlebot impostor claims to be Googlebot, but its address is not one of that robot's"},
		{"openai", "Googlebot", "Googlebot impostor claims to be Googlebot, but its address is not one of that robot's"},
		{"openai", "ChatGPT-User", "signed ChatGPT-User verified"},
		{"openai", "GPTBot", ""}, // it stays GPTBot
		{"openai", "bingbot", "signed ChatGPT-User verified"},
		{"openai", "UnheardOfBot", "signed ChatGPT-User verified"},
	} {
		robot := crawler.Identify(test.calls + "/1.0")
		by := signer{test.signs, enforce.Verified, "", new(webbotauth.Message)}
		p := testProver(t, googleDNS{}, by, Claim{Token: "Googlebot", Ranges: []string{"192.0.2.0/24"}})
		if got := describe(p.Prove(t.Context(), signed, &robot)); got != test.want {
			t.Errorf("%s, signed by %s: Prove = %q, want %q", test.calls, test.signs, got, test.want)
		}
	}
}

func TestOnlyRobotsClaim(t *testing.T) {
	p := testProver(t, googleDNS{}, nil, Claim{Token: "Googlebot", DNS: []string{"googlebot.com"}})
	for class, want := range map[crawler.Class]bool{crawler.Robot: true, crawler.App: false, crawler.Browser: false, crawler.Unstated: false} {
		who := &crawler.Identity{Class: class, Name: "Googlebot", Text: "Googlebot/2.1", Products: []string{"Googlebot"}}
		if token, ok := p.ClaimOf(who); ok != want || ok != (token == "Googlebot") {
			t.Errorf("ClaimOf a %v = %q, %v, want %v", class, token, ok, want)
		}
	}
	if _, ok := (*Prover)(nil).ClaimOf(&crawler.Identity{Class: crawler.Robot, Text: "Googlebot"}); ok {
		t.Error("ClaimOf of nil is ok")
	}
	if got := (*Prover)(nil).Prove(t.Context(), enforce.Request{}, &crawler.Identity{Class: crawler.Robot}); got != (enforce.Proof{}) {
		t.Errorf("Prove of nil = %+v, want nothing", got)
	}
}

func TestCheckAtOnceSaysThatMoreMayBeKnown(t *testing.T) {
	from := func(address string) enforce.Request { return enforce.Request{Origin: enforce.OriginAt(address)} }
	robot := from("192.0.2.1")
	p := testProver(t, googleDNS{}, nil, Claim{Token: "Googlebot", DNS: []string{"googlebot.com"}}, Claim{Token: "bingbot", Ranges: []string{"192.0.2.0/24"}})
	for _, test := range []struct {
		token   string
		request enforce.Request
		want    enforce.Standing
		pending bool
	}{
		{"Googlebot", enforce.Request{}, enforce.Unverified, false},
		{"bingbot", robot, enforce.Verified, false},
		{"bingbot", from("198.51.100.1"), enforce.Impostor, false},
		{"unheard-of", robot, enforce.Unverified, false},
	} {
		if got, pending := p.CheckAtOnce(test.token, test.request); got != test.want || pending != test.pending {
			t.Errorf("CheckAtOnce(%s, %v) = %v, %v, want %v, %v", test.token, test.request.Origin.Addr, got, pending, test.want, test.pending)
		}
	}
	failing := testProver(t, googleDNS{fails: true}, nil, Claim{Token: "Googlebot", DNS: []string{"googlebot.com"}})
	if got, pending := failing.CheckAtOnce("Googlebot", robot); got != enforce.Unverified || !pending {
		t.Errorf("CheckAtOnce before an answer = %v, %v, want unverified, pending", got, pending)
	}
	if got := p.Check(t.Context(), "Googlebot", robot); got != enforce.Verified {
		t.Errorf("Check = %v, want verified", got)
	}
}

func TestAKnownRobotCostsNoAllocation(t *testing.T) {
	p := testProver(t, googleDNS{}, nil, Known()...)
	robot := &crawler.Identity{Class: crawler.Robot, Name: "Googlebot", Text: "Googlebot/2.1", Products: []string{"Googlebot"}, Hash: 7}
	r := enforce.Request{Origin: enforce.OriginAt("192.0.2.1")}
	prove := func() { p.Prove(t.Context(), r, robot) }
	prove()
	if got := testing.AllocsPerRun(100, prove); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}

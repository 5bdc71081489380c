package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/testutil"
)

// Further addresses that claim to be Googlebot.
const (
	manyNamed    = "192.0.2.2"     // a real one, with more names than a datagram holds
	likeGoogle   = "198.51.100.2"  // of evilgooglebot.com
	underEvil    = "198.51.100.3"  // of googlebot.com.evil.example
	nameless     = "198.51.100.4"  // without a name
	fakeAddress6 = "2001:db8::666" // its name is a real one's
	failingPTR   = "203.0.113.1"   // the DNS fails for it
	failingHost  = "203.0.113.2"   // the DNS fails for its name
	slowReal     = "203.0.113.3"
	slowFake     = "203.0.113.4"
)

// googleZone is what the DNS says of them.
func googleZone() testutil.DNSZone {
	z := testutil.DNSZone{
		Records: map[string][]string{
			realAddress:                      {"crawl-192-0-2-1.googlebot.com."},
			realAddress6:                     {"crawl-6.googlebot.com."},
			fakeAddress:                      {"crawl-192-0-2-1.googlebot.com."},
			fakeAddress6:                     {"crawl-6.googlebot.com."},
			likeGoogle:                       {"crawl.evilgooglebot.com."},
			underEvil:                        {"googlebot.com.evil.example."},
			failingHost:                      {"broken.googlebot.com."},
			slowReal:                         {"slow.googlebot.com."},
			slowFake:                         {"slow.evil.example."},
			"crawl-192-0-2-1.googlebot.com.": {realAddress},
			"crawl-6.googlebot.com.":         {realAddress6, realAddress},
			"crawl.evilgooglebot.com.":       {likeGoogle},
			"googlebot.com.evil.example.":    {underEvil},
			"slow.googlebot.com.":            {slowReal},
			"slow.evil.example.":             {slowFake},
			"many.googlebot.com.":            {manyNamed},
		},
		Failing: []string{failingPTR, "broken.googlebot.com."},
	}
	for i := range 7 {
		long := fmt.Sprintf("%d%s.", i, strings.Repeat("x", 60))
		z.Records[manyNamed] = append(z.Records[manyNamed], strings.Repeat(long, 3)+"example.")
	}
	z.Records[manyNamed] = append(z.Records[manyNamed], "many.googlebot.com.")
	return z
}

// dnsOption is the global option that names the DNS server of a test.
const dnsOption = "\trobots {\n\t\tresolver {$DNS}\n\t}\n"

const dnsSites = standings + `
(google) {
	robots {
		source text <<ROBOTS
			User-agent: Googlebot
			Disallow: /search

			User-agent: *
			Disallow: /private/
			ROBOTS
		serve
		verify Googlebot dns googlebot.com
		impostors {args[0]}
	}
	import standings
}
http://unnamed.test:{$PORT} {
	import google unnamed
}
http://refuse.test:{$PORT} {
	import google refuse
}
http://observe.test:{$PORT} {
	import google observe
}
http://paced.test:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: *
			Crawl-delay: 3600
			ROBOTS
		verify Googlebot dns googlebot.com
		impostors observe
	}
	import standings
}
`

// startWithDNS runs the sites with a DNS server of their own. What the DNS says of some
// clients is known when it returns.
func startWithDNS(t *testing.T) (*caddy, *testutil.DNSServer) {
	t.Helper()
	dns := testutil.StartDNS(t, googleZone())
	c := startWith(t, withGlobal(proxied, dnsOption)+dnsSites, map[string]string{"DNS": dns.Address})
	for _, address := range []string{realAddress, realAddress6, manyNamed} {
		c.settle(t, "unnamed.test", address, "verified")
	}
	for _, address := range impostorAddresses {
		c.settle(t, "unnamed.test", address, "impostor")
	}
	return c, dns
}

var impostorAddresses = []string{fakeAddress, fakeAddress6, likeGoogle, underEvil, nameless}

func TestTheDNSTellsRobotsFromImpostors(t *testing.T) {
	t.Parallel()
	c, dns := startWithDNS(t)
	for _, site := range []struct {
		host string
		// What an impostor gets at the path that only Googlebot's record disallows, at the
		// one that only the "*" record does, and at any other.
		search, private, page int
	}{
		{"unnamed.test", 200, 403, 200},
		{"refuse.test", 403, 403, 403},
		{"observe.test", 403, 200, 200},
	} {
		for _, real := range []string{realAddress, realAddress6, manyNamed} {
			c.expectFrom(t, real, site.host, "/search", googlebot, 403, "")
			c.expectFrom(t, real, site.host, "/private/", googlebot, 200, "verified")
			c.expectFrom(t, real, site.host, "/page", googlebot, 200, "verified")
		}
		// One that writes the header itself, in front of what the proxy adds.
		forged := realAddress + ", " + fakeAddress
		for _, fake := range append([]string{forged}, impostorAddresses...) {
			c.expectFrom(t, fake, site.host, "/search", googlebot, site.search, "")
			c.expectFrom(t, fake, site.host, "/private/", googlebot, site.private, "")
			c.expectFrom(t, fake, site.host, "/page", googlebot, site.page, "")
			c.expectFrom(t, fake, site.host, "/robots.txt", googlebot, 200, "")
			c.expectFrom(t, fake, site.host, "/search", bingbot, 200, "unverified")
		}
	}
	for _, address := range []string{realAddress, manyNamed, nameless} {
		want := 1
		if address == manyNamed {
			want = 2 // over UDP, and over TCP
		}
		if got := dns.Asked(address); got != want {
			t.Errorf("questions for the names of %s: got %d, want %d, and the answer remembered", address, got, want)
		}
	}
	if got := dns.AskedOverTCP(); got == 0 {
		t.Errorf("connections to the DNS over TCP: got %d, want at least 1, for the names of %s", got, manyNamed)
	}
}

func TestPeopleAreServedWhereverTheyAreAndTheDNSIsNotAskedOfThem(t *testing.T) {
	t.Parallel()
	c, dns := startWithDNS(t)
	for _, host := range []string{"unnamed.test", "refuse.test", "observe.test", "paced.test"} {
		for _, address := range append([]string{realAddress, failingPTR, personal}, impostorAddresses...) {
			for _, path := range []string{"/search", "/private/", "/page"} {
				c.expectFrom(t, address, host, path, chrome, 200, "page")
				c.expectFrom(t, address, host, path, curl, 200, "page")
			}
		}
	}
	for _, address := range []string{personal, failingPTR} {
		if got := dns.Asked(address); got != 0 {
			t.Errorf("questions for the names of %s, where only people and apps came from: got %d, want 0", address, got)
		}
	}
}

func TestAnImpostorIsToldOfInTheLogAndInTheAnswer(t *testing.T) {
	t.Parallel()
	c, _ := startWithDNS(t)
	a := c.expectFrom(t, underEvil, "refuse.test", "/page", googlebot, 403, "")
	if !strings.Contains(a.body, "Googlebot is not who it says it is") {
		t.Errorf("GET /page for an impostor: got the answer %q, which does not say why", a.body)
	}
	c.expectFrom(t, underEvil, "observe.test", "/page", googlebot, 200, "impostor")
	for host, msg := range map[string]string{"refuse.test": msgRefused, "observe.test": msgObserved} {
		l := c.log.wait(t, "an impostor came to "+host, c.ended, message(msg), field("host", host), field("client_ip", underEvil))
		if l.text("verdict") != "impostor" || l.text("claimed") != "Googlebot" || !strings.Contains(l.text("reason"), "claims to be Googlebot") {
			t.Errorf("log line %q of %s: got verdict %q, claimed %q, reason %q, want an impostor that claims to be Googlebot",
				msg, host, l.text("verdict"), l.text("claimed"), l.text("reason"))
		}
	}
}

func TestImpostorsSpendNothingOfARobotsPace(t *testing.T) {
	t.Parallel()
	c, _ := startWithDNS(t)
	for _, step := range []struct {
		address string
		want    int
	}{
		{fakeAddress, 200}, {likeGoogle, 429}, // one name, one budget
		{realAddress, 200}, {realAddress6, 429},
		{failingPTR, 200}, {failingPTR, 429}, // nobody knows whether it is one
		{realAddress, 429}, {fakeAddress, 429},
	} {
		c.expectFrom(t, step.address, "paced.test", "/page", googlebot, step.want, "")
		c.expectFrom(t, step.address, "paced.test", "/page", chrome, 200, "page")
	}
}

func TestASlowDNSRefusesNobodyAndIsBelievedLater(t *testing.T) {
	t.Parallel()
	z, answered := googleZone(), make(chan struct{})
	z.Held = map[string]<-chan struct{}{slowReal: answered, slowFake: answered}
	dns := testutil.StartDNS(t, z)
	c := startWith(t, withGlobal(proxied, dnsOption)+dnsSites, map[string]string{"DNS": dns.Address})

	// As long as a look-up may take; a request waits a fraction of it.
	const wholeLookUp = 5 * time.Second
	for _, address := range []string{slowReal, slowFake} {
		begun := time.Now()
		c.expectFrom(t, address, "refuse.test", "/page", googlebot, 200, "unverified")
		if took := time.Since(begun); took > wholeLookUp/2 {
			t.Errorf("GET /page from %s: took %s, want no wait for a DNS that does not answer", address, took)
		}
		if dns.Asked(address) == 0 {
			t.Errorf("the DNS was not asked of %s", address)
		}
	}
	close(answered)
	c.settle(t, "refuse.test", slowReal, "verified")
	eventually(t, slowFake+" is refused", func() bool {
		return c.ask(t, request{host: "refuse.test", path: "/page", agent: googlebot}.from(slowFake)).status == 403
	})
	c.expectFrom(t, slowFake, "refuse.test", "/page", chrome, 200, "page")
}

func TestACrowdFromUnknownAddressesIsServedWhileTheDNSHangs(t *testing.T) {
	t.Parallel()
	const crowd = 150 // more than are looked up at once
	z := testutil.DNSZone{Held: make(map[string]<-chan struct{})}
	for i := range crowd {
		z.Held[fmt.Sprintf("203.0.113.%d", i)] = nil // forever
	}
	dns := testutil.StartDNS(t, z)
	c := startWith(t, withGlobal(proxied, dnsOption)+dnsSites, map[string]string{"DNS": dns.Address})
	answers := make(chan string, crowd)
	for i := range crowd {
		go func() {
			q := request{host: "refuse.test", path: "/page", agent: googlebot}
			a, err := q.from(fmt.Sprintf("203.0.113.%d", i)).try(client, "http://"+c.address())
			answers <- fmt.Sprintf("%d %s %v", a.status, a.body, err)
		}()
	}
	for range crowd {
		if got, want := <-answers, "200 unverified <nil>"; got != want {
			t.Errorf("GET /page for one of the crowd: got %s, want %s", got, want)
		}
	}
	c.expectFrom(t, "203.0.113.1", "refuse.test", "/page", chrome, 200, "page")
}

func TestADNSThatFailsRefusesNobody(t *testing.T) {
	t.Parallel()
	dns := testutil.StartDNS(t, googleZone())
	c := startWith(t, withGlobal(proxied, dnsOption)+dnsSites, map[string]string{"DNS": dns.Address})
	alone := startWith(t, withGlobal(proxied, dnsOption)+standings+`
http://nobody.test:{$PORT} {
	robots {
		verify Googlebot dns googlebot.com
		impostors refuse
	}
	import standings
}
`, map[string]string{"DNS": "127.0.0.1:" + freePort(t)})
	for range 3 {
		c.expectFrom(t, failingPTR, "refuse.test", "/page", googlebot, 200, "unverified")
		c.expectFrom(t, failingHost, "refuse.test", "/page", googlebot, 200, "unverified")
		alone.expectFrom(t, realAddress, "nobody.test", "/page", googlebot, 200, "unverified")
	}
	// What fails is no reason to be judged as somebody else.
	c.expectFrom(t, failingPTR, "unnamed.test", "/search", googlebot, 403, "")
	for _, key := range []string{failingPTR, "broken.googlebot.com."} {
		eventually(t, "the DNS is asked for "+key, func() bool { return dns.Asked(key) > 0 })
	}
}

func TestAHeaderOfAStrangerProvesNothing(t *testing.T) {
	t.Parallel()
	dns := testutil.StartDNS(t, googleZone())
	env := map[string]string{"DNS": dns.Address}
	alone := startWith(t, withGlobal(prelude, dnsOption)+dnsSites, env)
	trusting := startWith(t, withGlobal(proxied, dnsOption)+dnsSites, env)

	// Whom a trusted proxy names is judged by that address.
	trusting.settle(t, "unnamed.test", fakeAddress, "impostor")
	trusting.expectFrom(t, fakeAddress, "refuse.test", "/page", googlebot, 403, "")
	trusting.log.wait(t, "it was refused", trusting.ended, message(msgRefused), field("verdict", "impostor"), field("client_ip", fakeAddress))

	// From a private peer that nobody trusts, neither the header nor the peer's address says who asks.
	for range 3 {
		for _, said := range []string{realAddress, fakeAddress, "127.0.0.1"} {
			for _, host := range []string{"unnamed.test", "refuse.test", "observe.test"} {
				alone.expectFrom(t, said, host, "/page", googlebot, 200, "unverified")
				alone.expectFrom(t, said, host, "/search", googlebot, 403, "") // by its own record
				alone.expectFrom(t, said, host, "/page", chrome, 200, "page")
			}
		}
		for _, host := range []string{"unnamed.test", "refuse.test", "observe.test"} {
			if a := alone.expect(t, host, "/page", googlebot, 200); a.body != "unverified" {
				t.Errorf("GET %s/page without a header: got %q, want unverified", host, a.body)
			}
		}
	}
	l := alone.log.wait(t, "it was refused", alone.ended, message(msgRefused), field("verdict", "disallowed"))
	if got := l.text("client_ip"); got != "127.0.0.1" {
		t.Errorf("log line %q: got client_ip %q, want the address of the connection", msgRefused, got)
	}
	for _, address := range []string{realAddress, "127.0.0.1"} {
		if got := dns.Asked(address); got != 0 {
			t.Errorf("questions for the names of %s, which proves nothing here: got %d, want 0", address, got)
		}
	}
	if got := dns.Asked(fakeAddress); got != 1 {
		t.Errorf("questions for the names of %s: got %d, want 1, of the site that trusts its proxy", fakeAddress, got)
	}
}

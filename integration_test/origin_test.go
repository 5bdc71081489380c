package integration

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/quic-go/quic-go/http3"

	"github.com/caddy-robots/caddy-robots/internal/testutil"
)

// originSite is a site over TLS that goes by addresses in all ways; %s is what stands in "servers".
const originSite = `{
	admin {$ADMIN}
	auto_https disable_redirects
	skip_install_trust
	grace_period 2s
	servers {
		%s
	}
}
` + standings + `
https://secure.test:{$PORT} {
	tls internal
	robots {
		source text <<ROBOTS
			User-agent: Googlebot
			Disallow: /search

			User-agent: *
			Disallow: /trap/
			Disallow: /private/
			ROBOTS
		serve
		trap /trap/
		ban 3 in 1h for 1h
		verify Googlebot ranges 192.0.2.0/24 2001:db8::/32
		impostors refuse
	}
	import standings
}
`

const (
	trustedStrictly = "trusted_proxies static 127.0.0.1/32\n\t\ttrusted_proxies_strict"
	msgProxy        = "the addresses of clients are not known here: verify proves nothing by them, and trap and ban catch few or nobody"
)

func originCaddyfile(servers string) string { return fmt.Sprintf(originSite, servers) }

// expectAll compares the statuses of requests that come one after another.
func expectAll(t *testing.T, ask func(q request) answer, steps []originStep) {
	t.Helper()
	for _, s := range steps {
		q := request{path: s.path, agent: s.agent}
		if s.forwarded != "" {
			q = q.from(s.forwarded)
		}
		if a := ask(q); a.status != s.want {
			t.Errorf("%s: GET %s for %q: got %d %q, want %d", s.forwarded, s.path, s.agent, a.status, tail(a.body, 300), s.want)
		}
	}
}

type originStep struct {
	forwarded, path, agent string
	want                   int
}

func TestBehindAProxyThatNobodyNamedNobodyIsTakenForAnother(t *testing.T) {
	t.Parallel()
	byProtocol(t, originCaddyfile(""), nil, func(t *testing.T, c *caddy, ask func(q request) answer) {
		expectAll(t, ask, []originStep{
			// Four visitors with one User-Agent: the first is caught alone.
			{"203.0.113.1", "/trap/x", chrome, 403},
			{"203.0.113.1", "/private/", chrome, 403},
			{"203.0.113.2", "/private/", chrome, 200},
			{"203.0.113.3", "/checkout/", chrome, 200},
			{"203.0.113.4", "/checkout/", chrome, 200},
			// The real Googlebot, and one that says so: unverified, by its own record.
			{"192.0.2.1", "/page", googlebot, 200},
			{"203.0.113.5", "/page", googlebot, 200},
			{"203.0.113.5", "/search", googlebot, 403},
			// A ban is for who has earned it.
			{"203.0.113.6", "/private/", bingbot, 403},
			{"203.0.113.6", "/private/", bingbot, 403},
			{"203.0.113.6", "/private/", bingbot, 403},
			{"203.0.113.6", "/page", bingbot, 403},
			{"203.0.113.7", "/page", bingbot, 200},
			// Where the proxy forwards nothing, or no public address, nobody is caught and banned.
			{"", "/trap/x", chrome, 200},
			{"", "/private/", chrome, 200},
			{"172.17.0.1", "/trap/x", chrome, 200},
			{"", "/private/", bingbot, 403},
			{"", "/private/", bingbot, 403},
			{"", "/private/", bingbot, 403},
			{"", "/page", bingbot, 200},
		})
		l := c.log.wait(t, "the log says what to write", c.ended, message(msgProxy))
		if got := l.text("instead"); !strings.Contains(got, "trusted_proxies_strict") {
			t.Errorf("the log says %q", got)
		}
		if got := len(c.log.all(message(msgProxy))); got != 1 {
			t.Errorf("lines %q: got %d, want 1", msgProxy, got)
		}
	})
}

func TestBehindATrustedProxyAddressesAreKnown(t *testing.T) {
	t.Parallel()
	byProtocol(t, originCaddyfile(trustedStrictly), nil, func(t *testing.T, c *caddy, ask func(q request) answer) {
		steps := []originStep{
			{"192.0.2.1", "/page", googlebot, 200},
			{"203.0.113.5", "/page", googlebot, 403},
			{"192.0.2.1, 203.0.113.5", "/page", googlebot, 403}, // the first value is forged
			{"203.0.113.1", "/trap/x", chrome, 403},
			{"203.0.113.1", "/private/", chrome, 403},
			{"203.0.113.2", "/private/", chrome, 200},
			{"203.0.113.2, 203.0.113.1", "/private/", chrome, 403},
		}
		// A thousand addresses of one /64 are one client.
		for i := range 3 {
			steps = append(steps, originStep{fmt.Sprintf("2001:db9:1:2::%x", i), "/private/", bingbot, 403})
		}
		for i := range 1000 {
			steps = append(steps, originStep{fmt.Sprintf("2001:db9:1:2:%x::%x", i, i), "/page", bingbot, 403})
		}
		expectAll(t, ask, append(steps, originStep{"2001:db9:1:3::1", "/page", bingbot, 200}))
		if got := c.log.all(message(msgProxy)); len(got) != 0 {
			t.Errorf("lines %q: got %v, want none", msgProxy, got)
		}
		if got := c.banned(t); len(got) != 1 || got[0].Address != "2001:db9:1:2::/64" {
			t.Errorf("bans: got %+v, want the /64", got)
		}
	})
}

func TestAFirstValueThatMayBeForgedProvesNothing(t *testing.T) {
	t.Parallel()
	byProtocol(t, originCaddyfile("trusted_proxies static 127.0.0.1/32"), nil, func(t *testing.T, c *caddy, ask func(q request) answer) {
		expectAll(t, ask, []originStep{
			{"192.0.2.1", "/private/", googlebot, 200},              // one value is the proxy's
			{"203.0.113.5", "/private/", googlebot, 403},            // an impostor
			{"192.0.2.1, 203.0.113.5", "/private/", googlebot, 403}, // no more than a robot without a name
			{"192.0.2.1, 203.0.113.5", "/page", googlebot, 200},
			{"203.0.113.1, 203.0.113.5", "/trap/x", chrome, 403},
			{"203.0.113.1", "/private/", chrome, 200}, // whom the first value names
		})
		c.log.wait(t, "the log says what to write", c.ended, message(msgProxy))
	})
}

func TestARequestInEarlyDataIsSentAgainWhereItsAddressDecides(t *testing.T) {
	t.Parallel()
	c := startWith(t, originCaddyfile(trustedStrictly), nil)
	c.awaitTLS(t)
	sessions := tls.NewLRUClientSessionCache(10)
	// Each request is the first of a connection. The first connection has no session to go on from.
	// Early data that comes late, after the handshake, is late: then it is proved who sends it.
	for i, s := range []struct {
		originStep
		proved int // what is answered after the handshake; 0: there is no early data
	}{
		{originStep{"203.0.113.5", "/page", googlebot, 403}, 0},
		{originStep{"203.0.113.5", "/page", googlebot, 425}, 403},
		{originStep{"192.0.2.1", "/page", googlebot, 425}, 200},
		{originStep{"192.0.2.1", "/search", googlebot, 403}, 403}, // whoever it is
		{originStep{"192.0.2.1", "/robots.txt", googlebot, 200}, 200},
		{originStep{"203.0.113.5", "/page", chrome, 200}, 200},
		{originStep{"203.0.113.5", "/page", bingbot, 200}, 200},
		{originStep{"203.0.113.5", "/private/", bingbot, 403}, 403},
		{originStep{"203.0.113.5", "/trap/x", chrome, 425}, 403},
	} {
		q := request{method: http.MethodGet, path: s.path, agent: s.agent}
		if s.proved != 0 {
			q.method = http3.MethodGet0RTT
		}
		var a answer
		var err error
		for range 20 {
			a, err = q.from(s.forwarded).try(http3Client(t, c, sessions), "https://secure.test:"+c.env["PORT"])
			if err != nil || a.status != s.proved || s.want == s.proved {
				break
			}
		}
		if err != nil || a.status != s.want {
			t.Errorf("%d: %s %s from %s for %q: got %d, error %v; want %d", i, q.method, s.path, s.forwarded, s.agent, a.status, err, s.want)
		}
	}
	if got := c.banned(t); len(got) != 0 {
		t.Errorf("bans: got %+v, want none", got)
	}
}

func TestAClaimantsOwnNameServerProvesAndDisprovesNothing(t *testing.T) {
	t.Parallel()
	const silent = "203.0.113.30"
	zone := googleZone()
	zone.Held = map[string]<-chan struct{}{silent: make(chan struct{})}
	server := testutil.StartDNS(t, zone)
	site := strings.NewReplacer("{\n\tadmin", "{\n\trobots {\n\t\tresolver {$DNS}\n\t}\n\tadmin",
		"verify Googlebot ranges 192.0.2.0/24 2001:db8::/32", "verify Googlebot {$HOW}").Replace(originCaddyfile(trustedStrictly))
	for how, want := range map[string]map[string]int{
		// A name server that fails buys no more than a robot without a name has.
		"dns googlebot.com": {failingPTR: 403, nameless: 403, fakeAddress: 403, realAddress: 200},
		// A list that says no stands.
		"ranges 192.0.2.0/24\n\t\tverify Googlebot dns googlebot.com": {failingPTR: 403, nameless: 403, silent: 403, realAddress: 200},
	} {
		site := strings.ReplaceAll(site, "{$HOW}", how)
		byProtocol(t, site, map[string]string{"DNS": server.Address}, func(t *testing.T, c *caddy, ask func(q request) answer) {
			eventually(t, "the real one is verified", func() bool {
				return ask(request{path: "/page", agent: googlebot}.from(realAddress)).body == "verified"
			})
			for address, status := range want {
				eventually(t, fmt.Sprintf("%s gets %d", address, status), func() bool {
					return ask(request{path: "/private/", agent: googlebot}.from(address)).status == status
				})
			}
		})
	}
}

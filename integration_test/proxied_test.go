package integration

import (
	"net/http"
	"testing"
)

// proxied is the global options of a Caddy behind a proxy: the addresses of its clients
// are what X-Forwarded-For says last.
const proxied = `{
	admin {$ADMIN}
	auto_https off
	grace_period 2s
	servers {
		trusted_proxies static 127.0.0.1/32
		trusted_proxies_strict
	}
}
`

// standings is a snippet of a site whose pages say what its robots directive found of a
// robot's claim, and "page" to everybody else.
const standings = `
(standings) {
	@verified crawler verified
	respond @verified "verified"
	@impostor crawler impostor
	respond @impostor "impostor"
	@unverified crawler unverified
	respond @unverified "unverified"
	respond "page"
}
`

const googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"

// Addresses of clients, which stand in what RFC 5737 and RFC 3849 keep for documentation.
const (
	realAddress  = "192.0.2.1"
	realAddress6 = "2001:db8::7"
	fakeAddress  = "198.51.100.1"
	personal     = "203.0.113.9"
)

// from returns the request as a proxy passes it on for a client at address.
func (q request) from(address string) request {
	q.header = q.header.Clone()
	if q.header == nil {
		q.header = make(http.Header)
	}
	q.header.Set("X-Forwarded-For", address)
	return q
}

// expectFrom sends a GET of a client at address and compares the status, and the body
// unless that is "".
func (c *caddy) expectFrom(tb testing.TB, address, host, path, agent string, want int, body string) answer {
	tb.Helper()
	a := c.ask(tb, request{host: host, path: path, agent: agent}.from(address))
	if a.status != want || body != "" && a.body != body {
		tb.Errorf("GET %s%s from %s for %.200q: got %d %q, want %d %q", host, path, address, agent, a.status, tail(a.body, 500), want, body)
	}
	return a
}

// settle waits until it is known on host whether address is one of Googlebot's.
func (c *caddy) settle(tb testing.TB, host, address, want string) {
	tb.Helper()
	eventually(tb, address+" is "+want+" at "+host, func() bool {
		return c.ask(tb, request{host: host, path: "/page", agent: googlebot}.from(address)).body == want
	})
}

package integration

import (
	"strings"
	"testing"
)

// panicSites have a handler that panics where a request asks for it, with robots before it
// and without.
const panicSites = `
(panics) {
	panic
	respond "page"
}
http://site.test:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: HourBot
			Crawl-delay: 3600

			User-agent: TenthBot
			Crawl-delay: 0.1

			User-agent: RogueBot
			Disallow: /
			ROBOTS
		disallowed observe
		too_fast wait 10s
		announce sitemap
	}
	import panics
}
http://own.test:{$PORT} {
	robots {
		refresh 1s
	}
	rewrite /robots.txt /robots.txt?panic=at-once
	import panics
}
http://plain.test:{$PORT} {
	import panics
}
`

// startPanicking runs the Caddy of testdata/panicking.
func startPanicking(t *testing.T) *caddy {
	t.Helper()
	full(t, "this builds another Caddy")
	c := newCaddy(t, prelude+panicSites, nil)
	c.program, c.panics = []string{panicking.build(t)}, true
	c.run(t)
	return c
}

// panicked sends a request that the handler behind robots panics at, and returns what a
// client gets: an error always, and whatever came before it.
func (c *caddy) panicked(t *testing.T, host, agent, how string) string {
	t.Helper()
	text := "GET /page HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: " + agent + "\r\nPanic: " + how + "\r\n\r\n"
	a, err := c.raw(text, "GET")
	if err == nil {
		t.Errorf("%s for %q: got %d %q, want a connection that ends", how, agent, a.status, a.body)
		return ""
	}
	return a.body + ": " + err.Error()
}

func TestAPanicBehindRobotsEndsTheConnectionAsItDoesWithoutThem(t *testing.T) {
	t.Parallel()
	c := startPanicking(t)
	hows := []string{"at-once", "midway", "on-purpose"}
	for _, how := range hows {
		want := c.panicked(t, "plain.test", chrome, how)
		for _, agent := range []string{chrome, bingbot, "RogueBot/1.0"} {
			if got := c.panicked(t, "site.test", agent, how); got != want {
				t.Errorf("%s for %q: got %s, want %s", how, agent, got, want)
			}
		}
	}
	c.expect(t, "site.test", "/page", bingbot, 200)
	// Two robots met each panic; one of them is observed as disobedient. A person is not counted.
	want := tally{Requests: 2*len(hows) + 1, Disobedient: len(hows)}
	if got := c.seen(t); got != want {
		t.Errorf("the report: got %+v, want %+v", got, want)
	}
	metrics := c.adminGet(t, "/metrics")
	for verdict, want := range map[string]int64{"allowed": int64(len(hows)) + 1, "disallowed": int64(len(hows))} {
		robot := map[string]string{"allowed": "bingbot", "disallowed": "RogueBot"}[verdict]
		if got := numberAfter(t, metrics, `caddy_robots_requests_total{outcome="`+map[string]string{"allowed": "passed", "disallowed": "observed"}[verdict]+`",robot="`+robot+`",site="site.test",verdict="`+verdict+`"} `); got != want {
			t.Errorf("requests of %s in the metrics: got %d, want %d", robot, got, want)
		}
	}
}

func TestAPanicAfterAHeldRequestGivesItsPlaceBack(t *testing.T) {
	t.Parallel()
	c := startPanicking(t)
	for range heldOfOne + 2 { // more than are held at a time, one after the other
		c.panicked(t, "site.test", "TenthBot/1.0", "at-once")
	}
	if got := c.held(t); got != 0 {
		t.Errorf("requests that are held: got %d, want none", got)
	}
	c.expect(t, "site.test", "/page", "TenthBot/1.0", 200)
	c.panicked(t, "site.test", "HourBot/1.0", "at-once")
	c.expect(t, "site.test", "/page", "HourBot/1.0", 429) // what panicked has been served
}

func TestAPanicOfRobotsTxtIsAFailedLoad(t *testing.T) {
	t.Parallel()
	c := startPanicking(t)
	c.expect(t, "own.test", "/page", gptbot, 200)
	l := c.log.wait(t, "robots.txt cannot be loaded", c.ended, message(msgNeverLoaded), field("host", "own.test"))
	if !strings.Contains(l.text("error"), "a defect") {
		t.Errorf("log line %q: got error %q, want one that says what the panic was", msgNeverLoaded, l.text("error"))
	}
	c.expect(t, "own.test", "/page", chrome, 200)
}

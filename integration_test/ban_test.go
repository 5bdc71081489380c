package integration

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

const (
	msgBanned    = "robot banned"
	msgNotBanned = "robot observed, not banned"
)

const banSites = `
(rules) {
	respond /robots.txt <<ROBOTS
		User-agent: *
		Disallow: /private/

		User-agent: SlowBot
		Crawl-delay: 3600
		Disallow: /private/

		User-agent: HalfBot
		Crawl-delay: 0.5
		ROBOTS
	respond "page of config 1"
}
http://site.test:{$PORT} {
	log
	robots {
		ban 3 in 1m for 1h
	}
	import rules
}
http://moment.test:{$PORT} {
	robots {
		ban 2 in 1m for 3s
	}
	import rules
}
http://everyone.test:{$PORT} {
	robots {
		unnamed everyone
		ban 2 in 1m for 1h
	}
	import rules
}
http://held.test:{$PORT} {
	robots {
		too_fast wait 1s
		ban 2 in 1m for 1h
	}
	import rules
}
http://verified.test:{$PORT} {
	robots {
		verify GPTBot ranges 192.0.2.0/24
		impostors refuse
		ban 2 in 1m for 1h
	}
	import rules
}
http://observed.test:{$PORT} {
	robots {
		observe
		ban 2 in 1m for 1h
	}
	import rules
}
http://plain.test:{$PORT} {
	robots
	import rules
}
`

// rogue is where a robot comes from that does not heed robots.txt.
const rogue = "198.51.100.66"

// isBanned tells whether an answer refuses a client that is banned.
func isBanned(a answer) bool { return a.status == 403 && strings.Contains(a.body, "again and again") }

// misbehave has a client ask so many times for what it may not fetch.
func (c *caddy) misbehave(tb testing.TB, address, host, agent string, times int) {
	tb.Helper()
	for range times {
		if a := c.expectFrom(tb, address, host, "/private/", agent, 403, ""); isBanned(a) {
			tb.Errorf("GET %s/private/ from %s for %q: banned already", host, address, agent)
		}
	}
}

// expectBanned asks for a page that is open to all and compares whether the client is banned.
func (c *caddy) expectBanned(tb testing.TB, address, host, agent string, want bool) answer {
	tb.Helper()
	a := c.ask(tb, request{host: host, path: "/page", agent: agent}.from(address))
	if isBanned(a) != want {
		tb.Errorf("GET %s/page from %s for %q: got %d %q, want it banned: %t", host, address, agent, a.status, a.body, want)
	}
	return a
}

// sentence is what the admin endpoint says of a client that is banned.
type sentence struct {
	Site    string    `json:"site"`
	Robot   string    `json:"robot"`
	Address string    `json:"address"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	Line    int       `json:"line"`
	Rule    string    `json:"rule"`
}

// banned returns whom the admin endpoint lists.
func (c *caddy) banned(tb testing.TB) []sentence {
	tb.Helper()
	text := c.adminGet(tb, "/robots/bans")
	var all []sentence
	if err := json.Unmarshal([]byte(text), &all); err != nil || all == nil {
		tb.Fatalf("admin GET /robots/bans: got %q, error %v, want a list", text, err)
	}
	return all
}

func TestARobotThatDisobeysAgainAndAgainIsBanned(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+banSites, nil)
	for _, step := range []struct {
		what, address, host, path, agent string
		want                             int
		banned                           bool
	}{
		{"the first page", rogue, "site.test", "/page", "SlowBot/1.0", 200, false},
		{"too fast", rogue, "site.test", "/page", "SlowBot/1.0", 429, false},
		{"disallowed", rogue, "site.test", "/private/", "SlowBot/1.0", 403, false},
		{"robots.txt, which is no offence", rogue, "site.test", "/robots.txt", "SlowBot/1.0", 200, false},
		{"too fast again, the third offence", rogue, "site.test", "/page", "SlowBot/1.0", 429, false},
		{"banned", rogue, "site.test", "/page", "SlowBot/1.0", 403, true},
		{"whatever it fetches", rogue, "site.test", "/private/", "SlowBot/1.0", 403, true},
		{"by another version", rogue, "site.test", "/page", "SlowBot/2.0", 403, true},
		{"robots.txt is served", rogue, "site.test", "/robots.txt", "SlowBot/1.0", 200, false},
		{"another robot at that address", rogue, "site.test", "/page", bingbot, 200, false},
		{"a person at that address", rogue, "site.test", "/private/", chrome, 200, false},
		{"who takes its name elsewhere", personal, "site.test", "/page", "SlowBot/1.0", 429, false},
		{"another site", rogue, "plain.test", "/page", "SlowBot/1.0", 200, false},
	} {
		t.Run(step.what, func(t *testing.T) {
			a := c.expectFrom(t, step.address, step.host, step.path, step.agent, step.want, "")
			if isBanned(a) != step.banned {
				t.Errorf("got %q, want it banned: %t", a.body, step.banned)
			}
			if step.banned {
				if got := a.retryAfter(t, 3600); got < 3600-int(patience.Seconds()) {
					t.Errorf("Retry-After: got %d, want about an hour", got)
				}
			}
		})
	}
}

func TestTheLogsTellOfABan(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+banSites, nil)
	c.misbehave(t, rogue, "site.test", bingbot, 3)
	c.expectBanned(t, rogue, "site.test", bingbot, true)

	l := c.log.wait(t, "it was banned", c.ended, message(msgBanned))
	for name, want := range map[string]string{
		"robot": "bingbot", "address": rogue, "host": "site.test", "rule": "Disallow: /private/",
	} {
		if got := l.text(name); got != want {
			t.Errorf("line %q, field %s: got %q, want %q", msgBanned, name, got, want)
		}
	}
	seconds, _ := l["until"].(float64)
	if left := time.Until(time.Unix(int64(seconds), 0)); left < time.Hour-patience || left > time.Hour {
		t.Errorf("line %q, field until: got %v, which is in %s, want in an hour", msgBanned, l["until"], left)
	}
	if l["line"] != 2.0 {
		t.Errorf("line %q, field line: got %v, want 2", msgBanned, l["line"])
	}

	refusal := c.log.wait(t, "it was refused for the ban", c.ended, message(msgRefused), field("verdict", "banned"))
	if got := refusal.text("rule"); got != "Disallow: /private/" {
		t.Errorf("line %q, field rule: got %q", msgRefused, got)
	}
	c.log.wait(t, "the access log has the verdict", c.ended, func(l line) bool {
		robots, _ := l["robots"].(map[string]any)
		return strings.HasPrefix(l.text("logger"), "http.log.access") && line(robots).text("verdict") == "banned"
	})
	if got := len(c.log.all(message(msgBanned))); got != 1 {
		t.Errorf("lines %q: got %d, want 1", msgBanned, got)
	}
}

func TestWhoConnectsFromAnotherAddressIsNotBanned(t *testing.T) {
	t.Parallel()
	c := start(t, banSites, nil)
	// Loopback is a proxy to Caddy, and nobody's address: who is banned is all that it says.
	q := request{host: "site.test", path: "/private/", agent: bingbot}.from(rogue)
	for range 3 {
		c.ask(t, q)
	}
	q.path = "/page"
	if a := c.ask(t, q); !isBanned(a) {
		t.Errorf("GET by 127.0.0.1: got %d %q, want it banned", a.status, a.body)
	}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	elsewhere := &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: dialer.DialContext}}
	defer elsewhere.CloseIdleConnections()
	if a, err := q.try(elsewhere, "http://"+c.address()); err != nil || a.status != 200 {
		t.Errorf("GET by 127.0.0.2: got %d, error %v, want 200", a.status, err)
	}
}

func TestRequestsDuringABanDoNotMakeItLonger(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+banSites, nil)
	c.misbehave(t, rogue, "site.test", bingbot, 3)
	before := c.banned(t)
	for range 5 {
		c.expectFrom(t, rogue, "site.test", "/private/", bingbot, 403, "")
	}
	after := c.banned(t)
	if len(before) != 1 || len(after) != 1 || before[0] != after[0] {
		t.Errorf("bans after more disobedience: got %+v, want %+v", after, before)
	}
}

func TestABanEnds(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+banSites, nil)
	c.misbehave(t, rogue, "moment.test", bingbot, 2)
	c.expectBanned(t, rogue, "moment.test", bingbot, true)
	list := c.banned(t)
	if len(list) != 1 {
		t.Fatalf("bans: got %+v, want one", list)
	}
	until(list[0].Until)
	c.expectBanned(t, rogue, "moment.test", bingbot, false)
	if got := c.banned(t); len(got) != 0 {
		t.Errorf("bans after their time: got %+v, want none", got)
	}
	// It begins anew: one more offence does not ban it.
	c.misbehave(t, rogue, "moment.test", bingbot, 1)
	c.expectBanned(t, rogue, "moment.test", bingbot, false)
	c.misbehave(t, rogue, "moment.test", bingbot, 1)
	c.expectBanned(t, rogue, "moment.test", bingbot, true)
}

func TestABrowserIsNeverBanned(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+banSites, nil)
	c.robotComes(t, "everyone.test") // no browser waits for the rules
	c.misbehave(t, rogue, "everyone.test", chrome, 5)
	c.expectBanned(t, rogue, "everyone.test", chrome, false)
	c.misbehave(t, rogue, "everyone.test", bingbot, 2)
	c.expectBanned(t, rogue, "everyone.test", bingbot, true)
}

func TestToBeHeldIsNoOffence(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+banSites, nil)
	for range 4 {
		c.expectFrom(t, rogue, "held.test", "/page", "HalfBot/1.0", 200, "")
	}
	for _, want := range []int{200, 429, 429} { // too early by more than may be waited for
		c.expectFrom(t, rogue, "held.test", "/page", "SlowBot/1.0", want, "")
	}
	c.expectBanned(t, rogue, "held.test", "SlowBot/1.0", true)
}

func TestAVerifiedRobotAnswersForAllItsAddressesAndForNobodyElse(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+banSites, nil)
	for range 2 {
		if a := c.expectFrom(t, rogue, "verified.test", "/page", gptbot, 403, ""); isBanned(a) {
			t.Error("the impostor is banned before its time")
		}
	}
	c.expectBanned(t, rogue, "verified.test", gptbot, true)
	c.expectBanned(t, personal, "verified.test", gptbot, false) // another impostor
	c.expectFrom(t, realAddress, "verified.test", "/page", gptbot, 200, "")
	c.misbehave(t, realAddress, "verified.test", gptbot, 2)
	c.expectBanned(t, realAddress, "verified.test", gptbot, true)
	c.expectBanned(t, "192.0.2.200", "verified.test", gptbot, true)
}

func TestObserveBansNobodyThenOrLater(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+banSites, nil)
	for range 4 {
		c.expectFrom(t, rogue, "observed.test", "/private/", bingbot, 200, "")
	}
	l := c.log.wait(t, "it would have been banned", c.ended, message(msgNotBanned))
	if got := l.text("address"); got != rogue {
		t.Errorf("line %q, field address: got %q, want %q", msgNotBanned, got, rogue)
	}
	status, body, err := c.loadWhole(strings.Replace(proxied+banSites, "\t\tobserve\n", "", 1))
	if err != nil || status != 200 {
		t.Fatalf("reload: got status %d, error %v: %s", status, err, body)
	}
	c.expectBanned(t, rogue, "observed.test", bingbot, false)
	c.misbehave(t, rogue, "observed.test", bingbot, 2)
	c.expectBanned(t, rogue, "observed.test", bingbot, true)
	if got := len(c.log.all(message(msgNotBanned))); got != 1 {
		t.Errorf("lines %q: got %d, want 1", msgNotBanned, got)
	}
}

func TestTheOwnerSeesWhoIsBannedAndLiftsBans(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+banSites, nil)
	if got := c.banned(t); len(got) != 0 {
		t.Errorf("bans before anybody came: got %+v, want none", got)
	}
	for _, client := range []struct{ address, agent string }{
		{rogue, bingbot}, {rogue, "OtherBot/1.0"}, {personal, bingbot}, {realAddress6, bingbot},
	} {
		c.misbehave(t, client.address, "site.test", client.agent, 3)
	}
	all := c.banned(t)
	if len(all) != 4 {
		t.Fatalf("bans: got %+v, want 4", all)
	}
	newest := all[0]
	length := newest.Until.Sub(newest.Since)
	newest.Since, newest.Until = time.Time{}, time.Time{}
	want := sentence{Site: "site.test", Robot: "bingbot", Address: "2001:db8::/64", Line: 2, Rule: "Disallow: /private/"}
	if newest != want || length != time.Hour {
		t.Errorf("the newest ban: got %+v for %s, want %+v for an hour", newest, length, want)
	}

	for query, wanted := range map[string]bool{"": true, "?robot=BINGBOT": true, "?robot=nobody": false, "?robot=otherbot&address=" + personal: false} {
		if text := c.adminGet(t, "/robots/bans"+query); strings.Contains(text, `"bingbot"`) != wanted {
			t.Errorf("GET /robots/bans%s: got %s, want bingbot there: %t", query, text, wanted)
		}
	}
	for _, tt := range []struct {
		method, query string
		want          int
	}{
		{"DELETE", "", 400},
		{"POST", "?robot=bingbot", 405},
		{"DELETE", "?robot=nobody", 404},
		{"DELETE", "?robot=otherbot&address=" + personal, 404},
		{"DELETE", "?robot=bingbot&site=plain.test", 404},
		{"DELETE", "?robot=BingBot&address=" + personal, 200}, // in whatever letters
		{"DELETE", "?robot=BingBot&address=" + personal, 404},
		{"DELETE", "?address=" + url.QueryEscape("[2001:DB8:0::7]"), 200}, // however it is written
	} {
		if status, body := c.adminAsk(t, tt.method, "/robots/bans"+tt.query); status != tt.want {
			t.Errorf("admin %s /robots/bans%s: got %d %s, want %d", tt.method, tt.query, status, body, tt.want)
		}
	}
	c.expectBanned(t, personal, "site.test", bingbot, false)
	c.expectBanned(t, realAddress6, "site.test", bingbot, false)
	c.expectBanned(t, rogue, "site.test", bingbot, true)
	c.expectBanned(t, rogue, "site.test", "OtherBot/1.0", true)
	if status, body := c.adminAsk(t, "DELETE", "/robots/bans?site=site.test"); status != 200 {
		t.Errorf("admin DELETE of all bans of a site: got %d %s, want 200", status, body)
	}
	if got := c.banned(t); len(got) != 0 {
		t.Errorf("bans after all were lifted: got %+v, want none", got)
	}
	// Its offences are forgotten too.
	c.misbehave(t, rogue, "site.test", bingbot, 2)
	c.expectBanned(t, rogue, "site.test", bingbot, false)
}

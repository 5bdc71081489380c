package integration

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	msgTrapped  = "robot trapped"
	msgIdleTrap = "this trap catches nobody: robots.txt does not disallow it to all"
)

const trapSites = `
(rules) {
	respond /robots.txt <<ROBOTS
		User-agent: *
		Disallow: /trap/
		Disallow: /private/

		User-agent: GPTBot
		Disallow: /trap/
		ROBOTS
	respond "page of config 1"
}
http://site.test:{$PORT} {
	robots {
		trap /trap/ for 7d
	}
	import rules
}
http://moment.test:{$PORT} {
	robots {
		trap /trap/ for 1s
	}
	import rules
}
http://idle.test:{$PORT} {
	robots {
		trap /idle/
	}
	import rules
}
http://plain.test:{$PORT} {
	robots
	import rules
}
`

// Browsers that a robot in disguise and people use.
const (
	firefox  = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
	disguise = "198.51.100.20" // the robot's address
)

func TestARobotInABrowsersClothesRevealsItselfInATrap(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+trapSites, nil)
	for _, step := range []struct {
		what, address, host, path, agent string
		want                             int
	}{
		{"before", disguise, "site.test", "/private/", chrome, 200},
		{"into the trap", disguise, "site.test", "/trap/deep?q=1", chrome, 403},
		{"again", disguise, "site.test", "/trap/", chrome, 403},
		{"bound by the * record", disguise, "site.test", "/private/", chrome, 403},
		{"and to nothing more", disguise, "site.test", "/page", chrome, 200},
		{"robots.txt is served", disguise, "site.test", "/robots.txt", chrome, 200},
		{"another browser at that address", disguise, "site.test", "/private/", firefox, 200},
		{"the same browser elsewhere", personal, "site.test", "/private/", chrome, 200},
		{"a site without a trap", disguise, "plain.test", "/private/", chrome, 200},
		{"what only begins like the trap", personal, "site.test", "/trap", chrome, 200},
		{"a path that is not kept from all", personal, "idle.test", "/idle/", chrome, 200},
		{"and catches nobody", personal, "idle.test", "/private/", chrome, 200},
		{"a library says what it is", disguise, "site.test", "/trap/", curl, 200},
		{"and is not caught", disguise, "site.test", "/private/", curl, 200},
		{"one that says it is a robot", disguise, "site.test", "/trap/", gptbot, 403},
		{"stays the robot that it says", disguise, "site.test", "/private/", gptbot, 200},
	} {
		t.Run(step.what, func(t *testing.T) {
			c.expectFrom(t, step.address, step.host, step.path, step.agent, step.want, "")
		})
	}

	// The log is complete once it tells of a later catch.
	c.expectFrom(t, personal, "site.test", "/trap/last", firefox, 403, "")
	c.log.wait(t, "the last one was trapped", c.ended, message(msgTrapped), field("path", "/trap/last"))
	lines := c.log.all(message(msgTrapped), field("client_ip", disguise))
	if len(lines) != 1 {
		t.Fatalf("lines %q about %s: got %d, want 1", msgTrapped, disguise, len(lines))
	}
	for name, want := range map[string]string{"user_agent": chrome, "host": "site.test", "path": "/trap/deep"} {
		if got := lines[0].text(name); got != want {
			t.Errorf("line %q, field %s: got %q, want %q", msgTrapped, name, got, want)
		}
	}
	c.log.wait(t, "the idle trap catches nobody", c.ended, message(msgIdleTrap), field("trap", "/idle/"))
}

func TestAPageFetchedAheadOfAPersonIsNoTrap(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+trapSites, nil)
	for name, values := range map[string][]string{
		"Sec-Purpose": {"prefetch", "prefetch;prerender", "Prefetch;anonymous-client-ip"},
		"Purpose":     {"prefetch"},
		"X-Purpose":   {"preview"},
		"X-Moz":       {"prefetch"},
	} {
		for _, value := range values {
			q := request{host: "site.test", path: "/trap/", agent: chrome, header: http.Header{name: {value}}}
			if a := c.ask(t, q.from(personal)); a.status != 200 {
				t.Errorf("GET /trap/ with %s: %s: got %d, want 200", name, value, a.status)
			}
			c.expectFrom(t, personal, "site.test", "/private/", chrome, 200, "")
		}
	}
	if got := c.trapped(t); len(got) != 0 {
		t.Errorf("trapped: got %v, want nobody", got)
	}
}

func TestAPageOfAnotherSiteLeadsNobodyIntoATrap(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+trapSites, nil)
	for _, header := range []string{
		"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Sec-Fetch-Site: none",
		"Referer: http://other.test/", "Origin: null",
	} {
		name, value, _ := strings.Cut(header, ": ")
		q := request{host: "site.test", path: "/trap/", agent: chrome, header: http.Header{name: {value}}}
		if a := c.ask(t, q.from(personal)); a.status != 200 {
			t.Errorf("GET /trap/ with %s: got %d, want 200", header, a.status)
		}
	}
	if got := c.trapped(t); len(got) != 0 {
		t.Errorf("trapped: got %v, want nobody", got)
	}
	for i, header := range []string{"Sec-Fetch-Site: same-origin", "Referer: http://site.test/page"} {
		name, value, _ := strings.Cut(header, ": ")
		q := request{host: "site.test", path: "/trap/", agent: chrome, header: http.Header{name: {value}}}
		if a := c.ask(t, q.from("198.51.100."+strconv.Itoa(30+i))); a.status != 403 {
			t.Errorf("GET /trap/ with %s: got %d, want 403: no other site has led it there", header, a.status)
		}
	}
}

func TestATrapLetsGoWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+trapSites, nil)
	c.expectFrom(t, disguise, "moment.test", "/trap/", chrome, 403, "")
	eventually(t, "it is let go", func() bool {
		return c.ask(t, request{host: "moment.test", path: "/private/", agent: chrome}.from(disguise)).status == 200
	})
	if got := c.trapped(t); len(got) != 0 {
		t.Errorf("trapped after its time: got %v, want nobody", got)
	}
}

func TestATrapCatchesOnItsOwnSiteOnly(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+trapSites, nil)
	c.expectFrom(t, disguise, "site.test", "/trap/", chrome, 403, "")
	c.expectFrom(t, disguise, "moment.test", "/private/", chrome, 200, "")
	c.expectFrom(t, disguise, "moment.test", "/trap/", chrome, 403, "")
	eventually(t, "the short trap lets it go", func() bool {
		return c.ask(t, request{host: "moment.test", path: "/private/", agent: chrome}.from(disguise)).status == 200
	})
	c.expectFrom(t, disguise, "site.test", "/private/", chrome, 403, "")
}

func TestWhoIsTrappedStaysTrappedOverAReload(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+trapSites, nil)
	c.expectFrom(t, disguise, "site.test", "/trap/", chrome, 403, "")
	status, body, err := c.loadWhole(strings.Replace(proxied+trapSites, "config 1", "config 2", 1))
	if err != nil || status != 200 {
		t.Fatalf("reload: got status %d, error %v: %s", status, err, body)
	}
	c.expectFrom(t, disguise, "site.test", "/page", chrome, 200, "page of config 2")
	c.expectFrom(t, disguise, "site.test", "/private/", chrome, 403, "")
	c.expectFrom(t, personal, "site.test", "/private/", chrome, 200, "page of config 2")
	if got := c.trapped(t); len(got) != 1 {
		t.Errorf("trapped after a reload: got %v, want one", got)
	}
}

// evidence is what the admin endpoint says of a trapped client.
type evidence struct {
	At        time.Time `json:"at"`
	Until     time.Time `json:"until"`
	Host      string    `json:"host"`
	Path      string    `json:"path"`
	Address   string    `json:"address"`
	UserAgent string    `json:"user_agent"`
}

// trapped returns what the admin endpoint lists.
func (c *caddy) trapped(t *testing.T) []evidence {
	t.Helper()
	text := c.adminGet(t, "/robots/trapped")
	var all []evidence
	if err := json.Unmarshal([]byte(text), &all); err != nil || all == nil {
		t.Fatalf("admin GET /robots/trapped: got %q, error %v, want a list", text, err)
	}
	return all
}

// release asks the admin endpoint, with any method, about an address.
func (c *caddy) release(t *testing.T, method, query string) (status int, body string) {
	t.Helper()
	return c.adminAsk(t, method, "/robots/trapped"+query)
}

func TestTheOwnerSeesWhoIsTrappedAndLetsThemGo(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+trapSites, nil)
	if got := c.trapped(t); len(got) != 0 {
		t.Errorf("trapped before anybody came: got %v, want nobody", got)
	}
	for _, step := range []struct{ address, agent string }{{disguise, chrome}, {disguise, firefox}, {realAddress6, chrome}} {
		c.expectFrom(t, step.address, "site.test", "/trap/page", step.agent, 403, "")
	}
	all := c.trapped(t)
	if len(all) != 3 {
		t.Fatalf("trapped: got %v, want 3", all)
	}
	newest := all[0]
	week := newest.Until.Sub(newest.At)
	newest.At, newest.Until = time.Time{}, time.Time{}
	if want := (evidence{Host: "site.test", Path: "/trap/page", Address: "2001:db8::/64", UserAgent: chrome}); newest != want || week != 7*24*time.Hour {
		t.Errorf("the newest of the trapped: got %+v for %s, want %+v for a week", newest, week, want)
	}

	for _, tt := range []struct {
		method, query string
		want          int
	}{
		{"DELETE", "", 400},
		{"DELETE", "?address=" + personal, 404},
		{"POST", "?address=" + disguise, 405},
		{"DELETE", "?address=" + disguise, 204},
		{"DELETE", "?address=" + disguise, 404},
	} {
		if status, body := c.release(t, tt.method, tt.query); status != tt.want {
			t.Errorf("admin %s /robots/trapped%s: got %d %s, want %d", tt.method, tt.query, status, body, tt.want)
		}
	}
	c.expectFrom(t, disguise, "site.test", "/private/", chrome, 200, "")
	c.expectFrom(t, disguise, "site.test", "/private/", firefox, 200, "")
	c.expectFrom(t, realAddress6, "site.test", "/private/", chrome, 403, "")
	// However an owner writes the address.
	if status, body := c.release(t, "DELETE", "?address="+url.QueryEscape("[2001:DB8:0::7]")); status != 204 {
		t.Errorf("admin DELETE of %s in another spelling: got %d %s, want 204", realAddress6, status, body)
	}
	if got := c.trapped(t); len(got) != 0 {
		t.Errorf("trapped after all were let go: got %v, want nobody", got)
	}
}

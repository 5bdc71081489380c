package integration

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// realLoadRules are records for all robots, each of which once refused programs that are none.
var realLoadRules = []struct {
	name, lines string
	refuses     func(path string) bool // a robot, whatever its pace
}{
	{"all", "Disallow: /", func(string) bool { return true }},
	{"delay", "Crawl-delay: 10", func(string) bool { return false }},
	{"query", "Disallow: /*?", func(path string) bool { return strings.Contains(path, "?") }},
	{"admin", "Disallow: /wp-admin/", func(path string) bool { return strings.HasPrefix(path, "/wp-admin/") }},
}

const realLoadBan = 3

// realLoadSites are a site for each of them, with bans.
func realLoadSites() string {
	var b strings.Builder
	for _, r := range realLoadRules {
		fmt.Fprintf(&b, `
http://%s.test:{$PORT} {
	robots {
		ban %d in 1m for 1d
	}
	respond /robots.txt <<ROBOTS
		User-agent: *
		%s
		ROBOTS
	respond "page"
}
`, r.name, realLoadBan, r.lines)
	}
	return b.String()
}

const challenge = "/.well-known/acme-challenge/LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0"

// realLoadPaths are what the programs of each kind ask for, as crawler/testdata/services.txt has
// the kinds, with how many times each asks, how many at once, and by which methods.
var realLoadPaths = []struct {
	kind    string
	methods []string
	paths   []string
	times   int
	at      int
}{
	{"health check", []string{"GET", "HEAD"}, []string{"/healthz?full=1"}, 3, 1}, // back to back, which is harder than every 5 s
	{"uptime monitor", []string{"GET"}, []string{"/", "/wp-admin/admin-ajax.php"}, 2, 1},
	{"validator", []string{"GET"}, []string{challenge, "/.well-known/pki-validation/fileauth.txt?x=1"}, 5, 5},
	{"webhook", []string{"POST", "GET"}, []string{"/?wc-api=WC_Gateway"}, 10, 10},
	{"site's own software", []string{"POST", "GET"}, []string{"/wp-cron.php?doing_wp_cron=1.5", "/wp-admin/theme-editor.php?wp_scrape_key=1"}, 3, 3},
	{"federation", []string{"POST", "GET"}, []string{"/users/owner/inbox?page=1"}, 3, 3},
	{"feed reader", []string{"GET"}, []string{"/feed/?format=atom"}, 2, 1},
	{"podcasts", []string{"GET"}, []string{"/feed/podcast?x"}, 2, 1},
	{"preview", []string{"GET"}, []string{"/?p=1"}, 2, 1},
	{"association", []string{"GET"}, []string{"/.well-known/assetlinks.json"}, 2, 1},
	{"image proxy", []string{"GET"}, []string{"/wp-content/a.png?w=1"}, 2, 1},
}

// callers are the User-Agents of services by their kind, and the site's own by its host.
func callers(t *testing.T, host string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../crawler/testdata/services.txt")
	if err != nil {
		t.Fatal(err)
	}
	of := map[string][]string{
		"health check": {"curl/8.5.0", "Wget/1.21.4", "Go-http-client/1.1"},
		"site's own software": {
			"WordPress/6.8.2; http://" + host, "MyShop/1.0 (+http://" + host + "/)", "python-requests/2.32 (+http://www." + host + ")",
			"Mozilla/5.0 (compatible; MyShop/1.0; +https://" + strings.ToUpper(host) + ":8443/cron)", "PHP/8.3; http://" + host,
		},
		"federation": {
			"http.rb/5.1.1 (Mastodon/4.2.5; +https://one.example/)", "http.rb/5.1.1 (Mastodon/4.2.5; +https://two.example/)",
			"Mastodon/4.3.0 (http.rb/5.2.0; +https://three.example/)",
		},
	}
	kind := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		comment, isComment := strings.CutPrefix(line, "# ")
		before, _, isKind := strings.Cut(comment, "; ")
		columns := strings.SplitN(line, " | ", 3)
		switch {
		case isComment && isKind:
			kind = before
		case !isComment && len(columns) == 3 && !strings.HasPrefix(columns[2], `"`):
			of[kind] = append(of[kind], columns[2])
		}
	}
	return of
}

// Programs that fetch for somebody and do not crawl are not refused, whatever robots.txt tells all
// robots, and a robot that asks for the same is, as far as its record says.
func TestARealLoadIsNotRefused(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+realLoadSites(), nil)
	for _, r := range realLoadRules {
		t.Run(r.name, func(t *testing.T) {
			host := r.name + ".test"
			c.carryLoad(t, host)
			c.refuseRobot(t, host, r.refuses, r.name == "delay")
			c.carryLoad(t, host) // also beside a robot that was banned at the same address
		})
	}
}

// carryLoad has all services call a site, each kind beside the others, and fails the test for each
// that is refused.
func (c *caddy) carryLoad(t *testing.T, host string) {
	t.Helper()
	agents := callers(t, host)
	var sent atomic.Int64
	var kinds sync.WaitGroup
	for n, load := range realLoadPaths {
		if len(agents[load.kind]) < 2 {
			t.Errorf("%s: got %d User-Agents, want several", load.kind, len(agents[load.kind]))
		}
		kinds.Go(func() {
			for _, agent := range agents[load.kind] {
				for _, method := range load.methods {
					for _, path := range load.paths {
						var many sync.WaitGroup
						for at := range load.at {
							many.Go(func() {
								q := request{method: method, host: host, path: path, agent: agent}.from(fmt.Sprintf("198.51.100.%d", n*16+at))
								for range load.times / load.at {
									sent.Add(1)
									if a, err := q.try(client, "http://"+c.address()); err != nil || a.status != http.StatusOK {
										t.Errorf("%s: %s %s%s for %q: got %d %q, %v, want 200", load.kind, method, host, path, agent, a.status, tail(a.body, 300), err)
									}
								}
							})
						}
						many.Wait()
					}
				}
			}
		})
	}
	// What does not say who it is, but shows it.
	for _, q := range []request{
		{method: "POST", path: "/hook?x=1"},
		{method: "GET", path: "/wp-admin/?x=1", header: http.Header{"Sec-Fetch-Mode": {"navigate"}}},
		{method: "GET", path: challenge},
		{method: "GET", path: "/wp-admin/?x=1", agent: chrome},
	} {
		q.host = host
		for range 5 {
			sent.Add(1)
			if a := c.ask(t, q.from("198.51.100.250")); a.status != http.StatusOK {
				t.Errorf("%s %s%s without a User-Agent, %v: got %d, want 200", q.method, host, q.path, q.header, a.status)
			}
		}
	}
	kinds.Wait()
	t.Logf("%s: %d requests of services", host, sent.Load())
}

// refuseRobot has GPTBot ask for what the services ask for, and fails the test where it is not
// refused by its record, by its pace or, soon, by a ban.
func (c *caddy) refuseRobot(t *testing.T, host string, refuses func(string) bool, isPaced bool) {
	t.Helper()
	offences, paced := 0, false
	for _, load := range realLoadPaths {
		for _, path := range load.paths {
			a := c.ask(t, request{host: host, path: path, agent: gptbot}.from("198.51.100.1"))
			refused := a.status == http.StatusForbidden || a.status == http.StatusTooManyRequests
			want := path != challenge && (refuses(path) || paced || offences >= realLoadBan)
			if refused != want {
				t.Errorf("GPTBot on %s%s, after %d offences: got %d, want it refused: %t", host, path, offences, a.status, want)
			}
			if refused {
				offences++
			}
			paced = isPaced
		}
	}
	if offences == 0 {
		t.Errorf("GPTBot was never refused on %s", host)
	}
}

// A record that names a library binds the health check that is made with it, from wherever it
// comes: its owner wrote the name, and a proxy or an onion service on the same machine has the same
// address. What helps is to exempt the address, or to give the check a name.
func TestAHealthCheckWhoseLibraryIsNamedIsExempt(t *testing.T) {
	t.Parallel()
	const rules = `
	respond /robots.txt <<ROBOTS
		User-agent: wget
		User-agent: curl
		Disallow: /
		ROBOTS
	respond "page"
}
`
	c := start(t, "http://named.test:{$PORT} {\n\trobots"+rules+"http://exempt.test:{$PORT} {\n\trobots {\n\t\texempt 127.0.0.0/8 ::1\n\t}"+rules, nil)
	for _, host := range []string{"named.test", "exempt.test"} {
		c.expect(t, host, "/", gptbot, 200) // waits for the rules, as no library does
	}
	for _, agent := range []string{"Wget/1.21.4", "curl/8.5.0"} {
		c.expect(t, "named.test", "/", agent, 403)
		c.expect(t, "exempt.test", "/", agent, 200)
	}
	c.expect(t, "named.test", "/", "my-healthcheck/1.0", 200) // curl -A my-healthcheck/1.0
}

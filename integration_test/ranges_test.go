package integration

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// msgNoRanges is logged once for a list of a robot's addresses that cannot be had.
const msgNoRanges = "robots' addresses could not be loaded; what was loaded before holds"

// published is a list as crawlers publish theirs.
const published = `{
	"creationTime": "2026-11-01T00:00:00.000000",
	"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]
}`

const rangeSites = standings + `
http://inline.test:{$PORT} {
	robots {
		verify Googlebot ranges 192.0.2.0/24 2001:db8::/32
		impostors refuse
	}
	import standings
}
http://file.test:{$PORT} {
	robots {
		verify Googlebot ranges {$LIST}
		impostors refuse
	}
	import standings
}
http://url.test:{$PORT} {
	robots {
		verify Googlebot ranges {$LISTS}/googlebot.json
		impostors refuse
	}
	import standings
}
http://several.test:{$PORT} {
	robots {
		verify Googlebot ranges 203.0.113.0/28
		verify Googlebot ranges {$LISTS}/googlebot.json {$LIST}
		impostors refuse
	}
	import standings
}
`

// listServer answers every request with one text. It tells whenever it is asked.
func listServer(tb testing.TB, text string) (server *httptest.Server, asked <-chan string) {
	tb.Helper()
	requests := make(chan string, 100)
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.URL.Path
		w.Header().Set("Content-Type", "application/json")
		plain(text)(w, r)
	}))
	tb.Cleanup(server.Close)
	return server, requests
}

func TestRangesTellRobotsFromImpostors(t *testing.T) {
	t.Parallel()
	server, asked := listServer(t, published)
	list := filepath.Join(t.TempDir(), "googlebot.txt")
	write(t, list, "# of our own\n192.0.2.0/24\n2001:db8::/32 # and this\n")
	c := startWith(t, proxied+rangeSites, map[string]string{"LISTS": server.URL, "LIST": list})

	for _, host := range []string{"url.test", "several.test"} {
		c.settle(t, host, realAddress, "verified") // a URL is loaded in the background
	}
	for _, host := range []string{"inline.test", "file.test", "url.test", "several.test"} {
		for _, address := range []string{realAddress, realAddress6, "::ffff:192.0.2.9"} {
			c.expectFrom(t, address, host, "/page", googlebot, 200, "verified")
		}
		for _, address := range []string{fakeAddress, "2001:db9::1", realAddress + ", " + fakeAddress} {
			c.expectFrom(t, address, host, "/page", googlebot, 403, "")
			c.expectFrom(t, address, host, "/robots.txt", googlebot, 200, "")
			c.expectFrom(t, address, host, "/page", bingbot, 200, "unverified")
			c.expectFrom(t, address, host, "/page", chrome, 200, "page")
			c.expectFrom(t, address, host, "/page", curl, 200, "page")
		}
	}
	c.expectFrom(t, "203.0.113.15", "several.test", "/page", googlebot, 200, "verified")
	c.expectFrom(t, "203.0.113.16", "several.test", "/page", googlebot, 403, "")
	// A site that starts later takes what the first one has put into the storage.
	if got := len(asked); got < 1 || got > 2 {
		t.Errorf("requests for the list: got %d, want 1 or 2, for two sites that have it", got)
	}
}

func TestARestartWithoutNetworkKnowsTheRobotsItKnew(t *testing.T) {
	t.Parallel()
	server, asked := listServer(t, published)
	data := t.TempDir()
	site := proxied + standings + `
http://url.test:{$PORT} {
	robots {
		verify Googlebot ranges {$LISTS}/googlebot.json
		impostors refuse
	}
	import standings
}
`
	env := map[string]string{"LISTS": server.URL, "XDG_DATA_HOME": data}
	kept := func() []string {
		files, err := filepath.Glob(filepath.Join(data, "caddy", "robots", "ranges", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	t.Run("with network", func(t *testing.T) {
		c := startWith(t, site, env)
		c.settle(t, "url.test", realAddress, "verified")
		eventually(t, "the list is kept", func() bool { return len(kept()) == 1 })
	})
	server.Close()
	t.Run("restarted without", func(t *testing.T) {
		c := startWith(t, site, env)
		c.expectFrom(t, realAddress, "url.test", "/page", googlebot, 200, "verified")
		c.expectFrom(t, fakeAddress, "url.test", "/page", googlebot, 403, "")
		c.expectFrom(t, fakeAddress, "url.test", "/page", chrome, 200, "page")
		if got := c.log.all(message(msgNoRanges)); len(got) != 0 {
			t.Errorf("lines %q: got %v, want none within a day of the last load", msgNoRanges, got)
		}
	})
	t.Run("restarted with what is kept destroyed", func(t *testing.T) {
		for _, file := range kept() {
			if err := os.WriteFile(file, []byte(`{"text": "<html>`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c := startWith(t, site, env)
		c.log.wait(t, "the list cannot be had", c.ended, message(msgNoRanges))
		for _, address := range []string{realAddress, fakeAddress} {
			c.expectFrom(t, address, "url.test", "/page", googlebot, 200, "unverified")
		}
	})
	if got := len(asked); got != 1 {
		t.Errorf("requests for the list: got %d, want 1", got)
	}
}

// untrusted are answers that are no list of a robot's addresses.
var untrusted = map[string]http.HandlerFunc{
	"/page.html":  plain("<!doctype html>\n<title>Moved</title>\n192.0.2.0/24\n"),
	"/all.json":   plain(`{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv4Prefix": "0.0.0.0/0"}]}`),
	"/all6.json":  plain(`{"prefixes": [{"ipv6Prefix": "::/0"}]}`),
	"/empty.txt":  plain(""),
	"/none.json":  plain(`{"prefixes": []}`),
	"/half.json":  plain(`{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv4Pre`),
	"/wrong.txt":  plain("192.0.2.0/24\nnot an address\n"),
	"/missing":    http.NotFound,
	"/broken":     broken,
	"/cut":        cut,
	"/closed":     closed,
	"/in-circles": circle,
}

func TestAListThatCannotBeTrustedIsLoggedOnceAndRefusesNobody(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer, ok := untrusted[r.URL.Path]; ok {
			answer(w, r)
		}
	}))
	defer server.Close()
	folder := t.TempDir()
	write(t, folder+"/all.txt", "0.0.0.0/0\n")
	lists := []string{folder + "/all.txt", folder + "/missing.txt"}
	for path := range untrusted {
		lists = append(lists, server.URL+path)
	}
	sites := proxied + standings
	for i, list := range lists {
		sites += untrustedSite(i, list)
	}
	c := startWith(t, sites, nil)
	for i, list := range lists {
		of := field("list", list)
		c.log.wait(t, list+" cannot be had", c.ended, message(msgNoRanges), of)
		host := untrustedHost(i)
		for _, address := range []string{realAddress, fakeAddress} {
			c.expectFrom(t, address, host, "/page", googlebot, 200, "unverified")
			c.expectFrom(t, address, host, "/page", chrome, 200, "page")
		}
		c.expectFrom(t, "203.0.113.1", host, "/page", googlebot, 200, "verified") // by the other list
		if got := len(c.log.all(message(msgNoRanges), of)); got != 1 {
			t.Errorf("lines %q about %s: got %d, want 1", msgNoRanges, list, got)
		}
	}
}

func untrustedHost(i int) string { return "list" + string(rune('a'+i)) + ".test" }

// untrustedSite knows its robot by two lists, of which only one can be had.
func untrustedSite(i int, list string) string {
	return "http://" + untrustedHost(i) + `:{$PORT} {
	robots {
		verify Googlebot ranges ` + list + ` 203.0.113.0/28
		impostors refuse
	}
	import standings
}
`
}

func TestARangeThatProvesNothingIsRefusedWithTheConfig(t *testing.T) {
	t.Parallel()
	c := start(t, "http://:{$PORT} {\n\trobots\n\trespond page\n}\n", nil)
	for _, ranges := range []string{"0.0.0.0/0", "::/0", "192.0.2.0/33"} {
		status, body, err := c.load("http://:{$PORT} {\n\trobots {\n\t\tverify Googlebot ranges " + ranges + "\n\t}\n}\n")
		if err != nil || status != 400 || !strings.Contains(body, ranges) {
			t.Errorf("loading a config with ranges %s: got status %d, error %v, %s; want 400 and a mention of it", ranges, status, err, body)
		}
	}
	c.expect(t, "", "/page", chrome, 200)
}

func TestRangesProveRobotsOverTLSToo(t *testing.T) {
	t.Parallel()
	const site = `{
	admin {$ADMIN}
	auto_https disable_redirects
	skip_install_trust
}
https://secure.test:{$PORT} {
	tls internal
	robots {
		verify Googlebot ranges 127.0.0.1
		verify bingbot ranges 192.0.2.0/24
		impostors refuse
	}
	import standings
}
`
	c := startWith(t, strings.Replace(site, "https://", standings+"https://", 1), nil)
	c.awaitTLS(t)
	for _, major := range []int{1, 2} {
		visitor := secureClient(t, c, major == 2)
		for _, tt := range []struct {
			agent, body string
			want        int
		}{{googlebot, "verified", 200}, {bingbot, "unverified", 200}, {gptbot, "unverified", 200}, {chrome, "page", 200}} {
			a, err := request{path: "/page", agent: tt.agent}.try(visitor, "https://secure.test:"+c.env["PORT"])
			if err != nil || a.status != tt.want || a.major != major || tt.body != "" && a.body != tt.body {
				t.Errorf("GET /page for %q: got %d %q over HTTP/%d, error %v, want %d %q over HTTP/%d",
					tt.agent, a.status, a.body, a.major, err, tt.want, tt.body, major)
			}
		}
	}
}

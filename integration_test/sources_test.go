package integration

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// keepOut disallows two folders to every robot.
const keepOut = "User-agent: *\nDisallow: /private/\nDisallow: /*?print=\n"

// application is an upstream with a front controller: it answers whatever path it gets,
// and /robots.txt also when that is named in the query alone, as after a rewrite.
func application(tb testing.TB) *httptest.Server {
	tb.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" || r.URL.Query().Get("page") == "/robots.txt" {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write([]byte(keepOut))
			return
		}
		_, _ = w.Write([]byte("asked for " + r.RequestURI))
	}))
	tb.Cleanup(upstream.Close)
	return upstream
}

// sites are the ways to serve a site, each under a host name of its own. None of them
// tells robots where its robots.txt is.
const sites = `
&(judged) {
	robots
}
http://files.test:{$PORT} {
	root * {$ROOT}
	encode
	robots
	file_server
}
http://proxy.test:{$PORT} {
	robots
	reverse_proxy {$UPSTREAM}
}
http://respond.test:{$PORT} {
	robots
	respond /robots.txt <<ROBOTS
		User-agent: *
		Disallow: /private/
		Disallow: /*?print=
		ROBOTS
	respond "asked for {uri}"
}
http://blocks.test:{$PORT} {
	handle /robots.txt {
		root * {$ROOT}
		file_server
	}
	handle {
		robots
		reverse_proxy {$UPSTREAM}
	}
}
http://part.test:{$PORT} {
	handle /private/* {
		robots
		reverse_proxy {$UPSTREAM}
	}
	handle {
		root * {$ROOT}
		try_files {path} /index.html
		file_server
	}
}
http://prefix.test:{$PORT} {
	handle_path /private/* {
		robots
		rewrite * /inner{uri}
		reverse_proxy {$UPSTREAM}
	}
	handle {
		reverse_proxy {$UPSTREAM}
	}
}
http://front.test:{$PORT} {
	robots
	rewrite * /index.php?page={path}
	reverse_proxy {$UPSTREAM}
}
http://query.test:{$PORT} {
	@page not path /robots.txt
	rewrite @page /index.php?{query}
	robots
	reverse_proxy {$UPSTREAM}
}
http://tryfiles.test:{$PORT} {
	root * {$ROOT}
	robots
	try_files {path} /index.html
	file_server
}
http://redir.test:{$PORT} {
	redir /private/* /elsewhere
	redir /robots.txt /rules/robots.txt
	robots
	handle_path /rules/* {
		root * {$ROOT}
		file_server
	}
	respond "asked for {uri}"
}
http://route.test:{$PORT} {
	route {
		uri strip_prefix /private
		rewrite /page* /index.html
		robots
		reverse_proxy {$UPSTREAM}
	}
}
http://invoke.test:{$PORT} {
	invoke judged
	reverse_proxy {$UPSTREAM}
}
`

func TestRulesAreFoundHoweverTheSiteIsServed(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/robots.txt", keepOut)
	write(t, root+"/index.html", "start")
	write(t, root+"/page.html", "page")
	write(t, root+"/private/page.html", "private")
	c := start(t, sites, map[string]string{"ROOT": root, "UPSTREAM": application(t).URL})

	tested := 0
	for block := range strings.SplitSeq(sites, "\nhttp://") {
		host, _, found := strings.Cut(block, ":{$PORT} {")
		if !found {
			continue
		}
		tested++
		t.Run(host, func(t *testing.T) {
			c.expect(t, host, "/private/page.html", bingbot, 403)
			c.expect(t, host, "/page.html", bingbot, 200)
			a := c.ask(t, request{host: host, path: "/private/page.html", agent: chrome})
			if a.status != 200 && (host != "redir.test" || a.status != 302) {
				t.Errorf("GET /private/page.html for a browser: got %d: %q", a.status, a.body)
			}
			if a := c.ask(t, request{host: host, path: "/robots.txt", agent: bingbot}); a.status != 200 && a.status != 302 {
				t.Errorf("GET /robots.txt: got %d, want it served: %q", a.status, a.body)
			}
			if host == "part.test" || host == "prefix.test" {
				return // they judge one folder only
			}
			c.expect(t, host, "/page.html?print=1", bingbot, 403)
			c.expect(t, host, "/x/../private/page.html", bingbot, 403)
			c.expect(t, host, "//private/page.html", bingbot, 403)
		})
	}
	if want := strings.Count(sites, "\nhttp://"); tested != want {
		t.Errorf("tested %d sites, want %d", tested, want)
	}
}

func TestOtherRoutesOfTheSiteAreNotJudged(t *testing.T) {
	c := start(t, `
http://:{$PORT} {
	robots /shop/*
	respond /robots.txt <<ROBOTS
		User-agent: *
		Disallow: /
		ROBOTS
	respond "served"
}
`, nil)
	c.expect(t, "", "/shop/shoes", bingbot, 403)
	c.expect(t, "", "/about", bingbot, 200)
}

func TestATenantLeadsNobodyIntoTheServersNetwork(t *testing.T) {
	t.Parallel()
	secret := newVisited(t)
	port := strings.TrimPrefix(secret.URL, "http://127.0.0.1")
	// What a tenant's robots.txt redirects to, by the tenant's host.
	places := map[string]string{
		"a.test": "127.0.0.1", "b.test": "localhost", "c.test": "[::1]", "d.test": "0.0.0.0", "e.test": "[::ffff:127.0.0.1]", "f.test": "127.0.0.2",
	}
	tenants := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, _ := net.SplitHostPort(r.Host); r.URL.Path == "/robots.txt" {
			http.Redirect(w, r, "http://"+places[host]+port+"/latest/meta-data/", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "page")
	}))
	t.Cleanup(tenants.Close)
	c := start(t, `
http://:{$PORT} {
	robots {
		announce sitemap license timegate
	}
	reverse_proxy {$TENANTS}
}
http://owner.test:{$PORT} {
	robots {
		source url {$UPSTREAM}/robots.txt
	}
	redir /robots.txt {$UPSTREAM}/robots.txt
	respond "served"
}
`, map[string]string{
		"TENANTS":  strings.TrimPrefix(tenants.URL, "http://"),
		"UPSTREAM": strings.Replace(application(t).URL, "127.0.0.1", "localhost", 1),
	})
	for host, place := range places {
		for _, agent := range []string{bingbot, chrome} {
			a := c.expect(t, host, "/private/page", agent, 200)
			if link := a.header.Get("Link"); link != "" {
				t.Errorf("%s for %q: got Link %q, want none", host, agent, link)
			}
		}
		c.log.wait(t, "the log says what to write", c.ended, message(msgNeverLoaded), field("host", host), func(l line) bool {
			return strings.Contains(l.text("error"), "write source url http://"+place+port+"/latest/meta-data/")
		})
	}
	if came := secret.drain(); len(came) > 0 {
		t.Errorf("what is internal was asked for by %q", came)
	}
	// What the owner names is followed anywhere.
	c.expect(t, "owner.test", "/private/page", bingbot, 403)
	c.expect(t, "owner.test", "/page", bingbot, 200)
}

const fileSite = `
http://:{$PORT} {
	robots {
		source file {$RULES}
		refresh 1s
	}
	respond "page"
}
`

func TestAFileThatGoesAwayKeepsItsRules(t *testing.T) {
	t.Parallel()
	name := t.TempDir() + "/rules.txt"
	write(t, name, firstRules)
	c := start(t, fileSite, map[string]string{"RULES": name})
	c.expect(t, "", "/first/", gptbot, 403)

	remove := func() error { return os.Remove(name) }
	folder := func() error { return os.Mkdir(name, 0o755) }
	secret := func() error {
		if os.Geteuid() == 0 { // root may read a file of mode 000, but no link that leads to itself
			return os.Symlink(name, name)
		}
		return os.WriteFile(name, []byte(secondRules), 0)
	}
	stretch := 0
	for _, fault := range []struct {
		name  string
		apply []func() error
	}{
		{"deleted", []func() error{remove}},
		{"a folder", []func() error{remove, folder}},
		{"unreadable", []func() error{remove, secret}},
	} {
		t.Run(fault.name, func(t *testing.T) {
			for _, apply := range fault.apply {
				if err := apply(); err != nil {
					t.Fatal(err)
				}
			}
			stretch++
			eventually(t, "the log says that the file cannot be loaded", func() bool {
				c.robotComes(t, "")
				return len(c.log.all(message(msgUnavailable))) >= stretch
			})
			c.expect(t, "", "/first/", gptbot, 403)
			c.expect(t, "", "/first/", chrome, 200)
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			write(t, name, firstRules)
			eventually(t, "the log says that the file can be loaded", func() bool {
				c.robotComes(t, "")
				return len(c.log.all(message(msgAvailable))) >= stretch
			})
			c.expect(t, "", "/first/", gptbot, 403)
			if got := len(c.log.all(message(msgUnavailable))); got != stretch {
				t.Errorf("lines %q: got %d, want %d", msgUnavailable, got, stretch)
			}
		})
	}
}

func TestAFileReplacedByGarbageAndBackIsFollowed(t *testing.T) {
	t.Parallel()
	name := t.TempDir() + "/rules.txt"
	write(t, name, firstRules)
	c := start(t, fileSite, map[string]string{"RULES": name})
	c.expect(t, "", "/first/", gptbot, 403)
	for i, garbage := range []string{"\x00\x01\x02\xff\xfe", "\xff\xfeU\x00s\x00e\x00r\x00", strings.Repeat(":", 100_000)} {
		write(t, name, garbage)
		eventually(t, fmt.Sprintf("garbage %d means no rules", i), func() bool { return c.status(t, "", "/first/") == 200 })
		c.expect(t, "", "/first/", chrome, 200)
		write(t, name, firstRules)
		eventually(t, "the rules hold again", func() bool { return c.status(t, "", "/first/") == 403 })
	}
}

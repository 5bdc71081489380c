package integration

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

const hostSites = `
http://a.test:{$PORT} {
	robots
	respond /robots.txt <<ROBOTS
		User-agent: *
		Disallow: /a/
		ROBOTS
	respond "a"
}
http://b.test:{$PORT} {
	robots
	respond /robots.txt <<ROBOTS
		User-agent: *
		Disallow: /b/
		ROBOTS
	respond "b"
}
http://*.wild.test:{$PORT} {
	robots {
		source file {$FOLDER}/rules/{host}.txt
		serve
	}
	respond "wild"
}
http://:{$PORT} {
	robots
	handle /robots.txt {
		root * {$FOLDER}/sites/{host}
		file_server
	}
	respond "any"
}
`

func TestEachHostHasItsOwnRules(t *testing.T) {
	folder := t.TempDir()
	write(t, folder+"/rules/one.wild.test.txt", "User-agent: *\nDisallow: /one/\n")
	write(t, folder+"/rules/two.wild.test.txt", "User-agent: *\nDisallow: /two/\n")
	write(t, folder+"/sites/c.test/robots.txt", "User-agent: *\nDisallow: /c/\n")
	write(t, folder+"/sites/d.test/robots.txt", "User-agent: GPTBot\nDisallow: /\n")
	c := start(t, hostSites, map[string]string{"FOLDER": folder})

	for _, tt := range []struct {
		host, path string
		want       int
	}{
		{"a.test", "/a/", 403},
		{"a.test", "/b/", 200},
		{"b.test", "/a/", 200},
		{"b.test", "/b/", 403},
		{"one.wild.test", "/one/", 403},
		{"one.wild.test", "/two/", 200},
		{"two.wild.test", "/one/", 200},
		{"two.wild.test", "/two/", 403},
		{"three.wild.test", "/one/", 200}, // no file, no rules
		{"c.test", "/c/", 403},
		{"c.test", "/a/", 200},
		{"d.test", "/c/", 403},
		{"e.test", "/c/", 200}, // its robots.txt is 404

		{"a.test:{$PORT}", "/a/", 403},
		{"A.Test", "/a/", 403},
		{"A.TEST:8080", "/b/", 200},
		{"One.Wild.Test", "/one/", 403},
		{"c.test:{$PORT}", "/c/", 403},
		{"c.test:1", "/c/", 403},
		{"[::1]:{$PORT}", "/c/", 200},
		{"..%2f..", "/c/", 200},
	} {
		host := c.expand(tt.host)
		c.expect(t, host, tt.path, gptbot, tt.want)
		c.expect(t, host, tt.path, chrome, 200)
	}
}

// A final dot makes another host of it for Caddy's own host matching. Whatever answers
// there, its rules are the ones that are told there.
func TestHostWithAFinalDotIsJudgedByWhatItServes(t *testing.T) {
	c := start(t, `
http://a.test:{$PORT}, http://a.test.:{$PORT} {
	robots
	respond /robots.txt <<ROBOTS
		User-agent: *
		Disallow: /a/
		ROBOTS
	respond "a"
}
`, nil)
	for _, host := range []string{"a.test", "a.test.", "A.TEST.:{$PORT}"} {
		c.expect(t, c.expand(host), "/a/", gptbot, 403)
		c.expect(t, c.expand(host), "/b/", gptbot, 200)
	}
}

func TestOneHostsPaceIsNotAnothers(t *testing.T) {
	c := start(t, `
http://:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: *
			Crawl-delay: 3600
			ROBOTS
	}
	respond "served"
}
`, nil)
	c.expect(t, "a.test", "/", bingbot, 200)
	c.expect(t, "b.test", "/", bingbot, 200)
	c.expect(t, "a.test", "/", gptbot, 200)
	c.expect(t, "a.test", "/", bingbot, 429)
	c.expect(t, "A.TEST:8080", "/", bingbot, 429)
}

func TestAReloadDoesNotEndTheFirstLoadThatARobotWaitsFor(t *testing.T) {
	asked, release := make(chan struct{}, 100), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			asked <- struct{}{}
			<-release
			_, _ = w.Write([]byte(reloadRules))
		}
	}))
	defer upstream.Close()
	c := start(t, reloadable(0), map[string]string{"UPSTREAM": upstream.URL})
	answers := make(chan answer, 1)
	go func() {
		a, _ := request{path: "/page", agent: gptbot}.try(client, "http://"+c.address())
		answers <- a
	}()
	select {
	case <-asked:
	case <-time.After(patience):
		t.Fatal("robots.txt was never asked for")
	}
	c.reload(t, 1)
	close(release)
	if a := <-answers; a.status != 403 {
		t.Errorf("GET /page for %q, asked before the reload: got %d, want 403", gptbot, a.status)
	}
}

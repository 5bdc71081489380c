package integration

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What a page of templates includes is asked for with the headers of the robot that asked for
// the page, and is part of its answer.
func TestWhatAPageIncludesIsNotJudged(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/page.html", `<p>{{httpInclude "/parts/news.html"}} {{httpInclude "/latest"}} {{httpInclude "/robots.txt"}}</p>`)
	write(t, root+"/outer.html", `<p>{{httpInclude "/page.html"}}</p>`)
	write(t, root+"/parts/news.html", "news")
	c := start(t, `
http://:{$PORT} {
	root * {$ROOT}
	rewrite /latest /parts/news.html
	robots {
		source text "User-agent: *
Crawl-delay: 3600
Disallow: /parts/
Disallow: /latest
"
		serve
		ban 3 in 1h for 1h
	}
	templates
	file_server
}
`, map[string]string{"ROOT": root})
	for path, agent := range map[string]string{"/page.html": "OneBot/1.0", "/outer.html": "OtherBot/1.0"} {
		a := c.ask(t, request{path: path, agent: agent})
		if a.status != 200 || !strings.Contains(a.body, "news news") || !strings.Contains(a.body, "Crawl-delay: 3600") {
			t.Errorf("%s for a robot that obeys: got %d %q, want 200 with all that is included", path, a.status, a.body)
		}
		c.expect(t, "", path, agent, http.StatusTooManyRequests) // it is the robot's second request
		c.expect(t, "", "/parts/news.html", agent, http.StatusForbidden)
	}
	c.expect(t, "", "/page.html", chrome, 200)
	// A client that writes what Caddy writes is a client.
	pretender := request{path: "/parts/news.html", agent: bingbot, header: http.Header{"Caddy-Templates-Include": {"1"}, "X-Forwarded-For": {"127.0.0.1"}}}
	if a := c.ask(t, pretender); a.status != http.StatusForbidden {
		t.Errorf("with the header of an included request: got %d, want 403", a.status)
	}
}

func TestRequestsOverAUnixSocketAreJudged(t *testing.T) {
	dir, err := os.MkdirTemp("", "caddy") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "socket")
	start(t, `
http://:{$PORT} {
	respond "elsewhere"
}
http://socket.test {
	bind unix/{$SOCKET}
	robots {
		source text "User-agent: *
Disallow: /
"
	}
	respond "page"
}
`, map[string]string{"SOCKET": socket})
	client := &http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	for agent, want := range map[string]int{bingbot: 403, chrome: 200} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://socket.test/page", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", agent)
		a, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != want {
			t.Errorf("%s: got %d, want %d", agent, a.StatusCode, want)
		}
	}
}

// WordPress answers its API at any path, where rest_route says so.
func TestRobotsTxtIsExemptWithoutAQueryOnly(t *testing.T) {
	c := start(t, `
http://:{$PORT} {
	robots {
		source text "User-agent: *
Disallow: /
"
	}
	respond "{method} {uri}"
}
`, nil)
	for _, tt := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/robots.txt", 200}, {"HEAD", "/robots.txt", 200}, {"GET", "//robots.txt", 200}, {"GET", "/robots.txt?", 200},
		{"GET", "/robots.txt?rest_route=/wp/v2/posts", 403}, {"GET", "/%72obots.txt?rest_route=/wp/v2/posts", 403},
		{"POST", "/robots.txt", 403}, {"PROPFIND", "/robots.txt", 403},
		{"GET", "/.well-known/acme-challenge/token", 200}, {"GET", "/.well-known/acme-challenge/token?rest_route=/", 403},
		{"GET", "/.well-known/acme-challenge/../page", 403}, {"GET", "/.well-known/acme-challenge/%2e%2e%2fpage", 403},
	} {
		if a := c.ask(t, request{method: tt.method, path: tt.path, agent: bingbot}); a.status != tt.want {
			t.Errorf("%s %s: got %d, want %d", tt.method, tt.path, a.status, tt.want)
		}
	}
}

// likeReference stands for Node.js in the tests of evasion.
func TestNodeReadsATargetAsAReference(t *testing.T) {
	need(t, "nodejs")
	var targets []string
	for _, page := range []string{"/private/page.html", "/open.html", "/"} {
		for _, spell := range kinds {
			if spell.name == "host" {
				for _, target := range spell.spell(page) {
					targets = append(targets, strings.ReplaceAll(target, "{host}", "localhost"))
				}
			}
		}
	}
	input, err := json.Marshal(targets)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command("nodejs", "-e", `
		const targets = JSON.parse(process.argv[1]), path = (t) => decodeURIComponent(new URL(t, "http://localhost").pathname);
		console.log(JSON.stringify(targets.map(path)))`, string(input))
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(targets) || len(got) < 20 {
		t.Fatalf("%d targets: got %d paths, error %v", len(targets), len(got), err)
	}
	for i, target := range targets {
		path, _, _ := strings.Cut(target, "?")
		if want := likeReference(path); got[i] != want {
			t.Errorf("%s: Node.js finds %q, likeReference %q", target, got[i], want)
		}
	}
}

// The case of letters counts in robots.txt. What docs/caddyfile.md advises for where Caddy folds it.
func TestCaddyFoldsCaseInPathMatchersAndNotInRegexps(t *testing.T) {
	c := start(t, `
http://:{$PORT} {
	robots {
		source text "User-agent: *
Disallow: /private/
Disallow: /exact/
"
	}
	handle_path /private/* {
		respond "private"
	}
	@exact path_regexp ^/exact/
	respond @exact "exact"
	respond "home"
}
`, nil)
	for path, want := range map[string]string{"/PRIVATE/page": "private", "/EXACT/page": "home", "/open": "home"} {
		if a := c.expect(t, "", path, bingbot, 200); a.body != want {
			t.Errorf("%s: got %q, want %q", path, a.body, want)
		}
	}
	for _, path := range []string{"/private/page", "/exact/page"} {
		c.expect(t, "", path, bingbot, 403)
	}
}

package integration

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// appServing stands for what a site runs: it answers /robots.txt and, with the same page,
// everything else.
func appServing(t *testing.T, robotsTxt string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = io.WriteString(w, robotsTxt)
			return
		}
		_, _ = io.WriteString(w, "page "+r.URL.RequestURI())
	}))
	t.Cleanup(s.Close)
	return s
}

// gate stands for Anubis: it asks for a proof and passes on who shows it by a cookie. What
// belongs to the challenge itself is under /.within.website/.
type gate struct {
	*httptest.Server
	mu    sync.Mutex // guards asked
	asked []string   // what was answered with the challenge, and by whom it was asked
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	c := new(gate)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := r.Cookie("proof")
		switch {
		case r.Header.Get("X-Real-IP") == "":
			http.Error(w, "no X-Real-IP", http.StatusInternalServerError)
		case strings.HasPrefix(r.URL.Path, "/.within.website/"):
			_, _ = io.WriteString(w, "a part of the challenge")
		case err == nil:
			proxy.ServeHTTP(w, r)
		default:
			c.mu.Lock()
			c.asked = append(c.asked, r.URL.RequestURI()+" "+r.UserAgent())
			c.mu.Unlock()
			_, _ = io.WriteString(w, "challenge")
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *gate) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.asked)
}

// recipe returns the robots.txt and the Caddyfile under a heading of docs/recipes.md.
func recipe(t *testing.T, heading string) (robotsTxt, caddyfile string) {
	t.Helper()
	_, section, found := strings.Cut(read(t, "docs/recipes.md"), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(section, -1)
	if !found || len(blocks) != 2 || blocks[0][1] != "robots" || blocks[1][1] != "caddyfile" {
		t.Fatalf("docs/recipes.md: %q has %d blocks, want a robots.txt and a Caddyfile", heading, len(blocks))
	}
	return blocks[0][2], blocks[1][2]
}

// cook runs a recipe as it stands there, but for its host, its scheme and its ports.
func cook(t *testing.T, heading, host, app string) (*caddy, *gate) {
	t.Helper()
	robotsTxt, caddyfile := recipe(t, heading)
	behind := appServing(t, robotsTxt)
	asks := newGate(t, behind.URL)
	for _, s := range []struct{ from, to string }{
		{"\n" + host + " {", "\nhttp://" + host + ":{$PORT} {"},
		{"localhost:8923", strings.TrimPrefix(asks.URL, "http://")},
		{app, strings.TrimPrefix(behind.URL, "http://")},
	} {
		if strings.Count(caddyfile, s.from) != 1 {
			t.Fatalf("the Caddyfile for %s has %q %d times, want once", heading, s.from, strings.Count(caddyfile, s.from))
		}
		caddyfile = strings.Replace(caddyfile, s.from, s.to, 1)
	}
	c := start(t, caddyfile, nil)
	c.loaded(t, host)
	return c, asks
}

// loaded waits until the rules of a host are loaded.
func (c *caddy) loaded(t *testing.T, host string) {
	t.Helper()
	c.expect(t, host, "/for-a-robot", gptbot, 200) // it waits for them
}

func TestRecipesLeadToTheChallengeWhatRobotsTxtDisallows(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		heading, host, app string
		costly, cheap      []string
	}{
		{
			"Gitea and Forgejo", "git.example.com", "localhost:3000",
			[]string{
				"/owner/repo/blame/branch/main/README.md", "/owner/repo/src/commit/0123456789abcdef/main.go", "/owner/repo/commits/branch/main", "/owner/repo/commit/0123456789abcdef",
				"/owner/repo/compare/v1...v2", "/owner/repo/archive/main.tar.gz", "/owner/repo/raw/branch/main/a.png", "/owner/repo/issues?q=x&type=all", "/explore/repos?q=x&sort=oldest",
				"/owner/repo/graph", "/owner/repo/activity/monthly", "/owner//repo/blame/x", "/owner/repo/%62lame/x",
			},
			[]string{
				"/", "/owner", "/owner/repo", "/owner/repo/src/branch/main/README.md", "/owner/repo/issues", "/owner/repo/issues/17", "/owner/repo/pulls", "/owner/repo/releases",
				"/explore/repos", "/user/login", "/assets/js/index.js", "/avatars/0123", "/owner/repo.git/info/refs?service=git-upload-pack", "/api/v1/repos/search?q=x", "/api/v1/repos/owner/repo/archive/main.zip", "/owner/repo/wiki",
			},
		},
		{
			"MediaWiki", "wiki.example.com", "localhost:8080",
			[]string{
				"/w/index.php?title=Main_Page&action=history", "/w/index.php?title=Main_Page&diff=17&oldid=16", "/w/index.php?oldid=16", "/wiki/Main_Page?action=history", "/w/index.php?search=x",
				"/wiki/Special:WhatLinksHere/Main_Page", "/wiki/Special%3AWhatLinksHere/Main_Page", "/wiki/Special:Contributions/Somebody", "/wiki/Special:Log?page=x",
			},
			[]string{
				"/", "/wiki/Main_Page", "/w/load.php?modules=site", "/w/index.php?title=MediaWiki:Common.css&action=raw&ctype=text/css", "/w/api.php?action=opensearch&search=x", "/w/rest.php/v1/search/title?q=x",
				"/w/resources/assets/wiki.png", "/wiki/Special:RecentChanges", "/wiki/Special:UserLogin", "/wiki/Talk:Main_Page",
			},
		},
		{
			"Discourse", "forum.example.com", "localhost:8080",
			[]string{"/search?q=x", "/tags/intersection/a/b", "/tag/a", "/c/general/4?order=views", "/t/a-topic/17/print", "/latest.rss", "/c/general/4.rss"},
			[]string{
				"/", "/latest", "/t/a-topic/17", "/t/a-topic/17/2", "/c/general/4", "/u/somebody", "/u/somebody.json", "/session/csrf", "/search/query.json?term=x", "/search.json?q=x", "/tag/a.json",
				"/c/general/4.json?order=views", "/message-bus/0123/poll", "/assets/start-discourse.js", "/my/preferences",
			},
		},
		{
			"WordPress: the search", "blog.example.com", "localhost:8080",
			[]string{"/?s=x", "/?post_type=post&s=x", "/search/x/", "/page/2/?s=x", "/index.php?s=x", "/index.php?paged=2&s=x"},
			[]string{
				"/", "/2026/11/a-post/", "/?p=17", "/wp-admin/", "/wp-admin/post.php?post=17&action=edit", "/wp-admin/admin-ajax.php", "/wp-json/wp/v2/posts?search=x", "/wp-login.php",
				"/wp-content/themes/a/style.css?ver=6.8", "/wp-includes/js/jquery.js?ver=3.7.1", "/feed/", "/?utm_source=x",
			},
		},
	} {
		t.Run(r.heading, func(t *testing.T) {
			t.Parallel()
			c, asks := cook(t, r.heading, r.host, r.app)
			for _, agent := range []string{chrome, firefox} {
				for _, path := range r.cheap {
					if a := c.expect(t, r.host, path, agent, 200); a.body != "page "+path {
						t.Errorf("%s: a reader got %q for %s, want the page", r.heading, a.body, path)
					}
				}
				if n := asks.count(); n > 0 && agent == chrome {
					t.Errorf("%s: %d readers were challenged: %q", r.heading, n, asks.asked)
				}
				for _, path := range r.costly {
					if a := c.expect(t, r.host, path, agent, 200); a.body != "challenge" {
						t.Errorf("%s: got %q for %s, want the challenge", r.heading, a.body, path)
					}
					solved := request{host: r.host, path: path, agent: agent, header: http.Header{"Cookie": {"proof=1"}}}
					if a := c.ask(t, solved); a.status != 200 || !strings.HasPrefix(a.body, "page ") {
						t.Errorf("%s: who has solved the challenge got %d %q for %s, want the page", r.heading, a.status, a.body, path)
					}
				}
			}
			if a := c.expect(t, r.host, "/.within.website/x/main.mjs", chrome, 200); a.body != "a part of the challenge" {
				t.Errorf("%s: a part of the challenge is answered with %q", r.heading, a.body)
			}
			if a := c.expect(t, r.host, "/robots.txt", chrome, 200); !strings.Contains(a.body, "User-agent: *") {
				t.Errorf("%s: /robots.txt is answered with %q", r.heading, a.body)
			}
			// What says that it is a robot is refused, without a challenge.
			before := asks.count()
			c.expect(t, r.host, r.costly[0], gptbot, 403)
			if asks.count() != before {
				t.Errorf("%s: a robot that says so was challenged", r.heading)
			}
		})
	}
}

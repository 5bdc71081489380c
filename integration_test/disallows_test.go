package integration

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// A site like Gitea: people read, and robots that look like browsers ask for what is expensive.
// Which pages are led to the challenge stands in robots.txt alone, and one line of the Caddyfile
// names it.
func TestRobotsTxtAloneSaysWhoSeesTheChallenge(t *testing.T) {
	t.Parallel()
	const people, each, robots = 200, 5, 2000
	root := t.TempDir()
	write(t, root+"/robots.txt", "User-agent: *\nDisallow: /*/blame/\n")
	behind := appServing(t, "")
	asks := newGate(t, behind.URL)
	c := start(t, `
http://:{$PORT} {
	robots {
		source file {$ROOT}/robots.txt
		refresh 1s
		serve
	}
	@costly robots_disallows
	reverse_proxy @costly {$GATE} {
		header_up X-Real-IP {client_ip}
	}
	reverse_proxy {$APP}
}
`, map[string]string{"ROOT": root, "GATE": strings.TrimPrefix(asks.URL, "http://"), "APP": strings.TrimPrefix(behind.URL, "http://")})
	c.loaded(t, "")

	// Each says what a browser says, and no two the same.
	agent := func(i int) string {
		return fmt.Sprintf("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.0 Safari/537.36", 100+i%43, i)
	}
	var visits sync.WaitGroup
	free := make(chan struct{}, 16)
	visit := func(q request, wantChallenge bool) {
		free <- struct{}{}
		visits.Go(func() {
			defer func() { <-free }()
			a, err := persistent(client, q, "http://"+c.address())
			if got := a.body == "challenge"; err != nil || a.status != 200 || got != wantChallenge {
				t.Errorf("GET %s for %q: got %d %q, %v; want the challenge: %t", q.path, q.agent, a.status, a.body, err, wantChallenge)
			}
		})
	}
	random := rand.New(rand.NewPCG(seed, seed))
	for i := range robots {
		visit(request{path: fmt.Sprintf("/owner%d/repo/blame/branch/main/file%d.go", random.IntN(50), i), agent: agent(i)}, true)
		if i < people*each {
			pages := []string{"/", "/owner/repo", "/owner/repo/src/branch/main/blame.go", "/owner/repo/issues/17", "/blame"}
			visit(request{path: pages[i%each], agent: agent(i / each)}, false)
		}
	}
	visits.Wait()
	if got := asks.count(); got != robots {
		t.Errorf("challenged: got %d, want %d", got, robots)
	}
	t.Logf("%d requests of %d people, none challenged; %d of robots for /*/blame/, %d challenged", people*each, people, robots, asks.count())

	// Another line in robots.txt, and nothing else, leads other pages there.
	write(t, root+"/robots.txt", "User-agent: *\nDisallow: /*/graph\n")
	eventually(t, "the new robots.txt holds", func() bool {
		c.robotComes(t, "")
		return c.ask(t, request{path: "/owner/repo/graph", agent: chrome}).body == "challenge"
	})
	if a := c.expect(t, "", "/owner/repo/blame/x", chrome, 200); a.body == "challenge" {
		t.Error("a page that robots.txt no longer disallows is led to the challenge")
	}
}

// The matcher says of each path what caddy robots check says, whatever becomes of the path before
// it is asked.
func TestRobotsDisallowsSaysWhatCheckSays(t *testing.T) {
	t.Parallel()
	const rules = "User-agent: GPTBot\nAllow: /open/\nDisallow: /private\nDisallow: /x\nDisallow: *A\n\nUser-agent: *\nDisallow: /private/\nDisallow: /*/blame/\nDisallow: /*?s=\nAllow: /private/press/\nDisallow: /*.pdf$\nDisallow: /a%2Fb\n"
	file := t.TempDir() + "/robots.txt"
	write(t, file, rules)
	c := start(t, `
http://:{$PORT} {
	robots {
		source file {$RULES}
	}
	rewrite * /private/index.php?s=x
	@both expression `+"`robots_disallows('*') && robots_disallows('GPTBot')`"+`
	respond @both "* GPTBot"
	@any robots_disallows
	respond @any "*"
	@cheap not robots_disallows GPTBot
	respond @cheap "-"
	respond "GPTBot"
}
`, map[string]string{"RULES": file})
	random := rand.New(rand.NewPCG(seed, seed))
	parts := []string{"/", "/private", "/press/", "/x/blame/", "/open", "?s=1", "?a&s=2", ".pdf", "//", "/./", "/..", "%2F", "%70rivate", "a%2fb", "A", "é", "%C3%A9", "*", "$", "//host.example/private/"}
	paths := []string{"/", "/robots.txt", "/robots.txt?x", "/private/press/x.pdf", "//x/private/y"}
	for range 300 {
		path := "/"
		for range 1 + random.IntN(4) {
			path += parts[random.IntN(len(parts))]
		}
		paths = append(paths, path)
	}
	said := make(map[string]string)
	for _, robot := range []string{"*", "GPTBot"} {
		run := exec.Command(caddyBinary(t), append([]string{"robots", "check", "--robots-txt", file, "--user-agent", robot}, paths...)...)
		out, _ := run.Output() // 1: something is disallowed
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) != len(paths) {
			t.Fatalf("check printed %d lines for %d paths: %s", len(lines), len(paths), tail(string(out), 500))
		}
		for i, path := range paths {
			if strings.HasPrefix(lines[i], "disallowed") && !strings.Contains(said[path], robot) {
				said[path] = strings.TrimSpace(said[path] + " " + robot)
			}
		}
	}
	counts := make(map[string]int)
	for _, path := range paths {
		a, err := c.raw("GET "+path+" HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\nUser-Agent: "+chrome+"\r\n\r\n", "GET")
		if err != nil || a.status == http.StatusBadRequest {
			continue // no server takes it
		}
		want := said[path]
		if want == "" {
			want = "-"
		}
		if a.status != 200 || a.body != want {
			t.Errorf("%q: got %d %q, check says %q", path, a.status, a.body, want)
		}
		counts[want]++
	}
	if counts["-"] < 5 || counts["GPTBot"] < 5 || counts["* GPTBot"] < 5 {
		t.Errorf("got %v, want 5 of each at the least", counts)
	}
}

// Each host has its own rules, wherever the matcher stands.
func TestRobotsDisallowsGoesByTheRulesOfItsSite(t *testing.T) {
	t.Parallel()
	c := start(t, `
(costly) {
	@costly robots_disallows
	respond @costly "costly"
	respond "page"
}
&(costly) {
	@costly robots_disallows
	respond @costly "costly"
	respond "page"
}
http://one.test:{$PORT} {
	robots {
		source text "User-agent: *
Disallow: /one/"
	}
	import costly
}
http://*.two.test:{$PORT} {
	handle /robots.txt {
		respond "User-agent: *
Disallow: /{labels.2}/"
	}
	handle /app/* {
		uri strip_prefix /app
		invoke costly
	}
	handle {
		robots
		invoke costly
	}
}
http://errors.test:{$PORT} {
	robots {
		source text "User-agent: *
Disallow: /gone/"
	}
	error 404
	handle_errors {
		@costly robots_disallows
		respond @costly "costly"
		respond "page"
	}
}
`, nil)
	for _, test := range []struct{ host, path, want string }{
		{"one.test", "/one/x", "costly"}, {"one.test", "/two/x", "page"}, {"one.test", "/robots.txt", "page"},
		{"a.two.test", "/a/x", "costly"}, {"a.two.test", "/b/x", "page"}, {"b.two.test", "/b/x", "costly"}, {"b.two.test", "/one/x", "page"},
		{"a.two.test", "/app/a/x", "page"}, // it is judged as it was asked for
		{"errors.test", "/gone/x", "costly"}, {"errors.test", "/other", "page"},
	} {
		if strings.HasSuffix(test.host, ".two.test") {
			c.expect(t, test.host, "/", gptbot, 200) // who waits for the rules
		}
		if a := c.ask(t, request{host: test.host, path: test.path, agent: chrome}); a.body != test.want {
			t.Errorf("%s%s: got %d %q, want %q", test.host, test.path, a.status, a.body, test.want)
		}
	}
}

// While robots.txt cannot be had nobody waits, and nobody is led to a challenge. Its own redirect
// is followed although it leads through what it disallows.
func TestRobotsDisallowsWaitsForNothing(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			<-release
			http.Redirect(w, r, "/static/robots.txt", http.StatusFound)
		case "/static/robots.txt":
			plain("User-agent: *\nDisallow: /static/\n")(w, r)
		default:
			plain("page")(w, r)
		}
	}))
	t.Cleanup(upstream.Close)
	c := start(t, `
http://site.test:{$PORT} {
	robots {
		unreachable deny
		refresh 1s
	}
	@costly robots_disallows
	respond @costly "costly"
	reverse_proxy {$UPSTREAM}
}
`, map[string]string{"UPSTREAM": upstream.URL})
	for range 3 {
		if a := c.expect(t, "site.test", "/static/x", chrome, 200); a.body != "page" {
			t.Errorf("before the rules are loaded: got %q, want the page", a.body)
		}
	}
	close(release)
	costly := func() bool {
		return c.ask(t, request{host: "site.test", path: "/static/x", agent: chrome}).body == "costly"
	}
	eventually(t, "the rules hold, though no robot came", costly)
	for range 3 {
		c.adminAsk(t, http.MethodPost, "/robots/refresh?host=site.test")
		if !costly() {
			t.Error("after a refresh: the rules do not hold any more")
		}
	}
}

// A verified robot that a record of its own allows a page is not led to the challenge; who only says
// so is.
func TestVerifiedRobotsAreNotLedToTheChallenge(t *testing.T) {
	t.Parallel()
	c := startDocumentedMatcher(t)
	for _, test := range []struct{ address, agent, path, want string }{
		{realAddress, googlebot, "/costly/", "page"},
		{fakeAddress, googlebot, "/page", "page"},
		{fakeAddress, chrome, "/costly/", "challenge"},
		{realAddress, chrome, "/costly/", "challenge"},
		{fakeAddress, curl, "/costly/", "challenge"},
		{realAddress, chrome, "/page", "page"},
	} {
		c.expectFrom(t, test.address, "", test.path, test.agent, 200, test.want)
	}
	c.expectFrom(t, fakeAddress, "", "/costly/", googlebot, 403, "") // by the record for all
	c.expectFrom(t, realAddress, "", "/closed/", bingbot, 403, "")
	c.expectFrom(t, realAddress, "", "/closed/", googlebot, 200, "page") // exempt
}

// startDocumentedMatcher runs the Caddyfile of the matcher in docs/caddyfile.md, with rules and addresses of its own.
func startDocumentedMatcher(t *testing.T) *caddy {
	t.Helper()
	site := documented(t, "@costly {", "example.com {\n\trobots {\n\t\tverify known\n\t}\n", `http://:{$PORT} {
	robots {
		verify Googlebot ranges 192.0.2.0/24
		exempt verified
		source text "User-agent: Googlebot
Allow: /
Disallow: /closed/

User-agent: *
Disallow: /costly/
Disallow: /closed/"
	}
`, "localhost:8923", "{$GATE}", "localhost:9000", "{$APP}")
	serving := func(body string) string {
		s := httptest.NewServer(plain(body))
		t.Cleanup(s.Close)
		return strings.TrimPrefix(s.URL, "http://")
	}
	return startWith(t, proxied+site, map[string]string{"GATE": serving("challenge"), "APP": serving("page")})
}

// A config in which robots_disallows has no rules to go by is refused, and what ran before runs on.
func TestAConfigWithoutRulesForTheMatcherIsRefused(t *testing.T) {
	t.Parallel()
	c := start(t, "http://:{$PORT} {\n\trespond \"before\"\n}\n", nil)
	bad := prelude + "http://:{$PORT} {\n\t@costly robots_disallows\n\trespond @costly \"after\"\n}\n"
	write(t, c.home+"/bad", bad)
	for _, arguments := range [][]string{{"validate", "--config"}, {"reload", "--address", c.env["ADMIN"], "--config"}} {
		run := exec.Command(caddyBinary(t), append(arguments, c.home+"/bad", "--adapter", "caddyfile")...)
		run.Env = c.environment()
		var out bytes.Buffer
		run.Stdout, run.Stderr = &out, &out
		if err := run.Run(); err == nil || !strings.Contains(out.String(), "no robots directive stands in the site of all other hosts, so there are no rules; write robots there") {
			t.Errorf("caddy %s: got error %v and %s", arguments[0], err, tail(out.String(), 500))
		}
	}
	if a := c.expect(t, "", "/", chrome, 200); a.body != "before" {
		t.Errorf("after a bad config: got %q, want what ran before", a.body)
	}
}

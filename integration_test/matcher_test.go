package integration

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// documented returns the one Caddyfile of docs/caddyfile.md that holds a text, with what
// stands for the reader's own site and servers replaced.
func documented(t *testing.T, text string, replace ...string) string {
	t.Helper()
	fence := regexp.MustCompile("(?ms)^```caddyfile\n(.*?)^```$")
	var found []string
	for _, m := range fence.FindAllStringSubmatch(read(t, "docs/caddyfile.md"), -1) {
		if strings.Contains(m[1], text) {
			found = append(found, m[1])
		}
	}
	if len(found) != 1 {
		t.Fatalf("docs/caddyfile.md: got %d Caddyfiles with %q, want 1", len(found), text)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(found[0], replace[i]) {
			t.Fatalf("docs/caddyfile.md: the Caddyfile with %q does not hold %q", text, replace[i])
		}
	}
	return strings.NewReplacer(replace...).Replace(found[0])
}

// exampleRoot is a folder with a page and a robots.txt.
func exampleRoot(t *testing.T, robotsTxt string) string {
	t.Helper()
	root := t.TempDir()
	write(t, root+"/robots.txt", robotsTxt)
	write(t, root+"/page.html", "page")
	return root
}

// visited is an upstream that remembers who came to it.
type visited struct {
	*httptest.Server
	mu     sync.Mutex // guards agents
	agents []string
}

func newVisited(t *testing.T) *visited {
	t.Helper()
	v := new(visited)
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		v.agents = append(v.agents, r.UserAgent())
		v.mu.Unlock()
		plain("tarpit")(w, r)
	}))
	t.Cleanup(v.Close)
	return v
}

// drain returns who came since it was last asked.
func (v *visited) drain() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	agents := v.agents
	v.agents = nil
	return agents
}

// lands fails the test unless a request ends at the tarpit, or, if it is not to, does not.
func (v *visited) lands(t *testing.T, c *caddy, q request, tarpit bool) {
	t.Helper()
	a := c.ask(t, q)
	came := v.drain()
	there := len(came) == 1 && came[0] == q.agent && a.body == "tarpit"
	if there != tarpit || !tarpit && len(came) > 0 {
		t.Errorf("GET %s for %.200q: got %d %q, and at the tarpit came %q; want it there: %t", q.path, q.agent, a.status, a.body, came, tarpit)
	}
}

func TestTheDocumentedTarpitGetsThoseRobotsAndNobodyElse(t *testing.T) {
	t.Parallel()
	tarpit := newVisited(t)
	c := startWith(t, prelude+documented(t, "@ai crawler", "example.com", "http://:{$PORT}", "tarpit.internal:8080", "{$TARPIT}", "/srv/example", "{$ROOT}"),
		map[string]string{"TARPIT": strings.TrimPrefix(tarpit.URL, "http://"), "ROOT": exampleRoot(t, "User-agent: *\nDisallow:\n")})
	for _, agent := range []string{
		gptbot, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
		"CCBot/2.0 (https://commoncrawl.org/faq/)", "mozilla/5.0 (compatible; gptbot/1.0; +https://openai.com/gptbot)",
		"Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)",
	} {
		for _, path := range []string{"/page.html", "/robots.txt", "/any"} {
			tarpit.lands(t, c, request{path: path, agent: agent}, true)
		}
	}
	for _, agent := range []string{
		chrome, firefox, googlebot, bingbot, curl, "",
		"Mozilla/5.0 (Linux; Android 9; CUBOT_X19 Build/PPR1.180610.011; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/74.0.3729.157 Mobile Safari/537.36",
	} {
		for _, path := range []string{"/page.html", "/robots.txt", "/any"} {
			tarpit.lands(t, c, request{path: path, agent: agent}, false)
		}
		c.expect(t, "", "/page.html", agent, 200)
	}
}

func TestTheDocumentedExpressionMeansAllRobotsButTheNamed(t *testing.T) {
	t.Parallel()
	c := startWith(t, prelude+documented(t, "expression crawler", "example.com", "http://:{$PORT}", "/srv/example", "{$ROOT}"),
		map[string]string{"ROOT": exampleRoot(t, "User-agent: *\nDisallow:\n")})
	for agent, want := range map[string]string{gptbot: "noarchive", "CCBot/2.0": "noarchive", googlebot: "", bingbot: "", chrome: "", curl: "", "": ""} {
		a := c.expect(t, "", "/page.html", agent, 200)
		if got := a.header.Get("X-Robots-Tag"); got != want {
			t.Errorf("GET /page.html for %q: got X-Robots-Tag %q, want %q", agent, got, want)
		}
	}
}

func TestImpostorsCanBeSentElsewhere(t *testing.T) {
	t.Parallel()
	tarpit := newVisited(t)
	c := startWith(t, proxied+`
http://:{$PORT} {
	robots {
		source text "User-agent: *"
		verify Googlebot ranges 192.0.2.0/24
	}
	@false crawler impostor
	handle @false {
		reverse_proxy {$TARPIT}
	}
	@true crawler Googlebot verified
	handle @true {
		respond "welcome"
	}
	handle {
		respond "page"
	}
}
`, map[string]string{"TARPIT": strings.TrimPrefix(tarpit.URL, "http://")})
	tarpit.lands(t, c, request{path: "/page", agent: googlebot}.from(fakeAddress), true)
	for _, q := range []request{
		request{path: "/page", agent: googlebot}.from(realAddress),
		request{path: "/page", agent: bingbot}.from(fakeAddress),
		request{path: "/page", agent: chrome}.from(fakeAddress),
		request{path: "/page", agent: curl}.from(fakeAddress),
	} {
		tarpit.lands(t, c, q, false)
	}
	c.expectFrom(t, realAddress, "", "/page", googlebot, 200, "welcome")
	c.expectFrom(t, realAddress, "", "/page", chrome, 200, "page")
}

func TestTheTrappedAndTheBannedCanBeSentElsewhere(t *testing.T) {
	t.Parallel()
	c := startWith(t, proxied+`
http://:{$PORT} {
	robots {
		source text "User-agent: *
Disallow: /trap/
Disallow: /private/"
		trap /trap/
		ban 2 in 1m for 1h
	}
	@trapped crawler trapped
	respond @trapped "tarpit"
	@expression expression `+"`crawler('trapped', 'banned')`"+`
	respond @expression "never: the trapped are gone, and the banned refused"
	respond "page"
	handle_errors {
		@banned crawler banned
		respond @banned "banned" 403
		respond "refused" 403
	}
}
`, nil)
	c.expectFrom(t, disguise, "", "/page", chrome, 200, "page")
	c.expectFrom(t, disguise, "", "/trap/", chrome, 403, "refused")
	c.expectFrom(t, disguise, "", "/page", chrome, 200, "tarpit")
	c.expectFrom(t, personal, "", "/page", chrome, 200, "page")
	c.expectFrom(t, disguise, "", "/private/", gptbot, 403, "refused")
	c.expectFrom(t, disguise, "", "/private/", gptbot, 403, "refused")
	c.expectFrom(t, disguise, "", "/page", gptbot, 403, "banned")
	c.expectFrom(t, disguise, "", "/page", bingbot, 200, "page")
}

func TestOfSeveralUserAgentHeadersTheStrictestDecides(t *testing.T) {
	t.Parallel()
	c := start(t, `
http://:{$PORT} {
	robots {
		source text "User-agent: GPTBot
Disallow: /private/"
	}
	respond "page"
}
`, nil)
	for agents, want := range map[string]int{
		chrome + "\r\nUser-Agent: " + gptbot: 403,
		gptbot + "\r\nuser-agent: " + chrome: 403,
		bingbot + "\r\nUser-Agent: GPTBot":   403,
		chrome + "\r\nUser-Agent: " + chrome: 200,
		chrome + "\r\nUser-Agent: " + curl:   200,
	} {
		a, err := c.raw("GET /private/ HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\nUser-Agent: "+agents+"\r\n\r\n", "GET")
		if err != nil || a.status != want {
			t.Errorf("%q: got %d, %v, want %d", agents, a.status, err, want)
		}
	}
}

func TestTreatAsRobotBindsWhatDoesNotSayThatItIsOne(t *testing.T) {
	t.Parallel()
	const (
		headless = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0.7444.59 Safari/537.36"
		phantom  = "Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1"
	)
	c := start(t, `
(site) {
	respond /robots.txt <<ROBOTS
		User-agent: *
		Disallow: /private/

		User-agent: HeadlessChrome
		Disallow: /rendered/
		ROBOTS
	respond "page"
}
http://treated.test:{$PORT} {
	robots {
		treat_as_robot "headlesschrome/"
		treat_as_robot Python-Requests SomethingElse
	}
	import site
}
http://plain.test:{$PORT} {
	robots
	import site
}
`, nil)
	for _, tt := range []struct {
		agent, path string
		want        int
	}{
		{headless, "/rendered/", 403}, // the record that names it
		{headless, "/private/", 200},
		{"python-requests/2.32.3", "/private/", 403},
		{"python-requests/2.32.3", "/page", 200},
		{phantom, "/private/", 200},
		{chrome, "/private/", 200},
		{chrome, "/rendered/", 200},
		{curl, "/private/", 200},
		{gptbot, "/private/", 403},
	} {
		c.expect(t, "treated.test", tt.path, tt.agent, tt.want)
		if tt.agent != gptbot {
			c.expect(t, "plain.test", tt.path, tt.agent, 200)
		}
	}
}

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const errorSites = `
http://page.test:{$PORT} {
	robots
	import rules
	respond "served"
	handle_errors {
		header Content-Type text/html
		respond "<p>{err.status_code} {http.robots.robot}/{http.robots.class}/{http.robots.verdict} {http.robots.record}: line {http.robots.line} {http.robots.rule} {http.robots.retry_after}"
	}
}
http://notfound.test:{$PORT} {
	robots
	import rules
	respond "served"
	handle_errors 404 {
		respond "nothing here"
	}
}
http://busy.test:{$PORT} {
	robots
	import rules
	respond "served"
	handle_errors 429 {
		respond "slow down, {http.robots.robot}" 503
	}
}
http://plain.test:{$PORT} {
	robots
	import rules
	respond "served"
}
`

// snippet is the same rules for each of the sites.
const snippet = `(rules) {
	respond /robots.txt <<ROBOTS
		User-agent: GPTBot
		Comment: write to owner@example.com
		Disallow: /

		User-agent: bingbot
		Crawl-delay: 3600
		ROBOTS
}
`

func TestErrorRoutesOfTheSiteAnswerARefusal(t *testing.T) {
	c := start(t, snippet+errorSites, nil)

	a := c.expect(t, "page.test", "/", gptbot, 403)
	if want := "<p>403 GPTBot/robot/disallowed GPTBot: line 3 Disallow: / 0"; a.body != want {
		t.Errorf("403 by handle_errors: got %q, want %q", a.body, want)
	}
	if got := a.header.Get("Content-Type"); got != "text/html" {
		t.Errorf("403 by handle_errors: got Content-Type %q, want text/html", got)
	}
	if got := a.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("403 by handle_errors: got Cache-Control %q, want no-store", got)
	}

	c.expect(t, "page.test", "/", bingbot, 200)
	a = c.expect(t, "page.test", "/", bingbot, 429)
	if want := "<p>429 bingbot/robot/too_fast bingbot: line 6 Crawl-delay: 3600 "; !strings.HasPrefix(a.body, want) {
		t.Errorf("429 by handle_errors: got %q, want it to begin with %q", a.body, want)
	}
	if retry := a.header.Get("Retry-After"); retry == "" || !strings.HasSuffix(a.body, " "+retry) {
		t.Errorf("429 by handle_errors: got Retry-After %q and body %q, want the same seconds in both", retry, a.body)
	}
	if got := a.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("429 by handle_errors: got Cache-Control %q, want no-store", got)
	}

	c.expect(t, "busy.test", "/", bingbot, 200)
	a = c.expect(t, "busy.test", "/", bingbot, 503)
	if want := "slow down, bingbot"; a.body != want || a.header.Get("Retry-After") == "" {
		t.Errorf("429 by handle_errors: got %q and Retry-After %q, want %q and some seconds", a.body, a.header.Get("Retry-After"), want)
	}
}

func TestErrorRoutesForOtherErrorsLeaveTheExplanation(t *testing.T) {
	c := start(t, snippet+errorSites, nil)
	for _, host := range []string{"notfound.test", "busy.test", "plain.test"} {
		a := c.expect(t, host, "/", gptbot, 403)
		for _, want := range []string{"GPTBot", "Line 3:", "Disallow: /", "write to owner@example.com", "/robots.txt"} {
			if !strings.Contains(a.body, want) {
				t.Errorf("403 of %s: got %q, want it to hold %q", host, a.body, want)
			}
		}
		if got := a.header.Get("Content-Type"); !strings.HasPrefix(got, "text/plain") {
			t.Errorf("403 of %s: got Content-Type %q, want text/plain", host, got)
		}
	}
	c.expect(t, "notfound.test", "/", bingbot, 200)
	if a := c.expect(t, "notfound.test", "/", bingbot, 429); !strings.Contains(a.body, "Come back:") {
		t.Errorf("429 of notfound.test: got %q, want it to say when to come back", a.body)
	}
}

// refusalPages are the Caddyfiles under "Your own refusal page", ready to run.
func refusalPages(t *testing.T) []string {
	t.Helper()
	_, section, _ := strings.Cut(read(t, "docs/caddyfile.md"), "## Your own refusal page")
	section, _, _ = strings.Cut(section, "\n## ")
	var sites []string
	for _, block := range strings.Split(section, "```caddyfile\n")[1:] {
		block, _, _ = strings.Cut(block, "\n```")
		ready := strings.NewReplacer("example.com {", "http://example.com:{$PORT} {", "/srv/example", "example", "tarpit.internal:8080", "{$TARPIT}")
		sites = append(sites, ready.Replace(block)+"\n")
	}
	if len(sites) != 3 {
		t.Fatalf("docs/caddyfile.md has %d Caddyfiles under \"Your own refusal page\", want 3", len(sites))
	}
	return sites
}

func TestHTMLRefusalPageOfTheReferenceWorks(t *testing.T) {
	c := start(t, refusalPages(t)[0], nil)
	a := c.expect(t, "example.com", "/news.html", gptbot, 403)
	for _, want := range []string{"<title>403 Forbidden</title>", "GPTBot, line 9", "Disallow: /"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("refusal page: got %q, want it to hold %q", a.body, want)
		}
	}
	if got := a.header.Get("Content-Type"); got != "text/html" {
		t.Errorf("refusal page: got Content-Type %q, want text/html", got)
	}
}

func TestJSONRefusalOfTheReferenceWorks(t *testing.T) {
	c := start(t, refusalPages(t)[1], nil)
	a := c.expect(t, "example.com", "/news.html", gptbot, 403)
	var got map[string]any
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatalf("refusal: got %q, which is no JSON: %v", a.body, err)
	}
	want := map[string]any{"title": "disallowed", "status": 403.0, "robot": "GPTBot", "line": 9.0, "retry_after": 0.0}
	if !maps.Equal(got, want) {
		t.Errorf("refusal: got %v, want %v", got, want)
	}
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("refusal: got Content-Type %q, want application/problem+json", got)
	}
}

func TestTarpitOfTheReferenceWorks(t *testing.T) {
	tarpit := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "stay, %s: %s", r.Header.Get("X-Robot"), r.Header.Get("X-Rule"))
	}))
	t.Cleanup(tarpit.Close)
	c := start(t, refusalPages(t)[2], map[string]string{"TARPIT": tarpit.Listener.Addr().String()})
	if got, want := c.expect(t, "example.com", "/news.html", gptbot, 200).body, "stay, GPTBot: Disallow: /"; got != want {
		t.Errorf("refused robot: got %q, want %q", got, want)
	}
	if got := c.expect(t, "example.com", "/news.html", chrome, 200).body; strings.Contains(got, "stay") {
		t.Errorf("browser: got %q, want the page", got)
	}
}

func TestRefusalsLinkToTheRules(t *testing.T) {
	c := start(t, snippet+errorSites, nil)
	for _, host := range []string{"page.test", "plain.test"} {
		a := c.expect(t, host, "/", gptbot, 403)
		if got, want := a.header.Get("Link"), `</robots.txt>; rel="describedby"`; got != want {
			t.Errorf("403 of %s: got Link %q, want %q", host, got, want)
		}
	}
}

package integration

import (
	"regexp"
	"strings"
	"testing"
)

// The Caddyfile of docs/kubernetes.md runs as it stands, but for its ports and the address of its site:
// probes, people and webhooks pass, behind an ingress that says who asks.
func TestTheCaddyfileForKubernetesRuns(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/kubernetes.md")
	_, indented, found := strings.Cut(page, "  Caddyfile: |\n")
	indented, _, _ = strings.Cut(indented, "\n---\n")
	caddyfile := regexp.MustCompile(`(?m)^ {4}`).ReplaceAllString(indented, "")
	path := regexp.MustCompile(`path: (\S+)`).FindStringSubmatch(page)
	if !found || path == nil {
		t.Fatal("docs/kubernetes.md has no Caddyfile or no probe")
	}
	site := appServing(t, "User-agent: *\nDisallow: /\n\nUser-agent: GPTBot\nDisallow: /\n")
	for _, place := range [][2]string{{"{\n\tauto_https off\n", "{\n\tadmin {$ADMIN}\n\tgrace_period 2s\n\tauto_https off\n"}, {":8080 {", ":{$PORT} {"}, {"site:80", strings.TrimPrefix(site.URL, "http://")}} {
		if strings.Count(caddyfile, place[0]) != 1 {
			t.Fatalf("the Caddyfile has %q %d times, want once:\n%s", place[0], strings.Count(caddyfile, place[0]), caddyfile)
		}
		caddyfile = strings.Replace(caddyfile, place[0], place[1], 1)
	}
	c := startWith(t, caddyfile, nil)
	for range 3 { // the probes of a node come without an ingress
		c.expect(t, "10.1.2.3:8080", path[1], "kube-probe/1.32", 200)
	}
	for agent, want := range map[string]int{
		chrome: 200, firefox: 200, curl: 200, "Stripe/1.0 (+https://stripe.com/docs/webhooks)": 200, "GoogleHC/1.0": 200,
		gptbot: 403, bingbot: 403,
	} {
		c.expectFrom(t, personal, "example.com", "/page", agent, want, "")
	}
	c.expectFrom(t, personal, "example.com", "/robots.txt", gptbot, 200, "")
}

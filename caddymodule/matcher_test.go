package caddymodule

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

const bytespider = "Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)"

var matcherCases = []struct {
	matcher    string // as in a Caddyfile
	expression string // the same in CEL
	want       string // of GPTBot, CCBot, Bytespider, curl, an app, none stated, a browser
}{
	{"crawler", "crawler('*')", "yes yes yes no no no no"},
	{"crawler GPTBot ccbot", "crawler('GPTBot', 'ccbot')", "yes yes no no no no no"},
	{"crawler Bot", "crawler('Bot')", "yes yes no no no no no"},
	{"crawler curl", "crawler('curl')", "no no no yes no no no"},
	{"crawler cur CFNetwork", "crawler('cur', 'CFNetwork')", "no no no no no no no"},
	{"crawler Mozilla Chrome Safari", "crawler('Mozilla', 'Chrome', 'Safari')", "no no no no no no no"},
}

var matcherAgents = []string{gptBot, ccBot, bytespider, curl, someApp, "", chrome}

func answers(t *testing.T, match func(userAgent string) (bool, error)) string {
	t.Helper()
	var all []string
	for _, agent := range matcherAgents {
		matches, err := match(agent)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, map[bool]string{true: "yes", false: "no"}[matches])
	}
	return strings.Join(all, " ")
}

func TestCrawlerMatcher(t *testing.T) {
	for _, test := range matcherCases {
		var m MatchCrawler
		if err := m.UnmarshalCaddyfile(caddyfile.NewTestDispenser(test.matcher)); err != nil {
			t.Fatal(err)
		}
		if err := m.Provision(contextWithStorage(t)); err != nil {
			t.Fatal(err)
		}
		got := answers(t, func(agent string) (bool, error) { return m.MatchWithError(newRequest("GET", "/", agent)) })
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.matcher, got, test.want)
		}
	}
}

// The site's own server is no robot to the matcher either.
func TestCrawlerMatcherKnowsTheSitesOwnServer(t *testing.T) {
	m := MatchCrawler{}
	if err := m.Provision(contextWithStorage(t)); err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string]bool{
		"MyShop/1.0 (+https://site.example/)": false, "MyShop/1.0 (+https://other.example/)": true, "MyShopBot/1.0 (+https://site.example/)": true,
	} {
		if got := m.Match(newRequest("GET", "/", agent)); got != want {
			t.Errorf("%s: got %t, want %t", agent, got, want)
		}
	}
}

func TestCrawlerMatcherInExpressions(t *testing.T) {
	for _, test := range matcherCases {
		m := caddyhttp.MatchExpression{Expr: test.expression}
		if err := m.Provision(contextWithStorage(t)); err != nil {
			t.Fatalf("%s: %v", test.expression, err)
		}
		got := answers(t, func(agent string) (bool, error) { return m.MatchWithError(newRequest("GET", "/", agent)) })
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.expression, got, test.want)
		}
	}
}

func TestCrawlerMatcherRefusesNamesOfNobody(t *testing.T) {
	for _, bad := range []string{`crawler ""`, `crawler GPTBot " "`, "crawler {\n\tname GPTBot\n}"} {
		var m MatchCrawler
		if err := m.UnmarshalCaddyfile(caddyfile.NewTestDispenser(bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func dispense(text string) *caddyfile.Dispenser { return caddyfile.NewTestDispenser(text) }

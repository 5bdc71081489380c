package caddymodule

import (
	"context"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
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
	{"crawler Mozilla Chrome Safari", "crawler('Mozilla', 'Chrome', 'Safari')", "yes no yes no no no no"},
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
		ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
		if err := m.Provision(ctx); err != nil {
			t.Fatal(err)
		}
		got := answers(t, func(agent string) (bool, error) { return m.MatchWithError(newRequest("GET", "/", agent)) })
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.matcher, got, test.want)
		}
		if err := m.Cleanup(); err != nil {
			t.Error(err)
		}
		cancel()
	}
}

func TestCrawlerMatcherInExpressions(t *testing.T) {
	for _, test := range matcherCases {
		ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
		m := caddyhttp.MatchExpression{Expr: test.expression}
		if err := m.Provision(ctx); err != nil {
			t.Fatalf("%s: %v", test.expression, err)
		}
		got := answers(t, func(agent string) (bool, error) { return m.MatchWithError(newRequest("GET", "/", agent)) })
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.expression, got, test.want)
		}
		cancel()
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

func TestTokensThatBindNobodyOrACrowdAreTold(t *testing.T) {
	ts := newTestSite(t, text("User-agent: Google-Extended\nUser-agent: bot\nDisallow: /\n\nUser-agent: GPTBot\nUser-agent: bot\nDisallow: /x\n"))
	ts.loadNow()
	var lines []string
	for _, entry := range ts.log.FilterMessage("robots.txt diagnostic").All() {
		lines = append(lines, entry.ContextMap()["what"].(string))
	}
	if len(lines) != 2 || !strings.Contains(lines[0], "control token") || !strings.Contains(lines[1], "binds all") {
		t.Errorf("diagnostics: got %q, want one on Google-Extended and one on bot", lines)
	}
}

func dispense(text string) *caddyfile.Dispenser { return caddyfile.NewTestDispenser(text) }

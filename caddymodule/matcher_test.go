package caddymodule

import (
	"errors"
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

func TestWordsThatAreNoNames(t *testing.T) {
	for matcher, want := range map[string]string{
		"crawler trap":            `"trap" is no robot's name; write trapped`,
		"crawler GPTBot ban":      `"ban" is no robot's name; write banned`,
		"crawler traped":          "write trapped",
		"crawler impostors":       "write impostor",
		"crawler imposter":        "write impostor",
		"crawler un-verified":     "write unverified",
		"crawler ai_training":     "write ai-training",
		"crawler AITraining":      "write ai-training",
		"crawler feeds":           "write feed",
		"crawler ai-robots":       "the purposes are search, ai-training",
		"crawler AI-Train":        "write ai-training",
		"crawler ai-4all AI2Bot":  "",
		"crawler training":        "write ai-training",
		"crawler serach":          "write search",
		"crawler moniter":         "write monitor",
		"crawler trapped GPTBot":  "write crawler trapped in a matcher of its own",
		"crawler trapped search":  "write crawler trapped in a matcher of its own",
		"crawler trapped banned":  "",
		"crawler Trapped":         "",
		"crawler * trapped":       "",
		"crawler GPTBot banned":   "",
		"crawler archiver":        "", // a part of names
		"crawler Feedly SeoBot":   "",
		"crawler Adsbot Bytes ai": "",
	} {
		var m MatchCrawler
		err := m.UnmarshalCaddyfile(dispense(matcher))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", matcher, err, want)
		}
	}
	for options, want := range map[string]string{
		`{"verified":["trapped","Banned"]}`: "",
		`{"names":["trapped"]}`:             `"trapped" is what a robots directive found and no robot's name; write it in verified`,
		`{"names":["verified"]}`:            "write it in verified",
		`{"verified":["caught"]}`:           `verified: "caught" is unknown; write verified, unverified, impostor, trapped or banned`,
	} {
		checkInJSON(t, options, want)
	}
	bad := caddyhttp.MatchExpression{Expr: "crawler('traped')"}
	if err := bad.Provision(contextWithStorage(t)); err == nil {
		t.Error("crawler('traped') is accepted")
	}
}

func TestOfSeveralUserAgentsOneMatches(t *testing.T) {
	var m MatchCrawler
	if err := errors.Join(m.UnmarshalCaddyfile(dispense("crawler GPTBot")), m.Provision(contextWithStorage(t))); err != nil {
		t.Fatal(err)
	}
	r := newRequest("GET", "/", chrome)
	r.Header.Add("User-Agent", gptBot)
	if !m.Match(r) {
		t.Error("a browser's and GPTBot's: no match, want one")
	}
	r.Header["User-Agent"] = []string{ccBot, chrome}
	if m.Match(r) {
		t.Error("CCBot's and a browser's: a match, want none")
	}
}

func TestOfSeveralUserAgentsTheStrictestIsJudged(t *testing.T) {
	th := newTestHandler(t, "User-agent: GPTBot\nDisallow: /\n", &Handler{})
	for _, sent := range [][]string{{chrome, gptBot}, {gptBot, chrome}, {"", gptBot}, {ccBot, gptBot}} {
		r := newRequest("GET", "/", "")
		r.Header["User-Agent"] = sent
		if got := th.do(r); got.Code != 403 || !strings.Contains(got.Body.String(), "GPTBot (robot)") {
			t.Errorf("%q: got %d %s, want 403 for GPTBot", sent, got.Code, got.Body)
		}
	}
	r := newRequest("GET", "/", "")
	r.Header["User-Agent"] = []string{chrome, chrome}
	if got := th.do(r).Code; got != 200 {
		t.Errorf("a browser's twice: got %d, want 200", got)
	}
}

func dispense(text string) *caddyfile.Dispenser { return caddyfile.NewTestDispenser(text) }

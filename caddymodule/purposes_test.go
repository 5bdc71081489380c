package caddymodule

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/crawler"
)

// purposeCases are what a matcher says of GPTBot, ClaudeBot, Googlebot-Image, an unheard-of robot
// whose name has the word in it, WhatsApp, curl, none stated and a browser.
var purposeCases = []struct {
	matcher    string // as in a Caddyfile
	expression string // the same in CEL
	want       string
}{
	{"crawler ai-training", "crawler('ai-training')", "yes yes no no no no no no"},
	{"crawler search", "crawler('search')", "no no yes no no no no no"},
	{"crawler Search GPTBot", "crawler('Search', 'GPTBot')", "yes no yes no no no no no"},
	{"crawler preview seo", "crawler('preview', 'seo')", "no no no no yes no no no"},
	{"crawler ai", "crawler('ai')", "no no no yes no no no no"},
}

var purposeAgents = []string{
	"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
	"Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
	"Googlebot-Image/1.0",
	"Mozilla/5.0 (compatible; ai-searchbot/1.0; +https://robot.example)",
	"WhatsApp/2.23.20.0",
	"curl/8.5.0",
	"",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
}

func matched(t *testing.T, m caddyhttp.RequestMatcherWithError) string {
	t.Helper()
	var all []string
	for _, agent := range purposeAgents {
		r, err := http.NewRequestWithContext(context.WithValue(t.Context(), caddyhttp.VarsCtxKey, map[string]any{}), "GET", "https://example.com/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r = r.WithContext(context.WithValue(r.Context(), caddy.ReplacerCtxKey, caddy.NewReplacer()))
		r.Header.Set("User-Agent", agent)
		matches, err := m.MatchWithError(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, map[bool]string{true: "yes", false: "no"}[matches])
	}
	return strings.Join(all, " ")
}

func TestTheMatcherKnowsPurposes(t *testing.T) {
	ctx := contextWithStorage(t)
	for _, test := range purposeCases {
		var m MatchCrawler
		if err := m.UnmarshalCaddyfile(caddyfile.NewTestDispenser(test.matcher)); err != nil {
			t.Fatal(err)
		}
		if err := m.Provision(ctx); err != nil {
			t.Fatal(err)
		}
		if got := matched(t, m); got != test.want {
			t.Errorf("%s: got %s, want %s", test.matcher, got, test.want)
		}
		cel := caddyhttp.MatchExpression{Expr: test.expression}
		if err := cel.Provision(ctx); err != nil {
			t.Fatal(err)
		}
		if got := matched(t, &cel); got != test.want {
			t.Errorf("%s: got %s, want %s", test.expression, got, test.want)
		}
	}
}

// checkInJSON fails the test unless a matcher with these options is refused with this error, or, where
// that is empty, is not.
func checkInJSON(t *testing.T, options, want string) {
	t.Helper()
	var m MatchCrawler
	if err := json.Unmarshal([]byte(options), &m); err != nil {
		t.Fatal(err)
	}
	err := m.check()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: got %v, want %q", options, err, want)
	}
}

// In JSON, too, the word of a purpose is never a name.
func TestPurposesInJSON(t *testing.T) {
	for options, want := range map[string]string{
		`{"purposes":["ai-training"]}`:      "",
		`{"names":["Search"]}`:              `"Search" is a purpose and no robot's name; write it among the purposes`,
		`{"purposes":["ai"]}`:               `purposes: "ai" is unknown; write search, ai-training`,
		`{"purposes":["search", "GPTBot"]}`: `purposes: "GPTBot" is unknown`,
	} {
		checkInJSON(t, options, want)
	}
}

func TestTheListOfPurposesIsWhole(t *testing.T) {
	for _, p := range crawler.Purposes() {
		if !strings.Contains(" "+listPurposes+",", " "+string(p)+",") && !strings.Contains(listPurposes, " "+string(p)+" or ") {
			t.Errorf("%q lacks %s", listPurposes, p)
		}
	}
}

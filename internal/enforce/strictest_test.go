package enforce

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// oneText has the same rules for every host.
type oneText struct{ policy *Policy }

func (o oneText) ForHost(context.Context, string, Asker) (*Policy, bool) { return o.policy, false }

func (o oneText) Asked(string, netip.Addr, time.Time) {}

func TestTheStrictestUserAgentDecides(t *testing.T) {
	const text = `User-agent: *
Disallow: /private/

User-agent: Googlebot
Disallow:

User-agent: GPTBot
Disallow: /news/

User-agent: bingbot
Crawl-delay: 10
Disallow:
`
	file := robotsrules.Parse([]byte(text), robotsrules.Options{})
	e := &Engine{Policies: oneText{&Policy{Rules: &Rules{Compiled: robotsrules.Compile(file, robotsrules.MatchSubstring)}}}}
	e.TreatAsRobot = []string{"Edg/"}
	identify := func(text string) *crawler.Identity {
		who := crawler.Identify(text)
		return &who
	}
	for _, tt := range []struct {
		path string
		sent []string
		want string
	}{
		{"/news/", []string{chrome, "GPTBot/1.2"}, "GPTBot/1.2"},
		{"/news/", []string{"GPTBot/1.2", chrome}, "GPTBot/1.2"},
		{"/news/", []string{"Googlebot/2.1", "GPTBot/1.2"}, "GPTBot/1.2"},
		{"/news/", []string{"Googlebot/2.1", chrome, "GPTBot/1.2", "curl/8"}, "GPTBot/1.2"},
		{"/private/", []string{"Googlebot/2.1", "unheardbot/1"}, "unheardbot/1"},
		{"/private/", []string{"Googlebot/2.1", ""}, ""},
		{"/", []string{"Googlebot/2.1", "bingbot/2.0"}, "bingbot/2.0"}, // the slower pace
		{"/", []string{chrome, ""}, ""},
		{"/", []string{chrome, "curl/8"}, "curl/8"},
		{"/", []string{chrome, chrome}, chrome},
		{"/private/", []string{chrome, chrome + " Edg/142.0"}, chrome + " Edg/142.0"},
	} {
		r := &Request{Method: "GET", Host: "site.example", Target: tt.path, Path: tt.path, At: time.Unix(1e9, 0)}
		got, who := e.Strictest(t.Context(), r, tt.sent, identify)
		if got != tt.want || who.Class == crawler.Robot != (strings.Contains(strings.ToLower(got), "bot") || strings.Contains(got, "Edg")) {
			t.Errorf("%s of %q: got %q, %s; want %q", tt.path, tt.sent, got, who.Class, tt.want)
		}
	}
	if _, who := e.Strictest(t.Context(), &Request{}, make([]string, 9), identify); who.Class != crawler.Robot || who.Name != "" {
		t.Errorf("of nine: got %+v, want a robot without a name", who)
	}
}

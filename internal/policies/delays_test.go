package policies

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func unreadIn(text string, o enforce.Options) string {
	file := robotsrules.Parse([]byte(text), robotsrules.Options{})
	var all []string
	for _, u := range UnreadDelays(robotsrules.Compile(file, robotsrules.MatchSubstring), &o) {
		all = append(all, u.Diagnostic().Message)
	}
	return strings.Join(all, "\n")
}

func TestDelaysThatHoldWhoDoesNotReadThem(t *testing.T) {
	const slow = "User-agent: *\nCrawl-delay: 10\n"
	const says = " holds robots whose operators say that they do not read it, and refuses them with 429: "
	unnamed := enforce.Options{Unnamed: enforce.UnnamedNobody}
	search := enforce.Options{Unpaced: enforce.Unpaced{Kinds: enforce.Kinds{Purposes: []crawler.Purpose{crawler.PurposeSearch}}, Tokens: []string{"amazonbot"}}}
	for _, test := range []struct {
		name, text string
		options    enforce.Options
		want       string
	}{
		{"no text", "", enforce.Options{}, ""},
		{"no pace", "User-agent: *\nDisallow: /\n", enforce.Options{}, ""},
		{"everyone's", slow, enforce.Options{}, `"Crawl-delay: 10"` + says + "Baiduspider, Googlebot, MojeekBot, Storebot-Google, YandexBot and 8 more"},
		{"one has a record of its own", slow + "User-agent: Googlebot\nDisallow:\n", enforce.Options{}, `"Crawl-delay: 10"` + says + "Baiduspider, MojeekBot, Storebot-Google, YandexBot, Amazonbot and 7 more"},
		{"its own", "User-agent: YandexBot\nUser-agent: bingbot\nCrawl-delay: 2\n", enforce.Options{}, `"Crawl-delay: 2"` + says + "YandexBot"},
		{"its kin's", "User-agent: Googlebot-Image\nCrawl-delay: 2\n", enforce.Options{}, `"Crawl-delay: 2"` + says + "Googlebot-Image"},
		{"one who reads it", "User-agent: bingbot\nCrawl-delay: 10\n", enforce.Options{}, ""},
		{"one of whom nothing is known", "User-agent: GPTBot\nCrawl-delay: 10\n", enforce.Options{}, ""},
		{"one who fetches for a person", "User-agent: FeedFetcher-Google\nCrawl-delay: 10\n", enforce.Options{}, ""},
		{"no delay", "User-agent: *\nCrawl-delay: 0\n", enforce.Options{}, ""},
		{"nobody is bound", slow, unnamed, ""},
		{"some are unpaced", slow, search, `"Crawl-delay: 10"` + says + "Google-CloudVertexBot, AdsBot-Google, Mediapartners-Google, APIs-Google, DuplexWeb-Google and 2 more"},
		{"the pace is only observed", slow, enforce.Options{TooFast: enforce.Observe}, ""},
		{"two delays", "User-agent: Amazonbot\nCrawl-delay: 5\n\nUser-agent: YandexBot\nCrawl-delay: 2\nCrawl-delay: 7\n", enforce.Options{},
			`"Crawl-delay: 5"` + says + "Amazonbot\n" + `"Crawl-delay: 7"` + says + "YandexBot"},
	} {
		if got := unreadIn(test.text, test.options); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

func TestAnUnreadDelayIsLoggedWhenItIsLoaded(t *testing.T) {
	ts := newTestSite(t, text("User-agent: *\nCrawl-delay: 10\n"))
	ts.loadNow()
	ts.loadNow()
	entries := ts.log.FilterMessage("a Crawl-delay holds robots that do not read it").All()
	if len(entries) != 1 {
		t.Fatalf("log lines: got %d, want 1", len(entries))
	}
	if got := entries[0].ContextMap(); got["line"] != int64(2) || !strings.Contains(got["instead"].(string), `"unpaced Baiduspider Googlebot`) {
		t.Errorf("got %v", got)
	}
}

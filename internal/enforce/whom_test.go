package enforce

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// knownRobots are 26 well-known robots, by what they send.
var knownRobots = []struct{ name, userAgent string }{
	{"Googlebot", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; +http://www.google.com/bot.html) Chrome/142.0.0.0 Safari/537.36"},
	{"Googlebot-Image", "Googlebot-Image/1.0"},
	{"GoogleOther", "GoogleOther"},
	{"bingbot", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36"},
	{"Applebot", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)"},
	{"DuckDuckBot", "DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)"},
	{"YandexBot", "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"},
	{"Baiduspider", "Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)"},
	{"Sogou web spider", "Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)"},
	{"360Spider", "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/50.0.2661.102 Safari/537.36; 360Spider"},
	{"Yahoo! Slurp", "Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)"},
	{"SeznamBot", "Mozilla/5.0 (compatible; SeznamBot/4.0; +https://o-seznam.cz/napoveda/vyhledavani/en/seznambot-crawler/)"},
	{"PetalBot", "Mozilla/5.0 (Linux; Android 7.0;) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; PetalBot;+https://webmaster.petalsearch.com/site/petalbot)"},
	{"GPTBot", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)"},
	{"OAI-SearchBot", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36; compatible; OAI-SearchBot/1.3; +https://openai.com/searchbot"},
	{"ClaudeBot", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"},
	{"PerplexityBot", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)"},
	{"Amazonbot", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko; compatible; Amazonbot/0.1; +https://developer.amazon.com/support/amazonbot) Chrome/119.0.6045.214 Safari/537.36"},
	{"meta-externalagent", "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)"},
	{"CCBot", "CCBot/2.0 (https://commoncrawl.org/faq/)"},
	{"Bytespider", "Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)"},
	{"AhrefsBot", "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"},
	{"SemrushBot", "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)"},
	{"MJ12bot", "Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)"},
	{"DotBot", "Mozilla/5.0 (compatible; DotBot/1.2; +https://opensiteexplorer.org/dotbot; help@moz.com)"},
	{"archive.org_bot", "Mozilla/5.0 (X11; Linux x86_64; rv:10.0; archive.org_bot; Archive-It; +http://archive-it.org/files/site-owners.html) Gecko/20100101 Firefox/10.0"},
}

// misused are the values of User-agent lines that real files misuse most, and which of the known
// robots each binds, with the reason.
var misused = []struct {
	value string
	binds []string
	why   string
}{
	{"Mozilla", nil, "a browser's word: no robot is called so"},
	{"Mozilla/4.0 (compatible; BullsEye; Windows 95)", nil, "a whole User-Agent names the robot in it, BullsEye"},
	{"Mozilla/5.0", nil, "a browser's word and a version"},
	{"Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)", []string{"SemrushBot"}, "a whole User-Agent names the robot in it"},
	{"Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)", nil, "a browser's whole User-Agent names nobody"},
	{"libwww", nil, "no robot here says that it is made with it"},
	{"Spider", nil, "a robot's word: no robot is called just so"},
	{"Bot", nil, "a robot's word"},
	{"Java", nil, "no robot here says that it is made with it; addresses and JavaScript do not count"},
	{"DOC", nil, "a word of many, in the addresses of some"},
	{"Fetch", nil, "a robot's word"},
	{"WebBandit/3.50", nil, "a robot that none of these is"},
	{"Unknown", nil, "a word that none of them says"},
	{"GPTBot, CCBot", []string{"GPTBot", "CCBot"}, "a list with commas names each"},
	{"Code", nil, "a word of addresses (code.google.com)"},
	{"http", nil, "a word of addresses"},
	{"Apple", []string{"Applebot"}, "not through AppleWebKit, which is an engine"},
	{"Google", []string{"Googlebot", "Googlebot-Image", "GoogleOther"}, "a family of names, as both old standards have it"},
	{"Googlebot", []string{"Googlebot", "Googlebot-Image"}, "the name, and those that contain it"},
	{"archive.org_bot", []string{"archive.org_bot"}, "a robot that names itself in its platform comment, beside its address"},
}

func TestWhomMisusedValuesBind(t *testing.T) {
	for _, dialect := range []robotsrules.Dialect{robotsrules.RFC9309, robotsrules.Draft1996, robotsrules.NoRobots1994} {
		for _, m := range misused {
			text := []byte("User-agent: " + m.value + "\nDisallow: /\n")
			rules := &Rules{Compiled: robotsrules.Compile(robotsrules.Parse(text, robotsrules.Options{Dialect: dialect}), robotsrules.MatchSubstring)}
			var got []string
			for _, robot := range knownRobots {
				who := crawler.Identify(robot.userAgent)
				if who.Class != crawler.Robot || who.Name != robot.name {
					t.Fatalf("%q is a %s named %q, want robot %q", robot.userAgent, who.Class, who.Name, robot.name)
				}
				if (&Engine{}).Binding(rules, &Verdict{Who: &who}) != nil {
					got = append(got, robot.name)
				}
			}
			if !slices.Equal(got, m.binds) {
				t.Errorf("%s: %q binds %q, want %q: %s", dialect, m.value, got, m.binds, m.why)
			}
		}
	}
}

// With "match token" only equal names count.
func TestWhomEqualTokensBind(t *testing.T) {
	for value, want := range map[string][]string{
		"Googlebot": {"Googlebot"}, "Google": nil, "Mozilla": nil, "AppleWebKit": nil, "Chrome": nil, "archive.org_bot": {"archive.org_bot"},
	} {
		file := robotsrules.Parse([]byte("User-agent: "+value+"\nDisallow: /\n"), robotsrules.Options{})
		rules := &Rules{Compiled: robotsrules.Compile(file, robotsrules.MatchToken)}
		var got []string
		for _, robot := range knownRobots {
			who := crawler.Identify(robot.userAgent)
			if (&Engine{}).Binding(rules, &Verdict{Who: &who}) != nil {
				got = append(got, robot.name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q binds %q, want %q", value, got, want)
		}
	}
}

// Programs that are no robots, against a record for "*" and one for the value.
var programs = []struct {
	userAgent, value string
	match            robotsrules.Match
	bound            bool
}{
	{"Stripe/1.0 (+https://stripe.com/docs/webhooks)", "Stripe", robotsrules.MatchSubstring, true},
	{"Stripe/1.0 (+https://stripe.com/docs/webhooks)", "docs", robotsrules.MatchSubstring, false},
	{"http.rb/5.1.1 (Mastodon/4.2.5; +https://mastodon.example/)", "Mastodon", robotsrules.MatchSubstring, true},
	{"http.rb/5.1.1 (Mastodon/4.2.5; +https://mastodon.example/)", "http.rb", robotsrules.MatchSubstring, true},
	{"http.rb/5.1.1 (Mastodon/4.2.5; +https://mastodon.example/)", "http", robotsrules.MatchSubstring, false},
	{"Twitterbot/1.0", "Twitterbot", robotsrules.MatchSubstring, true},
	{"Twitterbot/1.0", "bot", robotsrules.MatchSubstring, false},
	{"libwww-perl/6.77", "libwww", robotsrules.MatchSubstring, true},
	{"libwww-perl/6.77", "libwww", robotsrules.MatchToken, false},
	{"libwww-perl/6.77", "libwww-perl", robotsrules.MatchToken, true},
	{"libwww-perl/6.77", "lib", robotsrules.MatchSubstring, false},
	{"Apache-HttpClient/4.5.14 (Java/17.0.9)", "Java", robotsrules.MatchSubstring, true},
	{"Python/3.11 aiohttp/3.9.5", "aiohttp", robotsrules.MatchSubstring, true},
	{"Wget/1.21.2 (linux-gnu)", "wget", robotsrules.MatchSubstring, true},
	{"okhttp/4.12.0", "okhttp", robotsrules.MatchSubstring, true},
	{"okhttp/4.12.0", "http", robotsrules.MatchSubstring, false},
	{"MyShop/3 CFNetwork/1494.0.7 Darwin/23.4.0", "CFNetwork", robotsrules.MatchSubstring, false},
	{"MyShop/3 CFNetwork/1494.0.7 Darwin/23.4.0", "MyShop", robotsrules.MatchSubstring, true},
	{"Yandex/23.8 CFNetwork/1410.0.3 Darwin/22.6.0", "Yandex", robotsrules.MatchSubstring, false},
	{"Pinterest/11.5 (iPhone; iOS 17.1; Scale/3.00)", "Pinterest", robotsrules.MatchSubstring, false},
	{"fetch/1.0", "fetch", robotsrules.MatchSubstring, true},
	{"amazon-kendra-customer-id-123", "amazon-kendra", robotsrules.MatchSubstring, true},
}

func TestProgramsAreBoundByARecordThatNamesThem(t *testing.T) {
	for _, p := range programs {
		who := crawler.Identify(p.userAgent)
		for _, text := range []string{"User-agent: *\nDisallow: /\n\n", ""} {
			text += "User-agent: " + p.value + "\nDisallow: /\n"
			rules := &Rules{Compiled: robotsrules.Compile(robotsrules.Parse([]byte(text), robotsrules.Options{}), p.match)}
			if who.Class == crawler.Robot && text[:13] == "User-agent: *" {
				continue
			}
			if got := (&Engine{}).Binding(rules, &Verdict{Who: &who}); (got != nil) != p.bound {
				t.Errorf("%s %q: bound by %q of %q, want bound %t", who.Class, p.userAgent, got.Token(), text, p.bound)
			}
		}
	}
}

func TestWhomTheDefaultRecordBinds(t *testing.T) {
	rules := &Rules{Compiled: robotsrules.Compile(robotsrules.Parse([]byte("User-agent: *\nDisallow: /\n"), robotsrules.Options{}), robotsrules.MatchSubstring)}
	classes := []crawler.Class{crawler.Browser, crawler.App, crawler.Service, crawler.Robot, crawler.Unstated}
	for unnamed, want := range map[Unnamed][]bool{
		UnnamedRobots: {false, false, false, true, true}, UnnamedClients: {false, true, true, true, true},
		UnnamedEveryone: {true, true, true, true, true}, UnnamedNobody: {false, false, false, false, false},
	} {
		e := &Engine{Options: Options{Unnamed: unnamed}}
		for i, class := range classes {
			if got := e.Binding(rules, &Verdict{Who: &crawler.Identity{Class: class}}) != nil; got != want[i] {
				t.Errorf("unnamed %d: binds a %s: %t, want %t", unnamed, class, got, want[i])
			}
		}
	}
}

// A record with a client's own name binds it, whatever its class and dress.
func TestARecordWithItsNameBindsEveryNamedClient(t *testing.T) {
	files, err := filepath.Glob("../../crawler/testdata/*s*.txt")
	if err != nil || len(files) < 5 {
		t.Fatalf("got %d files of clients: %v", len(files), err)
	}
	tried := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			columns := strings.SplitN(strings.TrimSpace(line), " | ", 3)
			if len(columns) != 3 || columns[0] != "robot" && columns[0] != "service" || columns[1] == "" || columns[2][0] == '"' {
				continue
			}
			who := crawler.Identify(columns[2])
			for _, match := range []robotsrules.Match{robotsrules.MatchSubstring, robotsrules.MatchToken} {
				parsed := robotsrules.Parse([]byte("User-agent: "+who.Name+"\nDisallow: /\n"), robotsrules.Options{})
				rules := &Rules{Compiled: robotsrules.Compile(parsed, match)}
				if (&Engine{}).Binding(rules, &Verdict{Who: &who}) == nil {
					t.Errorf("%s: %q is not bound by the record for %q (says %q, products %q)", match, columns[2], who.Name, who.Text, who.Products)
				}
			}
			tried++
		}
	}
	if tried < 400 {
		t.Errorf("tried %d clients, want at least 400", tried)
	}
}

// liars are the clients whose claims are all found false.
type liars struct{}

func (liars) Prove(context.Context, Request, *crawler.Identity) Proof {
	return Proof{Claimed: "Twitterbot", Standing: Impostor, Reason: "not its address"}
}

func (liars) Signer(context.Context, Request) Proof { return Proof{} }

// Who claims to be a service that it is not is a robot without a name.
func TestAFalseServiceIsARobot(t *testing.T) {
	compiled := robotsrules.Compile(robotsrules.Parse([]byte("User-agent: *\nDisallow: /\n\nUser-agent: Twitterbot\nAllow: /\n"), robotsrules.Options{}), robotsrules.MatchSubstring)
	policies := &onePolicy{Policy{Rules: &Rules{Compiled: compiled}}}
	who := crawler.Identify("Twitterbot/1.0")
	r := Request{Method: "GET", Host: "a.example", Target: "/x", Path: "/x", UserAgent: "Twitterbot/1.0"}
	honest := &Engine{Policies: policies}
	if v := honest.Decide(t.Context(), &r, &who); v.Kind != Allowed || v.Decision.Binding.Token() != "Twitterbot" {
		t.Errorf("unchecked: got %s by the record for %q, want allowed by its own", v.Kind, v.Decision.Binding.Token())
	}
	checked := &Engine{Policies: policies, Prover: liars{}}
	if v := checked.Decide(t.Context(), &r, &who); v.Kind != Disallowed || v.Decision.Binding.Token() != "*" || v.Who.Class != crawler.Robot {
		t.Errorf("an impostor: got %s by the record for %q as %s, want disallowed by *", v.Kind, v.Decision.Binding.Token(), v.Who.Class)
	}
}

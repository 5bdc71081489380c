package metrics

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

const (
	chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
	gptBot = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	ccBot  = "CCBot/2.0 (https://commoncrawl.org/faq/)"
	curl   = "curl/8.14.1"
)

func TestAsWhomARobotIsCounted(t *testing.T) {
	for _, test := range []struct{ name, agent, token, want string }{
		{"the record that names it", "ExampleBot/1.0", "ExampleBot", "ExampleBot"},
		{"the record's token, not its own name", "ExampleBot/1.0", "example", "example"},
		{"a well-known token as its robot spells it", gptBot, "gptbot", "GPTBot"},
		{"its well-known name, bound by *", gptBot, "*", "GPTBot"},
		{"its well-known name, bound by nothing", gptBot, "", "GPTBot"},
		{"a stranger", "ExampleBot/1.0", "*", "other"},
		{"a robot without a name", "\xff bot", "*", "other"},
		{"a library that a record names", curl, "curl", "curl"},
		{"a library", curl, "*", "app"},
		{"a client that states nothing", "", "*", "unstated"},
		{"a browser, where all are bound", chrome, "*", "browser"},
		{"a token that is no text", "ExampleBot/1.0", "Ex\xffample", "Ex\uFFFDample"},
		{"a token that never ends", "ExampleBot/1.0", strings.Repeat("x", 1000), strings.Repeat("x", maxLabel)},
	} {
		who := crawler.Identify(test.agent)
		if got := robotLabel(&who, test.token); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestAMillionMadeUpNamesAndHostsMakeNoSeries(t *testing.T) {
	c := NewCounts()
	sites := c.Sites(nil)
	for i := range 1_000_000 {
		name := fmt.Sprint("MadeUpBot", i)
		who := crawler.Identity{Class: crawler.Robot, Name: name, Key: strings.ToLower(name), Hash: uint64(i) | 1}
		c.Request(sites.Of(name+".example"), &enforce.Verdict{Who: &who})
	}
	gather(t, c, State{}).Expect(t, "caddy_robots_requests_total", series{"outcome=passed robot=other site=* verdict=allowed": 1_000_000})
}

// Somebody's robots.txt, or the config, names new ones for years.
func TestAMillionTokensAndSitesKeepTheMetricsBounded(t *testing.T) {
	c := NewCounts()
	who := crawler.Identify("ExampleBot/1.0")
	for i := range 1_000_000 {
		name := fmt.Sprint("x", i)
		c.Reading(c.site(name), &enforce.Verdict{Who: &who}, name)
	}
	if got, most := int(c.robots.Load()), maxRobots+maxSites+1; got > most {
		t.Errorf("robots: got %d, want at most %d", got, most)
	}
	if got, want := len(c.sites), maxSites+1; got != want {
		t.Errorf("sites: got %d, want %d", got, want)
	}
	sum := uint64(0)
	for _, site := range c.sites {
		for _, robot := range site.robots {
			sum += robot.readings.Load()
		}
	}
	if sum != 1_000_000 {
		t.Errorf("counted: got %d, want all 1000000", sum)
	}
}

func TestCountingDoesNotAllocate(t *testing.T) {
	c := NewCounts()
	sites, v := c.Sites(nil), verdictOn(gptBot)
	if got := testing.AllocsPerRun(200, func() { c.Request(sites.Of("site.example"), v) }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// manyRecords is the robots.txt of a site that names hundreds of robots.
func manyRecords() string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "User-agent: Robot%d\n", i)
	}
	return b.String() + "User-agent: GPTBot\nDisallow: /private/\n\nUser-agent: *\nDisallow: /search\n"
}

// verdictOn is the verdict on a client that many records may bind.
func verdictOn(agent string) *enforce.Verdict {
	who := crawler.NewCache(1).Identify(agent)
	policy := robotsrules.Compile(robotsrules.Parse([]byte(manyRecords()), robotsrules.Options{}), robotsrules.MatchSubstring)
	v := &enforce.Verdict{Who: who}
	if v.Decision.Binding = policy.Find(robotsrules.Robot{UserAgent: who.Text, Name: who.Name, Products: who.Products}); v.Decision.Binding == nil {
		v.Decision.Binding = policy.Default()
	}
	return v
}

// BenchmarkCount is what the metrics add to a judged request.
func BenchmarkCount(b *testing.B) {
	c := NewCounts()
	sites := c.Sites([]string{"site.example"})
	for name, agent := range map[string]string{"named": gptBot, "by_default_record": ccBot, "stranger": "MadeUpBot/1.0"} {
		b.Run(name, func(b *testing.B) {
			v := verdictOn(agent)
			b.ReportAllocs()
			for b.Loop() {
				c.Request(sites.Of("site.example"), v)
			}
		})
	}
}

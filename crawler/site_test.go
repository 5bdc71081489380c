package crawler

import (
	"slices"
	"strings"
	"testing"
)

// Whom the address in the User-Agent shows to be on the host that is asked.
func TestWhoGivesAHost(t *testing.T) {
	for host, userAgents := range map[string][]string{
		"shop.example": {
			"MyShop/1.0 (+https://shop.example/)", "MyShop/1.0; http://shop.example", "MyShop/1.0 (+HTTPS://SHOP.EXAMPLE:8443/cron.php?x=1#y)",
			"MyShop/1.0 (https://www.shop.example/)", "MyShop/1.0 (https://shop.example./)", "MyShop/1.0 (https://user:word@shop.example/)",
			"CakePHP/4 https://shop.example", "python-requests/2.31 (+https://shop.example)", "curl/8.0 (https://shop.example)",
			"Mozilla/5.0 (compatible; MyShop/1.0; +https://shop.example/)", "Mozilla/5.0+(compatible;+MyShop/1.0;+http://shop.example/)",
			"SitemapMaker/1.0 (+https://shop.example; +https://vendor.example)", "MyCheck/2 (https://vendor.example/; https://shop.example/)",
			"Mozilla/5.0 (compatible; MyShop/1.0; www.shop.example)",
		},
		"www.shop.example":      {"MyShop/1.0 (+https://shop.example/)", "MyShop/1.0 (+https://www.shop.example/)"},
		"shop.example.":         {"MyShop/1.0 (+https://shop.example/)"},
		"127.0.0.1":             {"MyShop/1.0 (http://127.0.0.1:8080/)"},
		"[2001:db8::1]":         {"MyShop/1.0 (http://[2001:DB8::1]:8080/)"},
		"crawl-bot.example":     {"MyShop/1.0 (https://crawl-bot.example/)"},
		"xn--bcher-kva.example": {"MyShop/1.0 (https://xn--bcher-kva.example/)"},
	} {
		for _, userAgent := range userAgents {
			who := Identify(userAgent)
			if !who.GivesHost(host) {
				t.Errorf("%s %q gives the hosts %q, want %q", who.Class, userAgent, who.Hosts, host)
			}
			if who.GivesHost("other.example") || who.GivesHost("") || who.GivesHost("example") || who.GivesHost("a."+host) {
				t.Errorf("%q gives a host that it does not name: %q", userAgent, who.Hosts)
			}
		}
	}
}

// No address makes a client its own site's that says who it is, or that is none of the owner's.
func TestWhoGivesNoHost(t *testing.T) {
	const host = "shop.example"
	for _, userAgent := range []string{
		// It says that it is a robot, or has a crawler's name.
		"MyBot/1.0 (+https://shop.example/)", "MyShop crawler (https://shop.example/)", "MyShop/1.0 (robot; https://shop.example/)",
		"MyShop/1.0 (https://shop.example/) Spider", "GPTBot/1.3 (+https://shop.example/)", "ia_archiver (+https://shop.example/)",
		"CCBot/2.0 (https://shop.example/)", "MyShop/1.0 (CCBot/2.0; https://shop.example/)", "Googlebot-Image/1.0 https://shop.example",
		"Mozilla/5.0 (compatible; Bytespider; https://shop.example/) AppleWebKit/537.36", "heritrix/3.4.0 (+https://shop.example/)",
		"MyNutch/1.18 (https://shop.example/)", "Scrapy/2.11 (+https://shop.example)", "FacebookBot/1.0; https://shop.example",
		"Mozilla/5.0 (X11; Linux x86_64; rv:10.0; archive.org_bot; +http://shop.example/) Gecko/20100101 Firefox/10.0",
		"MyShop/1.0 " + strings.Repeat("a ", maxTokens) + "(https://shop.example/)", // there may be a name behind what is read

		// The address is another host's.
		"MyShop/1.0 (https://shop.example.evil.test/)", "MyShop/1.0 (https://evil.test/shop.example)", "MyShop/1.0 (https://shop.example@evil.test/)",
		"MyShop/1.0 (https://evil.test/?u=https://shop.example/)", "MyShop/1.0 (https://myshop.example/)", "MyShop/1.0 (https://blog.shop.example/)",
		"MyShop/1.0 (admin@shop.example)", "MyShop/1.0 (https:///shop.example)", "MyShop/1.0 (https://)",
	} {
		who := Identify(userAgent)
		if who.GivesHost(host) {
			t.Errorf("%s %q gives the hosts %q, want not %q", who.Class, userAgent, who.Hosts, host)
		}
	}
	if who := AsRobot("MyShop/1.0 (+https://shop.example/)"); who.Hosts != nil {
		t.Errorf("who is asked for as a robot gives the hosts %q, want none", who.Hosts)
	}
}

func TestAnIdentityHoldsFewHosts(t *testing.T) {
	var b strings.Builder
	for _, c := range "abcdefghij" {
		b.WriteString("https://" + string(c) + ".example/ ")
	}
	if who := Identify(b.String()); !slices.Equal(who.Hosts, []string{"a.example", "b.example", "c.example", "d.example"}) {
		t.Errorf("got %q, want the first %d", who.Hosts, maxHosts)
	}
}

// No robot of the samples is taken for a site's own server, whatever host is asked.
func TestKnownRobotsGiveNoHost(t *testing.T) {
	for _, s := range readSamples(t, "robots*.txt") {
		c, ok := Find(s.name)
		if who := Identify(s.userAgent); ok && c.Purpose.isCrawling() && len(who.Hosts) > 0 {
			t.Errorf("%s: %q gives the hosts %q, want none", s.at, s.userAgent, who.Hosts)
		}
	}
}

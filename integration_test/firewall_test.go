package integration

import (
	"strings"
	"testing"
)

// behindCDN is a site whose firewall admits the CDN alone, and our own fetch of robots.txt is not
// of the CDN. It trusts the CDN to say who its clients are.
const behindCDN = `
http://:{$PORT} {
	robots {
		refresh 1s
	}
	@notcdn not {
		remote_ip 127.0.0.1
		header X-Forwarded-For *
	}
	respond @notcdn "only by the CDN" 403
	respond /robots.txt <<ROBOTS
		User-agent: GPTBot
		Disallow: /private/
		ROBOTS
	respond "page"
}
`

func TestRobotsTxtBehindAFirewallIsReadAsAVisitor(t *testing.T) {
	c := startWith(t, proxied+behindCDN, nil)
	c.expect(t, "site.example", "/page", chrome, 403) // not by the CDN, and no visitor for that
	c.expect(t, "site.example", "/private/", gptbot, 403)
	c.expectFrom(t, realAddress, "site.example", "/page", chrome, 200, "page")
	c.log.wait(t, "a visitor was needed", c.ended, message("the site refuses robots.txt to Caddy's own fetch; the text that visitors get holds"))
	eventually(t, "the rules hold", func() bool {
		a := c.ask(t, request{host: "site.example", path: "/private/", agent: gptbot}.from(realAddress))
		return a.status == 403 && strings.Contains(a.body, "GPTBot")
	})
	c.expectFrom(t, realAddress, "site.example", "/private/", chrome, 200, "page")
	reloaded := strings.Replace(behindCDN, "\trobots {", "\theader X-Config 2\n\trobots {", 1)
	if status, body, err := c.loadWhole(proxied + reloaded); err != nil || status != 200 {
		t.Fatalf("reload: %d %s, %v", status, body, err)
	}
	c.expectFrom(t, realAddress, "site.example", "/private/", gptbot, 403, "")
}

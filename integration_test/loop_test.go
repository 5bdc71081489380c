package integration

import (
	"strings"
	"testing"
	"time"
)

// A proxy whose upstream is its own Caddy: the request for robots.txt comes back again and again.
func TestARobotsTxtThatIsProxiedToItselfIsAFailure(t *testing.T) {
	for name, sites := range map[string]string{
		"this site's own": `
http://:{$PORT} {
	robots
	handle /robots.txt {
		reverse_proxy 127.0.0.1:{$PORT}
	}
	handle {
		respond "page"
	}
}
`,
		"by way of another site": `
http://:{$PORT} {
	robots
	handle /robots.txt {
		reverse_proxy 127.0.0.1:{$PORT2}
	}
	handle {
		respond "page"
	}
}
http://:{$PORT2} {
	reverse_proxy 127.0.0.1:{$PORT}
}
`,
		"a URL": `
http://:{$PORT} {
	robots {
		source url http://127.0.0.1:{$PORT}/robots.txt
	}
	handle /robots.txt {
		reverse_proxy 127.0.0.1:{$PORT}
	}
	handle {
		respond "page"
	}
}
`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, sites, nil)
			began := time.Now()
			c.expect(t, "", "/page", gptbot, 200)
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("the first robot waited for %s", took)
			}
			failed := c.log.wait(t, "it failed", c.ended, message("robots.txt could not be loaded, and nothing of it was loaded before"))
			if why := failed.text("error"); !strings.Contains(why, "leads back to this site") {
				t.Errorf("error: got %q, want it to tell of the loop", why)
			}
		})
	}
}

// One site of a Caddy may have its robots.txt from another one.
func TestARobotsTxtThatIsProxiedToAnotherSiteIsRead(t *testing.T) {
	c := start(t, `
http://front.test:{$PORT} {
	robots
	reverse_proxy 127.0.0.1:{$PORT2}
}
http://:{$PORT2} {
	robots
	handle /robots.txt {
		reverse_proxy 127.0.0.1:{$PORT} {
			header_up Host back.test
		}
	}
	handle {
		respond "page"
	}
}
http://back.test:{$PORT} {
	robots
	respond /robots.txt <<ROBOTS
		User-agent: GPTBot
		Disallow: /private/
		ROBOTS
}
`, nil)
	c.expect(t, "front.test", "/private/", gptbot, 403)
	c.expect(t, "front.test", "/private/", chrome, 200)
}

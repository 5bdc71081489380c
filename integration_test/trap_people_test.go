package integration

import (
	"maps"
	"net/http"
	"strings"
	"testing"
)

// secureTrap is a site over TLS that bans, with a trap and a folder that no robot may fetch.
var secureTrap = strings.Replace(proxied, "auto_https off", "auto_https disable_redirects\n\tskip_install_trust", 1) + `
https://secure.test:{$PORT} {
	tls internal
	robots {
		trap /trap/
		ban 3 in 1m for 10m
		default_pace 1/1h
	}
	respond /robots.txt <<ROBOTS
		User-agent: *
		Disallow: /trap/
		Disallow: /pictures/
		ROBOTS
	respond "page"
}
`

// What Chromium says of its requests.
var (
	opened  = http.Header{"Sec-Fetch-Site": {"none"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}, "Sec-Fetch-User": {"?1"}}
	clicked = http.Header{"Sec-Fetch-Site": {"same-origin"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}, "Sec-Fetch-User": {"?1"}}
	picture = http.Header{"Sec-Fetch-Site": {"same-origin"}, "Sec-Fetch-Mode": {"no-cors"}, "Sec-Fetch-Dest": {"image"}}
)

// step is one request of a visitor to a secure site, and what it is to be answered.
type step struct {
	what, path, agent string
	says              http.Header
	want              int
}

// walk takes steps as a visitor with an address.
func (c *caddy) walk(t *testing.T, visitor *http.Client, address string, steps []step) {
	t.Helper()
	for _, s := range steps {
		header := maps.Clone(s.says)
		if header == nil {
			header = make(http.Header)
		}
		header.Set("X-Forwarded-For", address)
		a, err := request{path: s.path, agent: s.agent, header: header}.try(visitor, "https://secure.test:"+c.env["PORT"])
		if err != nil {
			t.Fatalf("%s: GET %s: %v", s.what, s.path, err)
		}
		if a.status != s.want {
			t.Errorf("%s: GET %s: got %d, want %d: %q", s.what, s.path, a.status, s.want, tail(a.body, 500))
		}
	}
}

func TestALinkThatWasSentIsNoTrap(t *testing.T) {
	t.Parallel()
	c := startWith(t, secureTrap, nil)
	c.awaitTLS(t)
	for _, visitor := range []*http.Client{secureClient(t, c, false), secureClient(t, c, true), http3Client(t, c, nil)} {
		c.walk(t, visitor, personal, []step{
			{"from mail", "/trap/x", chrome, opened, 200},
			{"a picture on that page", "/pictures/1.png", chrome, picture, 200},
			{"another one", "/pictures/2.png", chrome, picture, 200},
			{"a picture in the trap itself", "/trap/3.png", chrome, picture, 200},
			{"a click from there", "/trap/y", chrome, clicked, 200},
			{"onwards", "/", chrome, clicked, 200},
		})
	}
	if got := c.trapped(t); len(got) != 0 {
		t.Errorf("trapped: got %v, want nobody", got)
	}
}

func TestWhoIsTrappedIsNeverBanned(t *testing.T) {
	t.Parallel()
	c := startWith(t, secureTrap, nil)
	c.awaitTLS(t)
	visitor := secureClient(t, c, true)
	foreign := http.Header{"Referer": {"https://other.test/"}}
	steps := []step{
		{"a scraper says nothing", "/trap/x", chrome, nil, 403},
		{"it is bound", "/pictures/1.png", chrome, nil, 403},
		{"by that record", "/pictures/2.png", chrome, nil, 403},
		{"whatever it says", "/pictures/3.png", chrome, picture, 403},
		{"however often", "/pictures/4.png", chrome, nil, 403},
		{"and by no more", "/", chrome, nil, 200},
		{"at any pace", "/", chrome, nil, 200},
		{"another one says where it is from", "/trap/x", firefox, foreign, 403},
	}
	c.walk(t, visitor, disguise, steps)
	c.walk(t, visitor, personal, []step{{"somebody else", "/pictures/1.png", chrome, picture, 200}})
	if got := c.trapped(t); len(got) != 2 {
		t.Errorf("trapped: got %v, want two", got)
	}
	if bans := strings.TrimSpace(c.adminGet(t, "/robots/bans")); bans != "[]" {
		t.Errorf("bans: got %s, want none", bans)
	}
}

package integration

import (
	"strings"
	"testing"
)

const (
	aRobot = "User-Agent: " + bingbot + "\r\n"
	aHost  = "Host: site.test\r\n"

	anyStatus = 0  // any status below 500
	noAnswer  = -1 // so, or no answer at all
)

// Caddy reads 16 KiB of headers unless told otherwise: long is about as long as a handler
// can come to see, tooLong is what Caddy deals with itself.
var (
	long    = strings.Repeat("x", 15<<10)
	tooLong = strings.Repeat("x", 64<<10)
)

var hostile = []struct {
	name, line, headers string
	want                int
}{
	{"ordinary", "GET /private/page.html HTTP/1.1", aHost + aRobot, 403},
	{"absolute form", "GET http://site.test/private/page.html HTTP/1.1", aHost + aRobot, 403},
	{"absolute form, allowed", "GET http://site.test/ HTTP/1.1", aHost + aRobot, 200},
	{"absolute form, another host", "GET http://other.test//private/page.html HTTP/1.1", aHost + aRobot, 403},
	{"absolute form, no path", "GET http://site.test HTTP/1.1", aHost + aRobot, anyStatus},
	{"absolute form, empty host", "GET http:///private/page.html HTTP/1.1", aHost + aRobot, anyStatus},
	{"asterisk", "OPTIONS * HTTP/1.1", aHost + aRobot, anyStatus},
	{"asterisk, GET", "GET * HTTP/1.1", aHost + aRobot, anyStatus},
	{"CONNECT", "CONNECT site.test:443 HTTP/1.1", aHost + aRobot, anyStatus},
	{"doubled slash", "GET //private/page.html HTTP/1.1", aHost + aRobot, 403},
	{"many slashes", "GET " + strings.Repeat("/", 4000) + "private/page.html HTTP/1.1", aHost + aRobot, 403},
	{"many segments", "GET " + strings.Repeat("/x/..", 4000) + "/private/page.html HTTP/1.1", aHost + aRobot, 403},
	{"dot segment", "GET /./private/page.html HTTP/1.1", aHost + aRobot, 403},
	{"dot-dot segment", "GET /a/../private/page.html HTTP/1.1", aHost + aRobot, 403},
	{"encoded dot-dot", "GET /a/%2e%2e/private/page.html HTTP/1.1", aHost + aRobot, 403},
	{"encoded letter", "GET /%70rivate/page.html HTTP/1.1", aHost + aRobot, 403},
	{"encoded slash", "GET /private%2fpage.html HTTP/1.1", aHost + aRobot, 403},
	{"encoded slash and dots", "GET /private%2f.. HTTP/1.1", aHost + aRobot, anyStatus},
	{"encoded NUL", "GET /%00 HTTP/1.1", aHost + aRobot, anyStatus},
	{"broken escape", "GET /private/%zz HTTP/1.1", aHost + aRobot, 400},
	{"cut escape", "GET /private/% HTTP/1.1", aHost + aRobot, 400},
	{"NUL in the line", "GET /\x00 HTTP/1.1", aHost + aRobot, anyStatus},
	{"NUL in a header", "GET / HTTP/1.1", aHost + "User-Agent: a\x00b\r\n", 400},
	{"fragment", "GET /#/../private/page.html HTTP/1.1", aHost + aRobot, anyStatus},
	{"backslash", "GET \\private\\page.html HTTP/1.1", aHost + aRobot, anyStatus},
	{"not a path", "GET private/page.html HTTP/1.1", aHost + aRobot, 400},
	{"query alone", "GET ?x HTTP/1.1", aHost + aRobot, anyStatus},
	{"invalid UTF-8 in the path", "GET /private/\xff\xfe HTTP/1.1", aHost + aRobot, 403},
	{"long path", "GET /private/" + long + " HTTP/1.1", aHost + aRobot, 403},
	{"long query", "GET /private/page.html?" + long + " HTTP/1.1", aHost + aRobot, 403},
	{"unknown method", "BREW /private/page.html HTTP/1.1", aHost + aRobot, 403},
	{"HTTP/1.0", "GET /private/page.html HTTP/1.0", aRobot, 403},
	{"HTTP/0.9", "GET /private/page.html", "", anyStatus},
	{"not HTTP", "\x16\x03\x01", "", noAnswer},
	{"too long a path", "GET /private/" + tooLong + " HTTP/1.1", aHost + aRobot, anyStatus},
	{"too long a User-Agent", "GET / HTTP/1.1", aHost + "User-Agent: " + tooLong + "\r\n", anyStatus},

	{"no User-Agent", "GET /private/page.html HTTP/1.1", aHost, 403},
	{"empty User-Agent", "GET /private/page.html HTTP/1.1", aHost + "User-Agent:\r\n", 403},
	{"several User-Agents", "GET /private/page.html HTTP/1.1", aHost + aRobot + "User-Agent: " + chrome + "\r\n", 403},
	{"long User-Agent", "GET / HTTP/1.1", aHost + "User-Agent: " + long + "\r\n", 200},
	{"long User-Agent of a robot", "GET /private/page.html HTTP/1.1", aHost + "User-Agent: spider/1.0 " + long + "\r\n", 403},
	{"invalid UTF-8 in the User-Agent", "GET / HTTP/1.1", aHost + "User-Agent: \xff\xfe\xfd\r\n", 200},
	{"invalid UTF-8 in a robot's", "GET /private/page.html HTTP/1.1", aHost + "User-Agent: spider/1.0 (+http://\xff\xfe)\r\n", 403},
	{"User-Agent of parentheses", "GET / HTTP/1.1", aHost + "User-Agent: " + strings.Repeat("(", 9000) + "\r\n", 200},

	{"no Host", "GET /private/page.html HTTP/1.1", aRobot, 400},
	{"empty Host", "GET /private/page.html HTTP/1.1", "Host:\r\n" + aRobot, anyStatus},
	{"Host of a dot", "GET /private/page.html HTTP/1.1", "Host: .\r\n" + aRobot, anyStatus},
	{"Host of colons", "GET /private/page.html HTTP/1.1", "Host: :::::\r\n" + aRobot, anyStatus},
	{"Host with a path", "GET /private/page.html HTTP/1.1", "Host: a/../../b\r\n" + aRobot, anyStatus},
	{"open bracket", "GET /private/page.html HTTP/1.1", "Host: [::1\r\n" + aRobot, anyStatus},
	{"long Host", "GET /private/page.html HTTP/1.1", "Host: " + long + "\r\n" + aRobot, anyStatus},
	{"a forged mark", "GET /private/page.html HTTP/1.1", aHost + aRobot + "Caddy-Robots-Fetch: \r\n", 403},
	{"our own name", "GET /private/page.html HTTP/1.1",
		aHost + "User-Agent: caddy-robots (this site's own robots.txt check)\r\nCaddy-Robots-Fetch: guess\r\n", 403},
}

func TestNothingAClientSendsBreaksTheSite(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/robots.txt", "User-agent: *\nDisallow: /private/\n")
	write(t, root+"/index.html", "start")
	write(t, root+"/private/page.html", "private")
	c := start(t, `
http://:{$PORT} {
	log
	root * {$ROOT}
	robots
	file_server
}
`, map[string]string{"ROOT": root})

	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			a, err := c.raw(tt.line+"\r\n"+tt.headers+"Connection: close\r\n\r\n", "GET")
			switch {
			case err != nil && tt.want != noAnswer:
				t.Errorf("%.200q: no answer: %v", tt.line, err)
			case tt.want > 0 && a.status != tt.want:
				t.Errorf("%.200q: got %d, want %d", tt.line, a.status, tt.want)
			case a.status >= 500 && a.status != 505:
				t.Errorf("%.200q: got %d, want no 5xx", tt.line, a.status)
			}
			if !c.alive() {
				t.Fatal("caddy ended")
			}
			for _, agent := range []string{bingbot, "", long} {
				c.expect(t, "site.test", "/robots.txt", agent, 200)
			}
			c.expect(t, "site.test", "/private/page.html", chrome, 200)
		})
	}
}

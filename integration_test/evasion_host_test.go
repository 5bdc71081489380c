package integration

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
)

// Each host has a page of its own at the same path; only the first one's is disallowed.
const hostedSites = `{
	admin {$ADMIN}
	auto_https off
	grace_period 2s
	servers {
		protocols h1 h2c
	}
}
(site) {
	root * {$ROOT}/{args[0]}
	robots
	file_server
}
http://one.test:{$PORT} {
	import site one
}
http://two.test:{$PORT} {
	import site two
}
http://bücher.test:{$PORT} {
	import site one
}
http://listed.test:{$PORT} {
	root * {$ROOT}/one
	robots {
		source file {$ROOT}/rules/{host}.txt
	}
	file_server
}
http://:{$PORT} {
	import site one
}
`

// hostForms are spellings of a name, in a Host header or the :authority of HTTP/2.
var hostForms = []string{
	"NAME", "NAME.", "NAME..", ".NAME", "NAME:80", "NAME:", "NAME.:99", "NAME:99999", "NAME:x", "NAME:1:2", "NAME:1:",
	"[NAME]", "[NAME]:80", "[[NAME]]", "[NAME", "NAME]", "NAME]:80", "[NAME]]", "[NAME:1]", "[NAME].", "[NAME.]", "[NAME]:80:80",
	"user@NAME", "NAME@two.test", "two.test@NAME", "NAME,two.test", "NAME two.test", "NAME.two.test", "two.test.NAME",
	"NAME%00", "NAME\x00", "\tNAME", "NAME ", "NAME#", "NAME?x", "NAME/", "NAME/..", `NAME\`,
}

// otherHosts are none, or hard to read.
var otherHosts = []string{
	"", ".", ":", "..", "-", "*", "*.test", "_", "[::1]", "[::1]:80", "::1", "127.0.0.1", "0x7f.1", "one%2etest", "%6fne.test", "one。test", "ｏｎｅ.test",
	"xn--bcher-kva.test", "XN--BCHER-KVA.TEST", "xn--bcher-kva.test.", "bücher.test", "BÜCHER.test", "b%C3%BCcher.test", "bu\u0308cher.test",
}

// hostSpellings returns all that is tried.
func hostSpellings() []string {
	all := otherHosts
	for _, name := range []string{"one.test", "two.test", "listed.test", "TWO.Test", "LISTED.TEST", "unknown.test", "one.te\u017ft", "two.te\u017ft", "li\u017fted.test"} {
		for _, form := range hostForms {
			all = append(all, strings.ReplaceAll(form, "NAME", name))
		}
	}
	return all
}

func TestNoHostEvades(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/one/robots.txt", "User-agent: *\nDisallow: /private/\n")
	write(t, root+"/rules/listed.test.txt", "User-agent: *\nDisallow: /private/\n")
	write(t, root+"/one/private/page.html", marker+"closed")
	write(t, root+"/two/robots.txt", "User-agent: *\nDisallow:\n")
	write(t, root+"/two/private/page.html", marker+"open")
	c := startWith(t, hostedSites, map[string]string{"ROOT": root})

	for name, open := range map[string]func(net.Conn) (exchange, error){"HTTP/1.1": http1, "HTTP/2": http2Cleartext} {
		t.Run(name, func(t *testing.T) {
			w := &wire{address: c.address(), open: open}
			defer w.close()
			served := map[string]int{}
			try := func(host, target string) {
				person, err := w.ask(host, target, chrome)
				robot, err2 := w.ask(host, target, bingbot)
				for _, err := range []error{err, err2} {
					if err != nil && !errors.Is(err, errNoAnswer) {
						t.Errorf("%q at %q: %v", target, host, err)
					}
				}
				page := person.pageIn()
				served[page]++
				want := map[string]int{"closed": http.StatusForbidden, "open": http.StatusOK}[page]
				if want != 0 && robot.status != want || want == 0 && robot.pageIn() != "" {
					t.Errorf("%q at %q: a person is served %q with %d, a robot is answered %d", target, host, page, person.status, robot.status)
				}
			}
			for _, host := range hostSpellings() {
				try(host, "/private/page.html")
				try(host, "//private/./page.html")
				for _, other := range []string{"one.test", "two.test"} {
					try(other, "http://"+host+"/private/page.html")
					try(other, "//"+host+"/private/page.html")
				}
				try(host, "http://one.test/private/page.html")
				try(host, "http://TWO.test:80/private/page.html")
				try(host, "http:///private/page.html")
				try(strings.ToUpper(host), "http:/private/page.html")
			}
			if served["closed"] < 50 || served["open"] < 5 {
				t.Errorf("people were served %v, want at least 50 times the closed page and 5 times the open one", served)
			}
		})
	}
}

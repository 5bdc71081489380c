package integration

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

// asks returns a request of a person for the report.
func asks(header ...string) request {
	q := request{path: "/robots-report", agent: chrome, header: make(http.Header)}
	for i := 0; i+1 < len(header); i += 2 {
		q.header.Set(header[i], header[i+1])
	}
	return q
}

func TestTheReportAnswersItsOwnerOnly(t *testing.T) {
	hash, err := exec.Command(caddyBinary(t), "hash-password", "--plaintext", "secret").Output()
	if err != nil {
		t.Fatal(err)
	}
	const site = `
http://:{$PORT} {
	robots
	{before}
	robots_report {
		{options}
	}
	respond "page"
}
`
	owner := "Basic " + base64.StdEncoding.EncodeToString([]byte("owner:secret"))
	for _, c := range []struct {
		name            string
		proxied         bool
		before, options string
		seen, unseen    []request
	}{
		{name: "nobody is named", options: "refresh off", unseen: []request{asks(), asks("X-Forwarded-For", "127.0.0.1")}},
		{
			name: "an address", options: "allow 127.0.0.1", seen: []request{asks()},
			// A tunnel or a proxy of this machine asks for somebody else.
			unseen: []request{asks("X-Forwarded-For", "127.0.0.1"), asks("Forwarded", "for=127.0.0.1"), asks("CF-Connecting-IP", "127.0.0.1")},
		},
		{
			name: "an address behind a proxy", proxied: true, options: "allow 203.0.113.7 2001:db8::/32",
			seen:   []request{asks("X-Forwarded-For", "203.0.113.7"), asks("X-Forwarded-For", "2001:db8::7"), asks("X-Forwarded-For", "198.51.100.1, 203.0.113.7")},
			unseen: []request{asks(), asks("X-Forwarded-For", "203.0.113.8"), asks("X-Forwarded-For", "203.0.113.7, 198.51.100.1")},
		},
		{
			name: "the proxy itself", proxied: true, options: "allow private_ranges",
			seen:   []request{asks("X-Forwarded-For", "10.1.2.3")},
			unseen: []request{asks(), asks("X-Forwarded-For", "203.0.113.7")},
		},
		{
			name: "a password", before: "basic_auth /robots-report* {\n\t\towner " + strings.TrimSpace(string(hash)) + "\n\t}", options: "refresh off",
			seen: []request{asks("Authorization", owner), asks("Authorization", owner, "X-Forwarded-For", "203.0.113.7")},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := strings.NewReplacer("{before}", c.before, "{options}", c.options).Replace(site)
			begin := start
			if c.proxied {
				begin, config = startWith, proxied+config
			}
			s := begin(t, config, nil)
			s.expect(t, "", "/private", gptbot, 200)
			for _, q := range c.seen {
				a := s.ask(t, q)
				if a.status != 200 || !strings.Contains(a.body, "GPTBot") || a.header.Get("X-Robots-Tag") != "noindex" {
					t.Errorf("%v: got %d with X-Robots-Tag %q, want the report", q.header, a.status, a.header.Get("X-Robots-Tag"))
				}
			}
			for _, q := range c.unseen {
				a := s.ask(t, q)
				if a.status != 403 || strings.Contains(a.body, "GPTBot") || !strings.Contains(a.body, "allow 192.0.2.7") {
					t.Errorf("%v: got %d %q, want 403 with what to write", q.header, a.status, a.body)
				}
			}
		})
	}
}

func TestTheReportIsAtOnePathAndBelow(t *testing.T) {
	c := start(t, `
http://:{$PORT} {
	robots
	robots_report {
		allow 127.0.0.1
	}
	respond "page"
}
`, nil)
	for _, path := range []string{"/robots-report", "/robots-report/", "/robots-report/today"} {
		if a := c.expect(t, "", path, chrome, 200); !strings.Contains(a.body, "<html") {
			t.Errorf("%s: got %q, want the report", path, a.body)
		}
	}
	for _, path := range []string{"/", "/robots-reports", "/robots"} {
		if a := c.expect(t, "", path, chrome, 200); a.body != "page" {
			t.Errorf("%s: got %q, want the site's own page", path, a.body)
		}
	}
}

func TestATenantSeesItsOwnSiteOnly(t *testing.T) {
	c := start(t, `
(tenant) {
	robots
	robots_report {
		allow 127.0.0.1
		{args[:]}
	}
	respond "page"
}
http://a.test:{$PORT}, http://www.a.test:{$PORT} {
	import tenant
}
http://*.b.test:{$PORT} {
	import tenant
}
http://own.b.test:{$PORT} {
	import tenant
}
http://c.test:{$PORT} {
	import tenant sites c.test a.test
}
http://all.test:{$PORT} {
	import tenant sites *
}
`, nil)
	hosts := []string{"a.test", "www.a.test", "x.b.test", "own.b.test", "c.test", "all.test"}
	for _, host := range hosts {
		c.expect(t, host, "/", gptbot, 200)
	}
	for host, want := range map[string]string{
		"a.test": "a.test www.a.test", "www.a.test": "a.test www.a.test", "x.b.test": "x.b.test", "y.b.test": "x.b.test", "own.b.test": "own.b.test",
		"c.test": "a.test c.test", "all.test": "a.test all.test c.test own.b.test www.a.test x.b.test",
	} {
		a := c.expect(t, host, "/robots-report?format=json", chrome, 200)
		if got := sitesOf(t, a.body); got != want {
			t.Errorf("the report at %s: got the sites %s, want %s", host, got, want)
		}
	}
	if a := c.expect(t, "a.test", "/robots-report?format=json&site=c.test", chrome, 200); sitesOf(t, a.body) != "" {
		t.Errorf("another's site by name: got %s, want nothing", sitesOf(t, a.body))
	}
}

// sitesOf returns the sites of a report in JSON, in their order.
func sitesOf(t *testing.T, text string) string {
	t.Helper()
	var report compliance.Report
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range report.Sites {
		names = append(names, s.Site)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

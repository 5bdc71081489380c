package integration

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// timeGateSites are the five servers of seed 000, section 1, with their robots.txt files,
// and its Sitemap.
const timeGateSites = `
(announces) {
	robots {
		announce timegate sitemap
	}
	respond {http.request.uri}
}
http://a.example.org:{$PORT} {
	respond /robots.txt <<ROBOTS
		TimeGate: http://a.example.org/w/index.php/Special:TimeGate/
		Archived: a.example.org/w/
		Sitemap: http://a.example.org/sitemaps/sitemap_index.xml
		ROBOTS
	import announces
}
http://a.belgianarchive.org:{$PORT}, http://gent.be:{$PORT} {
	respond /robots.txt <<ROBOTS
		TimeGate: http://a.belgianarchive.org/timegate/
		Archived: .be/
		ROBOTS
	import announces
}
http://deavond.be:{$PORT}, http://www.deavond.be:{$PORT} {
	respond /robots.txt <<ROBOTS
		TimeGate: http://a.belgianarchive.org/timegate/
		Archived: .deavond.be/
		ROBOTS
	import announces
}
http://mementoweb.org:{$PORT}, http://lanlsource.lanl.gov:{$PORT}, http://www.lanl.gov:{$PORT} {
	respond /robots.txt <<ROBOTS
		TimeGate: http://mementoarchive.lanl.gov/ta/timegate/
		Archived: mementoweb.org/
		Archived: lanlsource.lanl.gov/
		TimeGate: http://memento.waybackmachine.org/memento/timegate/
		Archived: mementoweb.org/
		Archived: lanlsource.lanl.gov/
		ROBOTS
	import announces
}
http://memento.waybackmachine.org:{$PORT} {
	respond /robots.txt <<ROBOTS
		TimeGate: http://memento.waybackmachine.org/memento/timegate/
		Archived: *
		ROBOTS
	import announces
}
`

func TestTheServersOfTheMementoGuideAnnounceTheirTimeGates(t *testing.T) {
	c := start(t, timeGateSites, nil)
	const sitemap = `<http://a.example.org/sitemaps/sitemap_index.xml>; rel="sitemap"`
	for _, tt := range []struct {
		host, path string
		gates      []string // what they begin with
		sitemap    bool
	}{
		{"a.example.org", "/w/My_Title", []string{"http://a.example.org/w/index.php/Special:TimeGate/"}, true},
		{"a.example.org", "/about", nil, true},
		{"gent.be", "/", []string{"http://a.belgianarchive.org/timegate/"}, false},
		{"a.belgianarchive.org", "/", nil, false},
		{"deavond.be", "/", []string{"http://a.belgianarchive.org/timegate/"}, false},
		{"www.deavond.be", "/nieuws?dag=1", []string{"http://a.belgianarchive.org/timegate/"}, false},
		{"mementoweb.org", "/", []string{"http://mementoarchive.lanl.gov/ta/timegate/", "http://memento.waybackmachine.org/memento/timegate/"}, false},
		{"lanlsource.lanl.gov", "/hello", []string{"http://mementoarchive.lanl.gov/ta/timegate/", "http://memento.waybackmachine.org/memento/timegate/"}, false},
		{"www.lanl.gov", "/hello", nil, false},
		{"memento.waybackmachine.org", "/any", []string{"http://memento.waybackmachine.org/memento/timegate/"}, false},
	} {
		var links, want []string
		for _, gate := range tt.gates {
			links = append(links, "<"+gate+"http://"+tt.host+tt.path+`>; rel="timegate"`)
		}
		if links != nil {
			want = append(want, strings.Join(links, ", "))
		}
		if tt.sitemap {
			want = append(want, sitemap)
		}
		c.announced(t, tt.host)
		for _, agent := range []string{gptbot, chrome, curl} {
			if got := c.expect(t, tt.host, tt.path, agent, 200).header["Link"]; !slices.Equal(got, want) {
				t.Errorf("GET %s%s for %.20q: got Link %q, want %q", tt.host, tt.path, agent, got, want)
			}
		}
	}
}

// The example of docs/caddyfile.md: its Caddyfile, and its robots.txt below it.
func TestAnnounceExampleOfTheReferenceWorks(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "docs/caddyfile.md"), "### `announce`")
	blocks := strings.Split(section, "```")
	if len(blocks) < 4 || !strings.HasPrefix(blocks[1], "caddyfile\n") {
		t.Fatal("docs/caddyfile.md has no Caddyfile and robots.txt under announce")
	}
	folder := t.TempDir()
	write(t, folder+"/robots.txt", blocks[3])
	write(t, folder+"/page", "page")
	site := strings.NewReplacer("example.com {", "http://example.com:{$PORT} {", "/srv/example", folder).Replace(strings.TrimPrefix(blocks[1], "caddyfile"))
	c := start(t, site, nil)
	c.announced(t, "example.com")
	a := c.expect(t, "example.com", "/page", chrome, 200)
	for name, want := range map[string]string{
		"Content-Usage": "train-ai=n",
		"Link":          `<https://archive.example/timegate/http://example.com/page>; rel="timegate"`,
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("got %s %q, want %q", name, got, want)
		}
		if shown := strings.Replace(want, "http://example.com", "https://example.com", 1); !strings.Contains(section, name+": "+shown) {
			t.Errorf("docs/caddyfile.md does not show %s: %s", name, shown)
		}
	}
}

const announcingSites = `
(rules) {
	respond /robots.txt <<ROBOTS
		License: https://site.test/license.xml
		TimeGate: https://archive.example/
		Archived: *

		User-agent: *
		Disallow: /private/
		Content-Usage: train-ai=n
		Noindex: /drafts/

		User-agent: GPTBot
		Disallow: /news/
		Content-Signal: ai-train=no
		ROBOTS
}
(robots) {
	robots {
		announce timegate content_usage noindex license
	}
}
http://site.test:{$PORT} {
	import robots
	import rules
	respond /missing 404
	error /broken 500
	respond /unchanged 304
	respond "page"
}
http://errors.test:{$PORT} {
	import robots
	import rules
	error /broken 500
	respond "page"
	handle_errors {
		header Content-Usage own=1
		respond "page of errors"
	}
}
http://own.test:{$PORT} {
	import robots
	import rules
	header Content-Usage own=1
	reverse_proxy {$UPSTREAM}
}
`

// upstream is a site with headers of its own, behind a proxy.
func upstream(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/drafts/" {
			w.Header().Set("X-Robots-Tag", "noarchive")
		}
		w.Header().Add("Link", `</style.css>; rel=preload`)
		w.Header().Add("Link", `<https://own.example/>; rel="license"`)
		_, _ = w.Write([]byte("upstream"))
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestStatementsAreInEveryAnswer(t *testing.T) {
	c := start(t, announcingSites, map[string]string{"UPSTREAM": upstream(t)})
	const license = `<https://site.test/license.xml>; rel="license"; type="application/rsl+xml"`
	gate := func(host, path string) string {
		return "<https://archive.example/http://" + host + path + `>; rel="timegate"`
	}
	for _, tt := range []struct {
		method, host, path, agent string
		status                    int
		usage, signal, tag        string
		links                     []string
	}{
		{"GET", "site.test", "/a", chrome, 200, "train-ai=n", "", "", []string{gate("site.test", "/a"), license}},
		{"HEAD", "site.test", "/a", chrome, 200, "train-ai=n", "", "", []string{gate("site.test", "/a"), license}},
		{"GET", "site.test", "/drafts/", bingbot, 200, "train-ai=n", "", "noindex", []string{gate("site.test", "/drafts/"), license}},
		{"GET", "site.test", "/drafts/", gptbot, 200, "", "ai-train=no", "", []string{gate("site.test", "/drafts/"), license}},
		{"GET", "site.test", "/missing", chrome, 404, "train-ai=n", "", "", []string{gate("site.test", "/missing"), license}},
		{"GET", "site.test", "/broken", chrome, 500, "train-ai=n", "", "", []string{gate("site.test", "/broken"), license}},
		{"GET", "site.test", "/unchanged", chrome, 304, "train-ai=n", "", "", []string{gate("site.test", "/unchanged"), license}},
		{"GET", "site.test", "/robots.txt", chrome, 200, "train-ai=n", "", "", []string{gate("site.test", "/robots.txt"), license}},
		{"GET", "site.test", "/news/", gptbot, 403, "", "", "", []string{`</robots.txt>; rel="describedby"`, gate("site.test", "/news/"), license}},
		{"GET", "errors.test", "/news/", gptbot, 403, "own=1", "", "", []string{`</robots.txt>; rel="describedby"`, gate("errors.test", "/news/"), license}},
		{"GET", "errors.test", "/broken", bingbot, 500, "own=1", "", "", []string{gate("errors.test", "/broken"), license}},
		{"GET", "own.test", "/", chrome, 200, "own=1", "", "", []string{"</style.css>; rel=preload", `<https://own.example/>; rel="license"`, gate("own.test", "/")}},
		{"GET", "own.test", "/drafts/", chrome, 200, "own=1", "", "noarchive", []string{"</style.css>; rel=preload", `<https://own.example/>; rel="license"`, gate("own.test", "/drafts/")}},
	} {
		c.announced(t, tt.host)
		a := c.ask(t, request{method: tt.method, host: tt.host, path: tt.path, agent: tt.agent})
		about := tt.method + " " + tt.host + tt.path + " for " + tt.agent
		if a.status != tt.status {
			t.Errorf("%s: got %d, want %d", about, a.status, tt.status)
		}
		for name, want := range map[string]string{"Content-Usage": tt.usage, "Content-Signal": tt.signal, "X-Robots-Tag": tt.tag} {
			if got := strings.Join(a.header[name], " AND "); got != want {
				t.Errorf("%s: got %s %q, want %q", about, name, got, want)
			}
		}
		if !slices.Equal(a.header["Link"], tt.links) {
			t.Errorf("%s: got Link %q, want %q", about, a.header["Link"], tt.links)
		}
	}
}

// A hostile robots.txt, as a foreign list may be, and hostile requests.
func TestNothingBreaksOutOfAHeader(t *testing.T) {
	rules := t.TempDir() + "/robots.txt"
	write(t, rules, strings.Join([]string{
		"Sitemap: sitemap.xml\rX-Evil: sitemap",
		"Sitemap: https://a.example/\x00\x0bX-Evil: sitemap",
		`Sitemap: https://a.example/>; rel="evil`,
		"License: https://a.example/\u2028é\x7f",
		`TimeGate: https://a.example/>; rel="evil", <`,
		"Archived: *",
		"TimeGate: https://archive.example/",
		"Archived: *",
		"User-agent: *",
		"Content-Usage: / train-ai=n\rX-Evil: usage",
		"Content-Usage: /a train-ai=\"\x00\"",
		"Content-Usage: /b train-ai=\u00e9",
		"Content-Signal: a=b\x0bX-Evil: signal",
		"Noindex: /\x00",
	}, "\n"))
	c := start(t, `
http://:{$PORT} {
	robots {
		source file {$RULES}
		announce timegate content_usage noindex sitemap license
	}
	respond "page"
}
`, map[string]string{"RULES": rules})
	c.announced(t, "site.test")
	for _, line := range []string{
		"GET / HTTP/1.1\r\nHost: site.test\r\n",
		"GET /a>;rel=\"evil\",<http://evil.example/> HTTP/1.1\r\nHost: site.test\r\n",
		"GET /%0d%0aX-Evil:%20path HTTP/1.1\r\nHost: site.test\r\n",
		"GET /b?\x01\x0b\"><é HTTP/1.1\r\nHost: site.test\r\n",
		"GET http://evil.example/>;rel=\"evil\" HTTP/1.1\r\nHost: site.test\r\n",
		"GET / HTTP/1.1\r\nHost: site.test>;rel=\"evil\"\r\n",
		"GET / HTTP/1.1\r\nHost: site.test\r\nX-Forwarded-Proto: https>; rel=\"evil\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: site.test\r\n",
		"GET /" + long + " HTTP/1.1\r\nHost: site.test\r\n",
	} {
		a, err := c.raw(line+"User-Agent: "+chrome+"\r\nConnection: close\r\n\r\n", "GET")
		if err != nil {
			t.Errorf("%.60q: %v", line, err)
			continue
		}
		checkSafe(t, line, a.header)
		if a.status == 200 && !strings.HasPrefix(line, "OPTIONS") && !strings.Contains(line, long) && len(a.header["Link"]) != 1 {
			t.Errorf("%.60q: got Link %q, want just the time gate", line, a.header["Link"])
		}
	}
	if !c.alive() {
		t.Error("caddy is gone")
	}
}

// checkSafe looks for anything in the headers that is not meant.
func checkSafe(t *testing.T, line string, header http.Header) {
	t.Helper()
	for name, values := range header {
		for _, value := range values {
			odd := strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r > '~' })
			if strings.EqualFold(name, "X-Evil") || odd >= 0 {
				t.Errorf("%.60q: got header %s: %q", line, name, value)
			}
		}
	}
	for _, link := range header["Link"] {
		target, parameters, _ := strings.Cut(link, ">")
		if !strings.HasPrefix(target, "<https://archive.example/http://") || parameters != `; rel="timegate"` {
			t.Errorf("%.60q: got Link %.300q, want one time gate", line, link)
		}
	}
	if got := strings.Join(header["Content-Usage"], " "); got != "" && got != "train-ai=n" {
		t.Errorf("%.60q: got Content-Usage %q", line, got)
	}
	if got := header["Content-Signal"]; got != nil {
		t.Errorf("%.60q: got Content-Signal %q, want none", line, got)
	}
}

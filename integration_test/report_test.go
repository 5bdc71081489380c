package integration

import (
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// reportedSite is the example site with its report.
const reportedSite = `
http://:{$PORT} {
	root * example
	log
	robots
	robots_report {
		allow 127.0.0.1
		refresh 1s
	}
	file_server
}
`

const hostileAgent = "<script>alert(1)</script>bot/1.0"

// sent counts the requests of robots that are judged, by the name that the report is to have:
// all and those that are answered 403.
type sent map[string]struct{ requests, disallowed int }

func (s sent) add(robot string, status int) {
	n := s[robot]
	n.requests++
	if status == http.StatusForbidden {
		n.disallowed++
	}
	s[robot] = n
}

// visit sends a request of a robot and counts it.
func (s sent) visit(t *testing.T, c *caddy, robot string, q request) {
	t.Helper()
	a := c.ask(t, q)
	if a.status != 200 && a.status != 403 {
		t.Fatalf("GET %s for %q: got %d, want 200 or 403", q.path, q.agent, a.status)
	}
	s.add(robot, a.status)
}

// traffic has robots visit the example site, of which some obey.
func traffic(t *testing.T, c *caddy) sent {
	t.Helper()
	s := make(sent)
	for robot, n := range map[string]int{"bingbot": 31, "CCBot": 17, "GPTBot": 23} {
		agent := map[string]string{"bingbot": bingbot, "CCBot": "CCBot/2.0 (https://commoncrawl.org/faq/)", "GPTBot": gptbot}[robot]
		c.expect(t, "", "/robots.txt", agent, 200) // which is no request for a page
		for i := range n {
			s.visit(t, c, robot, request{path: [...]string{"/", "/about.html", "/news.html", "/private/notes.html"}[i%4], agent: agent})
		}
	}
	// What no client library would send as it is.
	for range 3 {
		a, err := c.raw(c.expand("GET /private/\"><script>alert(2)</script>'quoted' HTTP/1.1\r\nHost: 127.0.0.1:{$PORT}\r\nConnection: close\r\nUser-Agent: "+hostileAgent+"\r\n\r\n"), "GET")
		if err != nil || a.status != 403 {
			t.Fatalf("a path with quotes: got %d, %v, want 403", a.status, err)
		}
		s.add("script", a.status)
	}
	// A person, who is not counted.
	for range 5 {
		c.expect(t, "", "/private/notes.html", chrome, 200)
	}
	// One wget obeys and another, which calls itself something else, does not: Caddy's access log
	// says what they sent.
	wget(t, "--execute", "robots=on", "http://"+c.address()+"/")
	wget(t, "--execute", "robots=off", "--user-agent", "SlyCrawler/1.0", "http://"+c.address()+"/", "http://"+c.address()+"/private/notes.html")
	// When the log has the last request, it has those before.
	s.visit(t, c, "LastBot", request{path: "/", agent: "LastBot/1.0"})
	c.log.wait(t, "the last robot came", c.ended, accessed("LastBot"))
	for _, robot := range []string{"Wget", "SlyCrawler"} {
		for _, l := range c.log.all(accessed(robot)) {
			if asked, _ := l["request"].(map[string]any); asked["uri"] != "/robots.txt" {
				status, _ := l["status"].(float64)
				s.add(robot, int(status))
			}
		}
	}
	if good, sly := s["Wget"], s["SlyCrawler"]; good.requests < 3 || good.disallowed != 0 || sly.requests < 3 || sly.disallowed == 0 {
		t.Fatalf("wget: got %+v by the one that obeys and %+v by the other", good, sly)
	}
	return s
}

// accessed matches lines of the access log about a client whose User-Agent begins so.
func accessed(agent string) func(line) bool {
	return func(l line) bool {
		asked, _ := l["request"].(map[string]any)
		header, _ := asked["headers"].(map[string]any)
		agents, _ := header["User-Agent"].([]any)
		if l.text("msg") != "handled request" || len(agents) == 0 {
			return false
		}
		text, _ := agents[0].(string)
		return strings.HasPrefix(text, agent)
	}
}

// isWhatWasSent fails the test unless the page has these numbers, and no others.
func isWhatWasSent(t *testing.T, got shown, want sent) {
	t.Helper()
	if len(got.Sites) != 1 {
		t.Fatalf("sites: got %d, want 1", len(got.Sites))
	}
	requests, disallowed := 0, 0
	for _, row := range got.Sites[0].Robots {
		n, known := want[row["Robot"]]
		if !known {
			t.Errorf("robot %q: it sent nothing", row["Robot"])
		}
		if row["Requests"] != strconv.Itoa(n.requests) || row["Disallowed"] != strconv.Itoa(n.disallowed) {
			t.Errorf("%s: got %s requests and %s disallowed, want %d and %d", row["Robot"], row["Requests"], row["Disallowed"], n.requests, n.disallowed)
		}
	}
	for _, n := range want {
		requests, disallowed = requests+n.requests, disallowed+n.disallowed
	}
	for word, n := range map[string]int{"robots": len(want), "judged": requests, "against the rules": disallowed, "refused": disallowed} {
		if figure := got.figure(t, word); figure != n {
			t.Errorf("%s: got %d, want %d", word, figure, n)
		}
	}
}

// report is where the report of reportedSite is.
func (c *caddy) report() string { return "http://" + c.address() + "/robots-report" }

func TestTheReportSaysWhatWasSent(t *testing.T) {
	t.Parallel()
	need(t, "wget")
	need(t, "chromium")
	c := start(t, reportedSite, nil)
	want := traffic(t, c)
	for name, how := range map[string]look{"with scripts": {}, "without scripts": {noScripts: true}} {
		t.Run(name, func(t *testing.T) {
			b := open(t, c.report(), how)
			isWhatWasSent(t, b.read(t), want)
			b.isClean(t)

			b = open(t, c.report()+robotLink(t, b, "script"), how)
			page := value[string](t, b, "document.body.innerText")
			if path := `/private/"><script>alert(2)</script>'quoted'`; !strings.Contains(page, path) {
				t.Errorf("the page does not show the path %q as text", path)
			}
			b.isClean(t)
		})
	}
	// The server agrees that the page asked for nothing but itself.
	for _, l := range c.log.all(accessed("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome")) {
		asked, _ := l["request"].(map[string]any)
		if uri, _ := asked["uri"].(string); withoutQuery(uri) != "/robots-report" {
			t.Errorf("the browser asked for %q", uri)
		}
	}
}

// Caddy's admin endpoint refuses browsers that come from nowhere: the page is fetched and kept.
func TestThePageOfTheAdminEndpointCanBeKept(t *testing.T) {
	t.Parallel()
	need(t, "chromium")
	c := start(t, reportedSite, nil)
	want := make(sent)
	for range 4 {
		want.visit(t, c, "GPTBot", request{path: "/", agent: gptbot})
		want.visit(t, c, "bingbot", request{path: "/", agent: bingbot})
	}
	file := filepath.Join(t.TempDir(), "report.html")
	eventually(t, "the report has all requests", func() bool { // one is noted after it was answered
		return c.seen(t).Requests == 8
	})
	write(t, file, c.adminGet(t, "/robots/report"))
	b := open(t, "file://"+file, look{})
	isWhatWasSent(t, b.read(t), want)
	b.isClean(t)
}

func TestTheReportIsAccessible(t *testing.T) {
	t.Parallel()
	axe := needAxe(t)
	need(t, "chromium")
	c := startBusy(t)
	for name, how := range looks {
		t.Run(name, func(t *testing.T) {
			b := open(t, "http://"+c.address()+"/", how)
			b.isAccessible(t, axe)
			b.isClean(t)
			b = open(t, "http://"+c.address()+"/"+robotLink(t, b, "GPTBot"), how)
			b.isAccessible(t, axe)
			b.isClean(t)
		})
	}
}

func TestTheReportFitsItsWindow(t *testing.T) {
	t.Parallel()
	need(t, "chromium")
	c := startBusy(t)
	for name, width := range map[string]int64{"desk": 1280, "phone": 390, "narrow phone": 320} {
		t.Run(name, func(t *testing.T) {
			b := open(t, "http://"+c.address()+"/", look{width: width})
			for _, part := range []string{"html", ".wide:has(table.robots)"} {
				if got := value[int](t, b, `(() => { const e = document.querySelector("`+part+`"); return e.scrollWidth - e.clientWidth })()`); got > 0 {
					t.Errorf("%s is %d pixels wider than what is seen of it", part, got)
				}
			}
		})
	}
}

// robotLink returns where the page of a robot is, as the table links to it.
func robotLink(t *testing.T, b *tab, robot string) (query string) {
	t.Helper()
	links := value[map[string]string](t, b,
		`Object.fromEntries(Array.from(document.querySelectorAll("table.robots tbody th a"), (a) => [a.textContent, a.href]))`)
	u, err := url.Parse(links[robot])
	if err != nil || u.RawQuery == "" {
		t.Fatalf("link to the page of %s: got %q, %v, want one with a query; all: %v", robot, links[robot], err, links)
	}
	return "?" + u.RawQuery
}

func TestTheReportHasAPageOfEachRobot(t *testing.T) {
	t.Parallel()
	need(t, "chromium")
	c := start(t, reportedSite, nil)
	want := make(sent)
	for _, path := range []string{"/", "/private/notes.html", "/private/index.html"} {
		want.visit(t, c, "bingbot", request{path: path, agent: bingbot})
		want.visit(t, c, "script", request{path: path, agent: hostileAgent})
	}
	for name, how := range map[string]look{"with scripts": {}, "without scripts": {noScripts: true}} {
		for _, robot := range []string{"bingbot", "script"} {
			t.Run(robot+" "+name, func(t *testing.T) {
				b := open(t, c.report(), how)
				follow := `Array.from(document.querySelectorAll("table.robots tbody th a")).find((a) => a.textContent === "` + robot + `").click()`
				followed, err := chromedp.RunResponse(b.ctx, chromedp.Evaluate[chromedp.Void](follow))
				if err != nil || followed == nil || followed.Status != 200 {
					t.Fatalf("the link to %s leads to no page: got %+v, %v", robot, followed, err)
				}
				evidence := value[string](t, b, `Array.from(document.querySelectorAll("table.evidence tbody"), (e) => e.checkVisibility() ? e.innerText : "").join()`)
				for _, path := range []string{"/private/notes.html", "/private/index.html"} {
					if !strings.Contains(evidence, path) {
						t.Errorf("evidence that is shown: got %q, want %s in it", evidence, path)
					}
				}
				for _, what := range []string{"document.title", `document.querySelector("main h2").textContent`} {
					if got := value[string](t, b, what); !strings.Contains(got, robot) {
						t.Errorf("%s: got %q, want %s in it", what, got, robot)
					}
				}
				if other := map[string]string{"bingbot": "script", "script": "bingbot"}[robot]; strings.Contains(value[string](t, b, `document.querySelector("main").innerText`), other) {
					t.Errorf("the page of %s tells of %s", robot, other)
				}
				if got := value[int](t, b, `document.querySelectorAll("a[href='/robots-report']").length`); got == 0 {
					t.Error("no link leads back")
				}
				b.isClean(t)
			})
		}
	}
}

func TestTheReportRefreshesItself(t *testing.T) {
	t.Parallel()
	need(t, "chromium")
	c := start(t, reportedSite, nil)
	want := make(sent)
	visit := func() {
		for i := range 3 {
			want.visit(t, c, "CCBot", request{path: "/", agent: "CCBot/2.0"})
			want.visit(t, c, "bingbot", request{path: "/private/notes.html", agent: bingbot})
			if i > 0 {
				want.visit(t, c, "GPTBot", request{path: "/", agent: gptbot})
			}
		}
	}
	visit()
	b := open(t, c.report(), look{})
	b.tabTo(t, focused+` === "Requests"`)
	b.press(t, "\r", 2)
	b.do(t, chromedp.Evaluate[chromedp.Void](`window.sameDocument = true; document.querySelector("details[id]").open = true`))
	open := value[string](t, b, `document.querySelector("details[open][id]").id`)

	visit()
	want.visit(t, c, "LateBot", request{path: "/", agent: "LateBot/1.0"})
	eventually(t, "the page shows what came after it was loaded", func() bool {
		return slices.Contains(b.read(t).column("Robot"), "LateBot")
	})
	isWhatWasSent(t, b.read(t), want)
	if !value[bool](t, b, "window.sameDocument === true") {
		t.Error("the page was loaded again, not refreshed")
	}
	if got, want := value[string](t, b, sortedBy), "Requests ascending"; got != want {
		t.Errorf("aria-sort: got %q, want %q", got, want)
	}
	if got := b.read(t).column("Robot")[0]; got != "LateBot" {
		t.Errorf("first of the robots, by requests: got %s, want LateBot, which sent one", got)
	}
	if got, want := value[string](t, b, focused), "Requests"; got != want {
		t.Errorf("focus: got %q, want it on the heading %s", got, want)
	}
	if !value[bool](t, b, `document.getElementById("`+open+`").open`) {
		t.Error("what was folded out is folded in again")
	}
	b.isClean(t)
}

func TestTheReportsPolicyIsStrict(t *testing.T) {
	t.Parallel()
	c := start(t, reportedSite, nil)
	c.expect(t, "", "/", gptbot, 403)
	nonce := regexp.MustCompile(`'nonce-([^']{20,})'`)
	nonces := make(map[string]bool)
	for range 3 {
		a := c.expect(t, "", "/robots-report", chrome, 200)
		policy := a.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("Content-Security-Policy: got %q, want default-src 'none', and nothing unsafe", policy)
		}
		found := nonce.FindStringSubmatch(policy)
		if found == nil {
			t.Fatalf("Content-Security-Policy: got %q, want a nonce in it", policy)
		}
		nonces[found[1]] = true
		if kind := a.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") || a.header.Get("Cache-Control") != "no-store" || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("header: got %v, want text/html, no-store and nosniff", a.header)
		}
	}
	if len(nonces) != 3 {
		t.Errorf("nonces of 3 answers: got %d, want 3", len(nonces))
	}
}

func TestTheReportIsForThoseWhoMaySeeIt(t *testing.T) {
	t.Parallel()
	need(t, "chromium")
	hash, err := exec.Command(caddyBinary(t), "hash-password", "--plaintext", "secret").Output()
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, `
http://:{$PORT} {
	root * example
	robots
	basic_auth /robots-report* {
		owner {$HASH}
	}
	robots_report {
		refresh 1s
	}
	file_server
}
`, map[string]string{"HASH": strings.TrimSpace(string(hash))})
	want := make(sent)
	want.visit(t, c, "GPTBot", request{path: "/", agent: gptbot})
	want.visit(t, c, "bingbot", request{path: "/", agent: bingbot})
	if a := c.expect(t, "", "/robots-report", chrome, 401); strings.Contains(a.body, "bingbot") {
		t.Errorf("who is not known is told of bingbot: %q", a.body)
	}
	b := open(t, c.report(), look{user: url.UserPassword("owner", "secret")})
	isWhatWasSent(t, b.read(t), want)
	want.visit(t, c, "LateBot", request{path: "/", agent: "LateBot/1.0"})
	eventually(t, "the page is refreshed", func() bool { return slices.Contains(b.read(t).column("Robot"), "LateBot") })
	isWhatWasSent(t, b.read(t), want)
	b.isClean(t)
}
